"""The inside of a string literal: what it means, and where to cut it so that the rest stays as spelled."""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TypeAlias

from coreloop.descriptions.source import UnprovenError

Cut: TypeAlias = tuple[int, int, str]
"""Start and end in a value of what another text replaces, and that text."""


@dataclass(frozen=True, slots=True)
class Spelled:
    """A literal's inside.

    Attributes
    ----------
    text : str
        As it is in the file, without quotes.
    value : str
        What it means.
    places : list of int
        Offset in the text of each character of the value, and of the end; -1 inside what one escape means.
    """

    text: str
    value: str
    places: list[int]

    def replaced(self, value: str, cut: Cut, spell: Callable[[str], str]) -> str:
        """The inside with a cut in its value; all else stays as it is spelled."""
        start, end = (self.places[position] for position in cut[:2]) if self.value == value else (-1, -1)
        if min(start, end) < 0:
            raise UnprovenError("its spelling is not understood")
        return self.text[:start] + spell(cut[2]) + self.text[end:]


def read_spelled(text: str, parts: re.Pattern[str], meaning: Callable[[re.Match[str]], str]) -> Spelled:
    """Read a literal's inside.

    Parameters
    ----------
    text : str
    parts : re.Pattern
        What is not spelled as itself.
    meaning : callable
        What such a part means.
    """
    pieces, places, copied = list[str](), list[int](), 0
    for part in parts.finditer(text):
        meant = meaning(part)
        pieces += [text[copied : part.start()], meant]
        places += [*range(copied, part.start()), *[part.start(), *[-1] * len(meant)][: len(meant)]]
        copied = part.end()
    return Spelled(text, "".join([*pieces, text[copied:]]), [*places, *range(copied, len(text) + 1)])


def unescape(escape: str, names: Mapping[str, str]) -> str:
    """What a backslash and what follows it mean.

    Parameters
    ----------
    escape : str
        A letter after the backslash, or x, u or U with hexadecimal digits, also in braces.
    names : mapping of str to str
        By letter; a letter without meaning means itself.
    """
    if escape[1] in "xuU" and len(escape) > 2:
        return chr(int(escape[2:].strip("{}"), 16))
    return names.get(escape[1], escape[1])
