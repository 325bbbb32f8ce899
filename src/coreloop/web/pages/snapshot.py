"""Values that take long to read, kept until their files change."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from threading import Lock
from time import monotonic
from typing import Any, Final, Generic, TypeVar

T = TypeVar("T")
_State = tuple[tuple[str, int, int], ...]
_LASTS_S: Final = 600.0
"""What files do not show changes, too: the time itself, and what a forge says."""
_REST: Final = 9
"""A value is not read again for so many times as long as it took, however fast a log grows."""


@dataclass(frozen=True, slots=True)
class PageSnapshot(Generic[T]):
    """A value, and when it was read."""

    value: T
    read_at: datetime


@dataclass(slots=True)
class _Entry:
    lock: Lock = field(default_factory=Lock)
    state: _State | None = None
    read_s: float = 0.0
    took_s: float = 0.0
    snapshot: PageSnapshot[Any] | None = None


class PageSnapshots:
    """Values by name. Several threads may ask; one at a time reads a value."""

    def __init__(self) -> None:
        self._entries: dict[str, _Entry] = {}
        self._lock = Lock()

    def get(self, name: str, paths: Sequence[Path], read: Callable[[], T]) -> PageSnapshot[T]:
        """Return a value that depends on files.

        Parameters
        ----------
        name : str
            Of the value.
        paths : sequence of Path
            Files and folders, whose names, sizes and times of change decide whether the value is read again.
        read : callable
            Reads the value.
        """
        with self._lock:
            entry = self._entries.setdefault(name, _Entry())
        with entry.lock:
            state, begun_s = tuple(_state(paths)), monotonic()
            age_s = begun_s - entry.read_s
            is_due = age_s >= _LASTS_S or (entry.state != state and age_s >= _REST * entry.took_s)
            snapshot: PageSnapshot[T] | None = entry.snapshot
            if snapshot is None or is_due:
                snapshot = PageSnapshot(read(), datetime.now(UTC))
                entry.state, entry.snapshot = state, snapshot
                entry.read_s, entry.took_s = monotonic(), monotonic() - begun_s
            return snapshot


def _state(paths: Sequence[Path]) -> Iterator[tuple[str, int, int]]:
    for path in paths:
        for file in (path, *_files(path)):
            try:
                found = file.stat()
                yield str(file), found.st_mtime_ns, found.st_size
            except OSError:  # it is absent, or went away: that is a state, too
                yield str(file), 0, 0


def _files(path: Path) -> list[Path]:
    try:
        return sorted(path.iterdir())
    except OSError:  # no folder, or a closed one
        return []
