"""What is odd in the records: lines that were skipped, fields that were read as absent, and where it began.

First of one file, by byte offset; then of a whole log, with places that a person can look up.
"""

from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

import msgspec

from coreloop.mine.remote import LogFile

_MOST_BYTES: Final = 1 << 30
"""Lines are counted up to here, at about a second; behind, a place is told by its byte."""
_AT_ONCE: Final = 1 << 20


class Oddity(msgspec.Struct, frozen=True):
    """How many lines of a file are odd in one way, and the byte offset of the first."""

    n: int
    offset: int


class Oddities(msgspec.Struct):
    """What is odd in a file: skipped lines by reason, and records by the field that was read as absent."""

    skipped: dict[str, Oddity] = {}
    absent: dict[str, Oddity] = {}

    def skip(self, reason: str, offset: int) -> None:
        """Count a line that is not mined."""
        _add(self.skipped, reason, Oddity(1, offset))

    def read_as_absent(self, names: Iterable[str], offset: int) -> None:
        """Count a record once for each of its fields that holds something unusable."""
        for name in names:
            _add(self.absent, name, Oddity(1, offset))

    def add(self, other: "Oddities") -> None:
        """Take in what is odd in another part of the same file."""
        for mine, others in ((self.skipped, other.skipped), (self.absent, other.absent)):
            for what, oddity in others.items():
                _add(mine, what, oddity)


@dataclass(frozen=True, slots=True)
class Absent:
    """How many records have an unusable field, and where the first is."""

    n: int
    first: str


@dataclass(frozen=True, slots=True)
class LogOddities:
    """What is odd in a whole log.

    Attributes
    ----------
    skipped : mapping of str to int
        Lines that are not mined, by reason.
    skipped_first : mapping of str to str
        By reason: where the first is, ``2026-04-25.jsonl line 12``.
    read_as_absent : mapping of str to Absent
        Records by the field that holds something unusable.
    """

    skipped: Mapping[str, int] = field(default_factory=dict)
    skipped_first: Mapping[str, str] = field(default_factory=dict)
    read_as_absent: Mapping[str, Absent] = field(default_factory=dict)


def find_oddities(files: Iterable[tuple[LogFile, Oddities]]) -> LogOddities:
    """Put the oddities of files together; the first place is in the first file, which is read up to there."""
    skipped: dict[str, tuple[LogFile, Oddity]] = {}
    absent: dict[str, tuple[LogFile, Oddity]] = {}
    for path, odd in files:
        for whole, of_file in ((skipped, odd.skipped), (absent, odd.absent)):
            for what, oddity in of_file.items():
                first, before = whole.get(what, (path, Oddity(0, oddity.offset)))
                whole[what] = first, Oddity(before.n + oddity.n, before.offset)
    return LogOddities(
        {reason: oddity.n for reason, (_, oddity) in skipped.items()},
        {reason: place_of(path, oddity.offset) for reason, (path, oddity) in skipped.items()},
        {
            name: Absent(oddity.n, place_of(path, oddity.offset))
            for name, (path, oddity) in sorted(absent.items())
        },
    )


def place_of(path: LogFile, offset: int) -> str:
    """``2026-04-25.jsonl line 12``; at an address, or far into a file, ``2026-04-25.jsonl byte 5,120``."""
    if isinstance(path, Path) and offset < _MOST_BYTES:
        with suppress(OSError):
            return f"{path.name} line {_newlines(path, offset) + 1:,}"
    return f"{path.name} byte {offset:,}"


def _newlines(path: Path, end: int) -> int:
    count = 0
    with path.open("rb") as file:
        for start in range(0, end, _AT_ONCE):
            count += file.read(min(_AT_ONCE, end - start)).count(b"\n")
    return count


def _add(oddities: dict[str, Oddity], what: str, oddity: Oddity) -> None:
    before = oddities.get(what)
    if before is not None:
        oddity = Oddity(before.n + oddity.n, min(before.offset, oddity.offset))
    oddities[what] = oddity
