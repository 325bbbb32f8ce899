"""Oddities of records: lines that were skipped, fields that were read as absent, and the first place of each.

`Oddities` of a file have byte offsets; `LogOddities` of a log have places that a person can look up.
"""

from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

import msgspec

_MAX_BYTES: Final = 1 << 30
"""Up to this offset (about a second of counting) a place is given as a line, after it as a byte."""
_AT_ONCE: Final = 1 << 20


class Oddity(msgspec.Struct, frozen=True):
    """How many lines of a file share an oddity, and the byte offset of the first."""

    n: int
    offset: int


class Oddities(msgspec.Struct):
    """Oddities of a file: skipped lines by reason, and records by the field that was read as absent."""

    skipped: dict[str, Oddity] = {}
    absent: dict[str, Oddity] = {}

    def skip(self, reason: str, offset: int) -> None:
        """Count a line that is not mined."""
        _add(self.skipped, reason, Oddity(1, offset))

    def read_as_absent(self, names: Iterable[str], offset: int) -> None:
        """Count a record for each of its fields with an unusable value."""
        for name in names:
            _add(self.absent, name, Oddity(1, offset))

    def add(self, other: "Oddities") -> None:
        """Add the oddities of another part of the same file."""
        for mine, others in ((self.skipped, other.skipped), (self.absent, other.absent)):
            for kind, oddity in others.items():
                _add(mine, kind, oddity)


@dataclass(frozen=True, slots=True)
class Absent:
    """How many records have an unusable value in a field, and the first of them."""

    n: int
    first: str


@dataclass(frozen=True, slots=True)
class LogOddities:
    """Oddities of a log.

    Attributes
    ----------
    skipped : mapping of str to int
        Lines that are not mined, by reason.
    skipped_first : mapping of str to str
        The first place by reason, such as ``2026-04-25.jsonl line 12``.
    read_as_absent : mapping of str to Absent
        Records by the field with an unusable value.
    """

    skipped: Mapping[str, int] = field(default_factory=dict)
    skipped_first: Mapping[str, str] = field(default_factory=dict)
    read_as_absent: Mapping[str, Absent] = field(default_factory=dict)


def find_oddities(files: Iterable[tuple[Path, Oddities]]) -> LogOddities:
    """Combine the oddities of files; the first file with an oddity gives its first place."""
    skipped: dict[str, tuple[Path, Oddity]] = {}
    absent: dict[str, tuple[Path, Oddity]] = {}
    for path, oddities in files:
        for total, of_file in ((skipped, oddities.skipped), (absent, oddities.absent)):
            for kind, oddity in of_file.items():
                first, before = total.get(kind, (path, Oddity(0, oddity.offset)))
                total[kind] = first, Oddity(before.n + oddity.n, before.offset)
    return LogOddities(
        {reason: oddity.n for reason, (_, oddity) in skipped.items()},
        {reason: place_of(path, oddity.offset) for reason, (path, oddity) in skipped.items()},
        {
            name: Absent(oddity.n, place_of(path, oddity.offset))
            for name, (path, oddity) in sorted(absent.items())
        },
    )


def place_of(path: Path, offset: int) -> str:
    """``2026-04-25.jsonl line 12``; with ``byte 5,120`` for a remote file or a large offset."""
    if isinstance(path, Path) and offset < _MAX_BYTES:
        with suppress(OSError):
            return f"{path.name} line {_newlines(path, offset) + 1:,}"
    return f"{path.name} byte {offset:,}"


def _newlines(path: Path, end: int) -> int:
    count = 0
    with path.open("rb") as file:
        for start in range(0, end, _AT_ONCE):
            count += file.read(min(_AT_ONCE, end - start)).count(b"\n")
    return count


def _add(oddities: dict[str, Oddity], kind: str, oddity: Oddity) -> None:
    before = oddities.get(kind)
    if before is not None:
        oddity = Oddity(before.n + oddity.n, min(before.offset, oddity.offset))
    oddities[kind] = oddity
