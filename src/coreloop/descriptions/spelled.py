"""The inside of a string literal: what it means, and where to cut it so that the rest stays as spelled."""

import re
from bisect import bisect_left
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from coreloop.descriptions.source import UnprovenError


@dataclass(frozen=True, slots=True)
class Spelled:
    """A literal's inside.

    Attributes
    ----------
    text : str
        As it is in the file, without quotes.
    value : str
        What it means.
    marks : tuple of (int, int)
        Offsets in `value` and in `text` of the start and the end, in turn, of each part that is not spelled
        as itself; between such parts, both advance equally.
    """

    text: str
    value: str
    marks: tuple[tuple[int, int], ...]

    def offset(self, position: int) -> int | None:
        """First offset in the text of an offset in the value; None inside what one escape means."""
        number = bisect_left(self.marks, (position, 0))
        if number < len(self.marks) and self.marks[number][0] == position:
            return self.marks[number][1]
        if number % 2:
            return None
        value, text = self.marks[number - 1] if number else (0, 0)
        return text + position - value

    def replaced(self, old: str, new: str, spell: Callable[[str], str]) -> str:
        """The inside for another value than the old one; what both share stays as it is spelled."""
        if self.value != old:
            raise UnprovenError("its spelling is not understood")
        start, end, piece = cut(old, new, self.offset)
        return self.text[:start] + spell(piece) + self.text[end:]


def cut(old: str, new: str, offset: Callable[[int], int | None]) -> tuple[int, int, str]:
    """Start and end in a text of what another value replaces, and by what (as a value).

    Of equal ways to cut, the first one that begins with a line break: lines are whole, and taking lines out
    cuts where putting them in did.

    Parameters
    ----------
    old, new : str
        The values.
    offset : callable
        The offset in the text of one in the old value; None where there is no cut.
    """
    best = None
    for start, end, piece in _ways(old, new):
        first, last = offset(start), offset(end)
        if first is None or last is None:
            continue
        if best is None or (piece or old[start:end]).startswith("\n"):
            best = first, last, piece
    if best is None:
        raise UnprovenError("the lines would be inside an escape of the text")
    return best


def _ways(old: str, new: str) -> list[tuple[int, int, str]]:
    """Start and end in an old value of what a new one replaces, and by what: each way, the last one first."""
    limit = min(len(old), len(new))
    start = next((number for number in range(limit) if old[number] != new[number]), limit)
    rest = range(1, limit - start + 1)
    same = next((number - 1 for number in rest if old[-number] != new[-number]), limit - start)
    end, stop = len(old) - same, len(new) - same
    ways = [(start, end, new[start:stop])]
    while start and old[end - 1] == new[stop - 1]:
        start, end, stop = start - 1, end - 1, stop - 1
        ways.append((start, end, new[start:stop]))
    return ways


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
    pieces, marks, copied = list[str](), list[tuple[int, int]](), 0
    length = 0
    for part in parts.finditer(text):
        meant = meaning(part)
        length += part.start() - copied
        marks += [(length, part.start()), (length + len(meant), part.end())]
        pieces += [text[copied : part.start()], meant]
        length += len(meant)
        copied = part.end()
    return Spelled(text, "".join([*pieces, text[copied:]]), tuple(marks))


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
