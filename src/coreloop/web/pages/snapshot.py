"""Values that take long to read, kept until their files change."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from threading import Lock, Thread
from time import monotonic
from typing import Any, Final, Generic, TypeVar

from coreloop.base.errors import CoreloopError

T = TypeVar("T")
_State = tuple[tuple[str, int, int], ...]
_LASTS: Final = timedelta(minutes=10)
"""What files do not show changes, too: the time itself, and what a forge says."""
_WAIT_S: Final = 0.1
"""For a newer value, so that a small project's pages are not behind."""
_REST: Final = 9
"""What takes longer than the wait is not read again for so many times as long, however fast a log grows."""


@dataclass(frozen=True, slots=True)
class PageSnapshot(Generic[T]):
    """A value, when it was read, and why it could not be read since then.

    Attributes
    ----------
    is_old : bool
        Whether its files have changed since then.
    """

    value: T
    read_at: datetime
    problem: str = ""
    is_old: bool = False


@dataclass(slots=True)
class _Entry:
    lock: Lock = field(default_factory=Lock)
    state: _State | None = None
    tried_s: float = 0.0
    rest_s: float = 0.0
    snapshot: PageSnapshot[Any] | None = None


class PageSnapshots:
    """Values by name. Several threads may ask; one at a time reads a value.

    Parameters
    ----------
    lasts : timedelta
        An older value is read again even if its files are the same.
    """

    def __init__(self, *, lasts: timedelta = _LASTS) -> None:
        self._lasts = lasts
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
            Reads the value: before this returns at the first time, later in a thread. If that takes more
            than a tenth of a second, the older value is returned.

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
        elif self._is_due(entry, state) and entry.lock.acquire(blocking=False):
            reader = Thread(target=_read_again, args=(entry, state, read), daemon=True)
            reader.start()
            reader.join(_WAIT_S)
        snapshot: PageSnapshot[T] | None = entry.snapshot
        assert snapshot is not None
        return replace(snapshot, is_old=entry.state != state)

    def _is_due(self, entry: _Entry, state: _State) -> bool:
        age_s = monotonic() - entry.tried_s
        return age_s >= self._lasts.total_seconds() or (entry.state != state and age_s >= entry.rest_s)


def _read(entry: _Entry, state: _State, read: Callable[[], Any]) -> None:
    begun_at, begun_s = datetime.now(UTC), monotonic()
    try:
        snapshot = PageSnapshot(read(), begun_at)
    except CoreloopError as error:
        if entry.snapshot is None:
            raise
        snapshot = replace(entry.snapshot, problem=str(error))
    entry.tried_s = monotonic()
    took_s = entry.tried_s - begun_s
    entry.rest_s = _REST * took_s if took_s > _WAIT_S else 0.0
    entry.state, entry.snapshot = state, snapshot


def _read_again(entry: _Entry, state: _State, read: Callable[[], Any]) -> None:
    try:
        _read(entry, state, read)
    finally:
        entry.lock.release()


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
