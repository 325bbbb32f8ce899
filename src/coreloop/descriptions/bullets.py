"""Bullets of a docstring: wrapped to a width, and read back to one line each."""

import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from coreloop.descriptions.heading import DocLine

_MARK: Final = "- "
_NO_START: Final = re.compile(r"[-*+•#]+$|```|~~~|>>>|\.\.$")
"""Words that would change the meaning of a line if they began it."""


@dataclass(frozen=True, slots=True)
class DocstringBullet:
    """A bullet.

    Attributes
    ----------
    text : str
        On one line, from its dash on.
    first, end : int
        Number of its first line, and of the line after its last.
    """

    text: str
    first: int
    end: int


def read_bullets(lines: Sequence[DocLine], first: int, end: int) -> list[DocstringBullet]:
    """The bullets among some lines; lines indented further below a dash continue its bullet."""
    bullets: list[DocstringBullet] = []
    for number in range(first, end):
        line = lines[number]
        text = line.text.strip(" \t")  # strip() alone would also remove line separators
        if text.startswith(_MARK):
            bullets.append(DocstringBullet(text, number, number + 1))
        elif bullets and bullets[-1].end == number and text and line.indent > lines[bullets[-1].first].indent:
            bullets[-1] = DocstringBullet(f"{bullets[-1].text} {text}", bullets[-1].first, number + 1)
    return bullets


def read_list(lines: Sequence[DocLine], first: int, end: int) -> list[DocstringBullet]:
    """The bullets of some lines, or [] if any line is not part of a bullet."""
    bullets = read_bullets(lines, first, end)
    return bullets if sum(bullet.end - bullet.first for bullet in bullets) == end - first else []


def write_bullet(text: str, lead: str, *, width: int | None) -> list[str]:
    """Wrap a bullet between words, where possible to ``width`` columns.

    Parameters
    ----------
    text : str
        A line, with its dash. It is not wrapped if it has two spaces in a row, since it would not read back.
    lead : str
        White space before it.
    width : int or None
        Columns, as a terminal counts them; None for no limit.
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
    """Width of a text in columns; wide (East Asian) characters count two."""
    return sum(2 if unicodedata.east_asian_width(char) in "WF" else 1 for char in text.expandtabs())
