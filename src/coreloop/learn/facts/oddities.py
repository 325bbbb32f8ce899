"""Oddities of records: lines that were skipped, fields that were read as absent, and the first place of each.

`Oddities` of a part of a file have offsets; `LogOddities` of a log have places that a person can look up.
"""

from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, TypeVar

import msgspec

_AT_ONCE: Final = 1 << 20
_Place = TypeVar("_Place")


class Oddities(msgspec.Struct):
    """Of a part of a file: skipped lines by reason, and records by the field that was read as absent.

    Of each, how many there are, and the byte offset of the first.
    """

    skipped: dict[str, tuple[int, int]] = {}
    absent: dict[str, tuple[int, int]] = {}

    def skip(self, reason: str, offset: int) -> None:
        """Count a line that is not mined."""
        _count(self.skipped, reason, 1, offset)

    def read_as_absent(self, names: Iterable[str], offset: int) -> None:
        """Count a record for each of its fields with an unusable value."""
        for name in names:
            _count(self.absent, name, 1, offset)


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


def find_oddities(parts: Iterable[tuple[Path, Oddities]]) -> LogOddities:
    """Combine the oddities of parts of files, in order; the first with an oddity gives its first place."""
    skipped: dict[str, tuple[int, tuple[Path, int]]] = {}
    absent: dict[str, tuple[int, tuple[Path, int]]] = {}
    for path, oddities in parts:
        for total, counts in ((skipped, oddities.skipped), (absent, oddities.absent)):
            for kind, (n, offset) in counts.items():
                _count(total, kind, n, (path, offset))
    return LogOddities(
        {reason: n for reason, (n, _) in skipped.items()},
        {reason: place_of(*first) for reason, (_, first) in skipped.items()},
        {name: Absent(n, place_of(*first)) for name, (n, first) in sorted(absent.items())},
    )


def place_of(path: Path, offset: int) -> str:
    """``2026-04-25.jsonl line 12``; with ``byte 5,120`` for a remote file, or one that is gone."""
    if isinstance(path, Path):
        with suppress(OSError):
            return f"{path.name} line {_newlines(path, offset) + 1:,}"
    return f"{path.name} byte {offset:,}"


def _newlines(path: Path, end: int) -> int:
    count = 0
    with path.open("rb") as file:
        for start in range(0, end, _AT_ONCE):
            count += file.read(min(_AT_ONCE, end - start)).count(b"\n")
    return count


def _count(counts: dict[str, tuple[int, _Place]], kind: str, n: int, first: _Place) -> None:
    """Add a count to an earlier one, whose first place stays."""
    before, first = counts.get(kind, (0, first))
    counts[kind] = before + n, first
