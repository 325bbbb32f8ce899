"""Escaping of untrusted text for terminals and Markdown, and wrapping to a width."""

import re
import unicodedata
from bisect import bisect_right
from itertools import accumulate
from typing import Final

FILLERS: Final = frozenset("\u115f\u1160\u3164\uffa0")
"""The Hangul fillers: letters according to Unicode, but invisible."""


def printable(text: str) -> str:
    r"""Escape control, format and other invisible characters as ``\u{…}``; the result is one line."""
    if is_visible(text):
        return text
    return "".join(char if is_visible(char) else f"\\u{{{ord(char):x}}}" for char in text)


def is_visible(text: str) -> bool:
    """Whether a reader sees every character of a text."""
    return text.isprintable() and FILLERS.isdisjoint(text)


def escape_markdown(text: str) -> str:
    """Return the text on one line with Markdown characters escaped."""
    return re.sub(r"([\\`*_{}\[\]<>#|!&])", r"\\\1", printable(text))


def linked_markdown(text: str) -> str:
    """As `escape_markdown`, but addresses of pages stay links, and a mention does not notify anybody."""
    parts = re.split(r"(https?://[\w./:-]+)", text)  # "see https://github.com/o/r/pull/1": three parts
    escaped = (escape_markdown(part).replace("@", "&#64;") for part in parts[::2])
    return "".join(word for pair in zip(escaped, [*parts[1::2], ""], strict=True) for word in pair)


def fitted(text: str, columns: int) -> str:
    """Cut a line to the width of a terminal, ending in ``…`` if it was cut.

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
    """Wrap a line to the width of a terminal; words that are too long are split, but no path or address.

    Parameters
    ----------
    text : str
        Printable; a wide letter (Hangul, Han, kana) takes two columns.
    columns : int
        The width of the terminal, including the indent.
    indent : str
        Before each line.
    """
    room = max(columns - len(indent), 2)
    lines, used = [""], 0
    for word in text.split():
        gap = " " if used else ""
        if used + len(gap) + text_width(word) <= room:
            lines[-1] += gap + word
            used += len(gap) + text_width(word)
            continue
        if used:
            lines, used = [*lines, ""], 0
        for char in word:
            if used + text_width(char) > room and "/" not in word:
                lines, used = [*lines, ""], 0
            lines[-1] += char
            used += text_width(char)
    return "\n".join(indent + line for line in lines)


def padded(text: str, columns: int) -> str:
    """Append spaces up to a width on a terminal; a wide letter takes two columns."""
    return text + " " * (columns - text_width(text))


def aligned(text: str, columns: int) -> str:
    """Prepend spaces up to a width on a terminal; a wide letter takes two columns."""
    return " " * (columns - text_width(text)) + text


def text_width(text: str) -> int:
    """Return how many columns of a terminal a printable text takes."""
    return sum(2 if unicodedata.east_asian_width(char) in "WF" else 1 for char in text)
