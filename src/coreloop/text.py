"""Hostile text made harmless for a screen or a file, and lines that fit."""

import re
import unicodedata
from bisect import bisect_right
from itertools import accumulate
from typing import Final

FILLERS: Final = frozenset("\u115f\u1160\u3164\uffa0")
"""Letters to Unicode, invisible to people: the Hangul fillers."""


def printable(text: str) -> str:
    r"""One line without control, format or other invisible characters: they become ``\u{…}`` escapes."""
    return "".join(char if _is_visible(char) else f"\\u{{{ord(char):x}}}" for char in text)


def counted(number: int, noun: str) -> str:
    """``1 file``, ``2,000 files``."""
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def escape_markdown(text: str) -> str:
    """The text on one line, Markdown's own signs escaped, so that a recorded name cannot be markup."""
    return re.sub(r"([\\`*_{}\[\]<>#|!&])", r"\\\1", printable(text))


def indented_block(section: str, body: str) -> str:
    """Docstring lines as a Markdown code block, under their heading."""
    lines = [section, "-" * len(section), *body.splitlines()]
    return "\n".join("    " + line for line in lines)


def fitted(text: str, columns: int) -> str:
    """The beginning of a line that fits on a terminal, with ``…`` where it was cut.

    Parameters
    ----------
    text : str
        Printable; a wide letter (Hangul, Han, kana) takes two columns.
    columns : int
        At least 1.
    """
    ends = list(accumulate(2 if unicodedata.east_asian_width(char) in "WF" else 1 for char in text))
    if not ends or ends[-1] <= columns:
        return text
    return text[: bisect_right(ends, columns - 1)] + "…"


def wrapped(text: str, columns: int, *, indent: str = "") -> str:
    """A line as lines that fit on a terminal, broken between words, or within one that is too long.

    Parameters
    ----------
    text : str
        Printable; a wide letter (Hangul, Han, kana) takes two columns.
    columns : int
        Of the terminal, the indent included.
    indent : str
        Before each line.
    """
    room = max(columns - len(indent), 2)
    lines, used = [""], 0
    for word in text.split():
        gap = " " if used else ""
        if used + len(gap) + _width(word) <= room:
            lines[-1] += gap + word
            used += len(gap) + _width(word)
            continue
        if used:
            lines, used = [*lines, ""], 0
        for char in word:
            if used + _width(char) > room:
                lines, used = [*lines, ""], 0
            lines[-1] += char
            used += _width(char)
    return "\n".join(indent + line for line in lines)


def _width(text: str) -> int:
    return sum(2 if unicodedata.east_asian_width(char) in "WF" else 1 for char in text)


def _is_visible(char: str) -> bool:
    return char == " " or (unicodedata.category(char)[0] not in "CZ" and char not in FILLERS)
