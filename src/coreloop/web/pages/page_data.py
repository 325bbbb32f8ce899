"""What a section of the pages is, what it reads, and what was read already."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from threading import Lock
from time import monotonic
from typing import Any, Final, Generic, Literal, TypeVar

from coreloop.answer.repair.store import RepairStore, open_repair_store
from coreloop.base.project.workspace import Workspace
from coreloop.runs.jobs.queue import JobQueue, open_queue
from coreloop.runs.stores.store import Store, open_store

T = TypeVar("T")
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
    state: tuple[tuple[str, int, int], ...] | None = None
    read_s: float = 0.0
    took_s: float = 0.0
    snapshot: PageSnapshot[Any] | None = None


class PageSnapshots:
    """Values by name. Several threads may ask; one at a time reads a value."""

    def __init__(self) -> None:
        self._entries: dict[str, _Entry] = {}

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
        for file in (path, *sorted(path.glob("*"))):
            try:
                found = file.stat()
                yield str(file), found.st_mtime_ns, found.st_size
            except OSError:  # it is absent, or went away: that is a state, too
                yield str(file), 0, 0


@dataclass(frozen=True, slots=True, kw_only=True)
class PageSource:
    """What pages read.

    Attributes
    ----------
    environ : mapping
        Tokens for the state of pull requests.
    runs : Store
    queue : JobQueue
    tables : RepairStore
    snapshots : PageSnapshots
        What is expensive to read.
    is_shared : bool
        Whether anybody may see it, so that only declared names are shown.
    search : str
        What the address asks of a page: the words of its search field, or a part that takes long to read.
    """

    workspace: Workspace
    environ: Mapping[str, str]
    runs: Store
    queue: JobQueue
    tables: RepairStore
    snapshots: PageSnapshots = field(default_factory=PageSnapshots)
    is_shared: bool = False
    search: str = ""

    @property
    def git_places(self) -> list[Path]:
        """What changes with the branches of the clone."""
        names = ("HEAD", "packed-refs", "logs/HEAD", "refs/heads", "refs/remotes/origin")
        return [self.workspace.root / ".git" / name for name in names]

    @property
    def now(self) -> datetime:
        """The time in UTC."""
        return datetime.now(UTC)


@contextmanager
def open_source(workspace: Workspace, environ: Mapping[str, str]) -> Iterator[PageSource]:
    """Open what a project has; an index and models are not needed.

    Raises
    ------
    RunStoreError
        A database cannot be used.
    """
    with (
        open_store(workspace, environ=environ) as runs,
        open_queue(workspace, environ=environ) as queue,
        open_repair_store(workspace, environ=environ) as tables,
    ):
        yield PageSource(workspace=workspace, environ=environ, runs=runs, queue=queue, tables=tables)


View = Mapping[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Button:
    """A button.

    Attributes
    ----------
    scope : {'run', 'review'}
        What a key must allow.
    run : callable
        Takes the source, the fields of the form and the reader's name; returns the path of the page that is
        shown then. A `coreloop.base.errors.CoreloopError` is shown as a sentence.
    """

    scope: Literal["run", "review"]
    run: Callable[[PageSource, Mapping[str, str], str], tuple[str, ...]]


Act = Callable[[PageSource, str, str], object]


def button(scope: Literal["run", "review"], act: Act, *path: str) -> Button:
    """Return a button that tells an item something, by its id and the reader's name, and leads to a page."""

    def run(source: PageSource, form: Mapping[str, str], by: str) -> tuple[str, ...]:
        act(source, form.get("id", ""), by)
        return tuple(part.format(id=form.get("id", "")) for part in path)

    return Button(scope=scope, run=run)


@dataclass(frozen=True, slots=True, kw_only=True)
class PageSection:
    """An entry of the navigation: a page, the pages of its items, and their buttons.

    Attributes
    ----------
    name : str
        In the address; ``NAME.html`` is the page's template.
    title : str
        In the navigation.
    read : callable
        Reads what the page shows.
    item : str
        Template of an item's page; empty if there are none.
    read_item : callable
        Takes the item's name; returns None for an unknown one.
    items : callable
        Names of the items that a report has.
    actions : mapping of str to Button
        By the last part of their address.
    """

    name: str
    title: str
    read: Callable[[PageSource], View]
    item: str = ""
    read_item: Callable[[PageSource, str], View | None] = lambda _source, _name: None
    items: Callable[[PageSource], Iterable[str]] = lambda _source: ()
    actions: Mapping[str, Button] = field(default_factory=dict)
