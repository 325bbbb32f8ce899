"""The inside of a string literal: what it means, and where to cut it so that the rest stays as spelled."""

import json
import re
from collections.abc import Callable, Mapping
from typing import Final, NamedTuple, TypeAlias

from coreloop.base.project.python_source import UnprovenError

Cut: TypeAlias = tuple[int, int, str]
"""Start and end in a value of what another text replaces, and that text."""

ESCAPE: Final = (
    r"\\(?:u[dD][89abAB][\da-fA-F]{2}\\u[dD][c-fC-F][\da-fA-F]{2}"  # two halves of one character
    r"|u\{0*(?:10|[\da-fA-F])?[\da-fA-F]{1,4}\}|u[\da-fA-F]{4}|x[\da-fA-F]{2}|\r\n|[\s\S])"
)


class Spelled(NamedTuple):
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
    """What a backslash and what follows it mean, or a line break.

    Parameters
    ----------
    escape : str
        A letter after the backslash, or x, u or U with hexadecimal digits, also in braces.
    names : mapping of str to str
        By letter; a letter without meaning means itself.
    """
    if escape[0] in "\r\n":
        return "\n"
    if "\r" in escape or "\n" in escape:
        return ""
    if "\\u" in escape[2:]:
        return str(json.loads(f'"{escape}"'))
    if escape[1] in "xuU" and len(escape) > 2:
        return chr(int(escape[2:].strip("{}"), 16))
    return names.get(escape[1], escape[1])


def escaped(piece: str, quote: str, newline: str) -> str:
    """A piece of a value inside quotes; three quotes can hold line breaks, one needs an escape."""
    spelled = piece.replace("\\", "\\\\").replace(quote, "".join(f"\\{sign}" for sign in quote))
    return spelled.replace("\n", newline)


def line_end(raw: bytes) -> str:
    """How lines of a file end: as the last one does."""
    ends: list[bytes] = re.findall(rb"\r\n|\r|\n", raw)
    return ends[-1].decode() if ends else "\n"
