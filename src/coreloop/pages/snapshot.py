"""Values that take long to read, kept until their files change."""

import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from threading import Lock, Thread
from typing import Any, Generic, TypeVar

from coreloop.errors import CoreloopError

T = TypeVar("T")
_State = tuple[tuple[str, int, int], ...]


@dataclass(frozen=True, slots=True)
class Snapshot(Generic[T]):
    """A value, when it was read, and why it could not be read since then."""

    value: T
    read_at: datetime
    problem: str = ""


@dataclass(slots=True)
class _Entry:
    lock: Lock = field(default_factory=Lock)
    state: _State | None = None
    snapshot: Snapshot[Any] | None = None


class Snapshots:
    """Values by name. Several threads may ask; one at a time reads a value."""

    def __init__(self) -> None:
        self._entries: dict[str, _Entry] = {}
        self._lock = Lock()

    def get(self, name: str, paths: Sequence[Path], read: Callable[[], T]) -> Snapshot[T]:
        """Return a value that depends on files.

        Parameters
        ----------
        name : str
            Of the value.
        paths : sequence of Path
            Files and folders, whose names, sizes and times of change decide whether the value is read again.
        read : callable
            Reads the value: before this returns at the first time, later in a thread while the older value
            is returned.

        Raises
        ------
        CoreloopError
            What `read` raises at the first time; later it is the `problem` of the older value.
        """
        with self._lock:
            entry = self._entries.setdefault(name, _Entry())
        state = tuple(_state(paths))
        if entry.snapshot is None:
            with entry.lock:
                if entry.snapshot is None:
                    _read(entry, state, read)
        elif entry.state != state and entry.lock.acquire(blocking=False):
            Thread(target=_read_again, args=(entry, state, read), daemon=True).start()
        assert entry.snapshot is not None
        return entry.snapshot


def _read(entry: _Entry, state: _State, read: Callable[[], Any]) -> None:
    entry.snapshot = Snapshot(read(), datetime.now(UTC))
    entry.state = state


def _read_again(entry: _Entry, state: _State, read: Callable[[], Any]) -> None:
    try:
        _read(entry, state, read)
    except CoreloopError as error:
        assert entry.snapshot is not None
        entry.snapshot, entry.state = replace(entry.snapshot, problem=str(error)), state
    finally:
        entry.lock.release()


def _state(paths: Sequence[Path]) -> Iterator[tuple[str, int, int]]:
    for path in paths:
        try:
            yield from _entries_of(path)
        except OSError:  # it is absent, or went away: that is a state, too
            yield str(path), 0, 0


def _entries_of(path: Path) -> Iterator[tuple[str, int, int]]:
    if not path.is_dir():
        found = path.stat()
        yield str(path), found.st_mtime_ns, found.st_size
        return
    with os.scandir(path) as entries:
        for entry in sorted(entries, key=lambda entry: entry.name):
            found = entry.stat()
            yield entry.path, found.st_mtime_ns, found.st_size
