"""Bullets of a docstring: a line of text as it is written at some width, and read back."""

import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from coreloop.docstrings.heading import DocLine

_MARK: Final = "- "
_NO_START: Final = re.compile(r"[-*+•#]+$|```|~~~|>>>|\.\.$")
"""A word that would make something else of the line that it begins."""


@dataclass(frozen=True, slots=True)
class Bullet:
    """A bullet.

    Attributes
    ----------
    text : str
        From its dash on, on one line.
    first, end : int
        Number of its first line, and of the line after its last.
    """

    text: str
    first: int
    end: int


def read_bullets(lines: Sequence[DocLine], first: int, end: int) -> list[Bullet]:
    """The bullets among some lines; what hangs below a dash, indented further, is of its bullet."""
    found: list[Bullet] = []
    for number in range(first, end):
        line = lines[number]
        text = line.text.strip(" \t")  # strip() alone would take off line separators, too
        if text.startswith(_MARK):
            found.append(Bullet(text, number, number + 1))
        elif found and found[-1].end == number and text and line.indent > lines[found[-1].first].indent:
            found[-1] = Bullet(f"{found[-1].text} {text}", found[-1].first, number + 1)
    return found


def read_list(lines: Sequence[DocLine], first: int, end: int) -> list[Bullet]:
    """The bullets of some lines, or [] if any line is not part of a bullet."""
    found = read_bullets(lines, first, end)
    return found if sum(bullet.end - bullet.first for bullet in found) == end - first else []


def write_bullet(text: str, lead: str, *, width: int | None) -> list[str]:
    """Break a bullet between words, so that no line is wider than ``width`` columns where that can be helped.

    Parameters
    ----------
    text : str
        A line, with its dash. One with two spaces in a row is not broken, since it could not be read back.
    lead : str
        White space before it.
    width : int or None
        Columns, as a terminal counts them; no limit without it.
    """
    words = text.split(" ")
    if width is None or "" in words or not text.startswith(_MARK):
        return [lead + text]
    written, current = list[str](), lead + words[0]
    for word in words[1:]:
        is_wide = columns(f"{current} {word}") > width and current.strip() not in {"", "-"}
        if is_wide and not _NO_START.match(word):
            written.append(current)
            current = f"{lead}  {word}"
        else:
            current = f"{current} {word}"
    return [*written, current]


def columns(text: str) -> int:
    """How wide a text is where each sign has one width, and a Korean one two."""
    return sum(2 if unicodedata.east_asian_width(char) in "WF" else 1 for char in text.expandtabs())
