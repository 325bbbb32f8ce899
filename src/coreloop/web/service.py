"""What the routes of a service share, opened once: waiting for events of runs, workers, limits of callers."""

import asyncio
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from math import ceil
from secrets import token_bytes
from threading import Event, Thread
from time import monotonic
from typing import Final

from starlette.concurrency import run_in_threadpool

from coreloop.answer.deps import Deps, open_deps
from coreloop.answer.repair.jobs import all_handlers
from coreloop.answer.search.index.run import refresh_index, require_index
from coreloop.base.database import Database, Tables
from coreloop.base.errors import CoreloopError, RunStoreError
from coreloop.base.postgres import project_database
from coreloop.base.project.workspace import Workspace
from coreloop.observe.importers.received import Receiver, open_receiver
from coreloop.runs.active_run import Interrupted, Run
from coreloop.runs.clock import new_ulid
from coreloop.runs.jobs.queue import JobQueue
from coreloop.runs.jobs.work import Handler, work
from coreloop.runs.stores.store import Store, open_store
from coreloop.web.keys import ApiKey, SignIn, read_secret
from coreloop.web.metrics import Metrics
from coreloop.web.pages.page_data import PageSource
from coreloop.web.problems import Problem, leaving, log, log_bug

EVERY_S: Final = 0.1  # chosen: an event is seen so late at most
_Waiter = tuple[int, "asyncio.Future[None]"]


class RunWatch:
    """Wakes those who wait for a run. Only the event loop's thread uses it, apart from `poke`.

    Parameters
    ----------
    newest : callable
        Returns the number of the newest event of each run, see `coreloop.runs.stores.store.Store.newest`.
    """

    def __init__(self, newest: Callable[[Collection[str]], Mapping[str, int]]) -> None:
        self._newest = newest
        self._waiting: dict[str, list[_Waiter]] = {}
        self._task: asyncio.Task[None] | None = None
        self._loop: asyncio.AbstractEventLoop | None = None
        self._new = asyncio.Event()
        self._has_left = False

    async def wait(self, run_id: str, after: int, timeout_s: float) -> None:
        """Return when the run has an event behind a number, when it is forgotten, or the time is up.

        Raises
        ------
        Problem
            The service shuts down.
        """
        if self._has_left:
            raise leaving(run_id)
        self._loop = asyncio.get_running_loop()
        waiter = (after, self._loop.create_future())
        self._waiting.setdefault(run_id, []).append(waiter)
        self._task = self._task or asyncio.create_task(self._look())
        try:
            await asyncio.wait([waiter[1]], timeout=timeout_s)
        finally:
            self._waiting[run_id].remove(waiter)
            if not self._waiting[run_id]:
                del self._waiting[run_id]
        if self._has_left:
            raise leaving(run_id)

    def poke(self) -> None:
        """Look for events at once; any thread may call it."""
        if self._loop is not None and not self._loop.is_closed():
            self._loop.call_soon_threadsafe(self._new.set)

    def shutdown(self) -> None:
        """Let everyone who waits, and who will, know that the service shuts down."""
        self._has_left = True
        for waiters in self._waiting.values():
            for _, future in waiters:
                if not future.done():
                    future.set_result(None)

    async def _look(self) -> None:
        while self._waiting:
            try:
                newest = await run_in_threadpool(self._newest, tuple(self._waiting))
            except CoreloopError:
                newest = {}  # those who wait find out when they read
            for run_id, waiters in self._waiting.items():
                for after, future in waiters:
                    if newest.get(run_id, after + 1) > after and not future.done():
                        future.set_result(None)
            with suppress(TimeoutError):
                await asyncio.wait_for(self._new.wait(), EVERY_S)
            self._new.clear()
        self._task = None


_SCRIPT: Final = """
-- Requests that had an idempotency key.
CREATE TABLE claims (
    owner       TEXT NOT NULL,  -- the name of the API key
    key         TEXT NOT NULL,
    request     BLOB NOT NULL,  -- SHA-256 of what was asked
    run_id      TEXT NOT NULL,
    created_at  TEXT NOT NULL,  -- UTC
    PRIMARY KEY (owner, key)
);
"""


_SCHEMA: Final = Tables("service", _SCRIPT)


_FRESH_S: Final = 1.0  # chosen: probes are not limited, and anybody may send them
_IDLE_S: Final = 0.5  # chosen: a job of another process waits so long at most


class Workers:
    """Threads that take jobs until the process ends.

    Parameters
    ----------
    queue : JobQueue
        Other processes may work on it, too.
    handlers : mapping of str to callable
        What does a job, by its name.
    shutdown : threading.Event
        When it is set, each thread ends at the next step of its run.
    """

    def __init__(self, queue: JobQueue, handlers: Mapping[str, Handler], shutdown: Event) -> None:
        self._queue = queue
        self._handlers = handlers
        self._shutdown = shutdown
        self._new = Event()
        self._threads: list[Thread] = []

    def start(self, count: int) -> None:
        """Start threads."""
        self._threads = [Thread(target=self._work, name=f"worker-{n}", daemon=True) for n in range(count)]
        for thread in self._threads:
            thread.start()

    def wake(self) -> None:
        """Let a worker look for a new job at once."""
        self._new.set()

    def join(self, timeout_s: float) -> bool:
        """Wait for the threads to end; returns whether they have. A call under way is finished first."""
        self._new.set()
        give_up_at = monotonic() + timeout_s
        for thread in self._threads:
            thread.join(max(0.0, give_up_at - monotonic()))
        return not any(thread.is_alive() for thread in self._threads)

    def _work(self) -> None:
        is_away = False
        while not self._shutdown.is_set():
            try:
                work(self._queue, self._handlers, until_idle=True, stop=self._shutdown)
                is_away = False
            except Interrupted:
                return
            except RunStoreError as error:  # the database is away for a while
                if not is_away:
                    log("error", error=str(error))
                is_away = True
            except Exception:  # a thread that ended would be missing until the next start
                log_bug("")
            self._new.wait(_IDLE_S)
            self._new.clear()


KEPT: Final = timedelta(days=1)  # as docs/service.md says of `Idempotency-Key`


class Claims:
    """Which run a key got. Several threads and processes may use it."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def run_of(self, owner: str, key: str, request: bytes, *, now: datetime) -> str:
        """Return the run of a key; a new id if the key is new, or older than a day.

        Parameters
        ----------
        owner : str
            The caller.
        key : str
            Chosen by the caller.
        request : bytes
            A hash of what was asked.

        Raises
        ------
        Problem
            The key was used for another request.
        """
        run_id = new_ulid(now, token_bytes(10))
        stamp, oldest = (moment.astimezone(UTC).isoformat() for moment in (now, now - KEPT))
        with self._database.writing():
            self._database.rows("DELETE FROM claims WHERE created_at < ?", (oldest,))
            self._database.rows(
                "INSERT INTO claims VALUES (?, ?, ?, ?, ?) ON CONFLICT (owner, key) DO NOTHING",
                (owner, key, request, run_id, stamp),
            )
            ((known, claimed),) = self._database.rows(
                "SELECT request, run_id FROM claims WHERE owner = ? AND key = ?", (owner, key)
            )
        if bytes(known) != request:
            raise Problem(
                422, "key_reused", "this Idempotency-Key was used for another request; use a new one"
            )
        return str(claimed)

    def require_writable(self, *, now: datetime) -> None:
        """Write a row of nobody, which a full disk or a volume for reading refuses."""
        self._database.change("DELETE FROM claims WHERE owner = ''")
        self.run_of("", "", b"", now=now)


# Chosen: far above what a program of one caller needs, and below what would keep others out.
REQUESTS_PER_MINUTE: Final = 6_000
RUNS_PER_MINUTE: Final = 600
OPEN_REQUESTS: Final = 1_000
_BURST_S: Final = 6.0
"""How much of a rate a caller that was quiet has saved."""
# Chosen: a person who mistypes is not stopped, and a search of 32 random bytes is hopeless.
_BAD_KEYS_PER_MINUTE: Final = 60
_MAX_CALLERS: Final = 10_000


class Admission:
    """Counts what callers do: requests and runs a minute; only the event loop's thread uses it."""

    def __init__(self) -> None:
        self._left: dict[tuple[str, str], tuple[float, float]] = {}  # of a rate, at a time
        self._open: Counter[str] = Counter()

    @contextmanager
    def request(self, caller: str) -> Iterator[None]:
        """Count a request from its beginning to the end of its response.

        Raises
        ------
        Problem
            Too many, 429.
        """
        self._take("request", caller, REQUESTS_PER_MINUTE)
        if self._open[caller] >= OPEN_REQUESTS:
            raise _too_many("open requests", 1)
        self._open[caller] += 1
        try:
            yield
        finally:
            self._open[caller] -= 1
            if not self._open[caller]:
                del self._open[caller]

    def run(self, caller: str) -> None:
        """Count a new run. As `request` otherwise."""
        self._take("run", caller, RUNS_PER_MINUTE)

    def bad_key(self, address: str) -> None:
        """Count a wrong key of an address. As `request` otherwise."""
        self._take("bad key", address, _BAD_KEYS_PER_MINUTE)

    def _take(self, what: str, caller: str, per_minute: int) -> None:
        now, max_tokens = monotonic(), max(1.0, per_minute * _BURST_S / 60)
        if len(self._left) > _MAX_CALLERS:
            self._left.clear()  # an attack from many addresses must not fill the memory
        left, at = self._left.get((what, caller), (max_tokens, now))
        left = min(max_tokens, left + (now - at) * per_minute / 60)
        if left < 1:
            raise _too_many(f"{what}s a minute", ceil((1 - left) * 60 / per_minute))
        self._left[what, caller] = left - 1, now


def _too_many(what: str, wait_s: int) -> Problem:
    return Problem(429, "too_many", f"too many {what}; wait {wait_s} s", retryable=True, retry_after_s=wait_s)


@dataclass(frozen=True, slots=True, kw_only=True)
class Door:
    """Who may come in, and what came.

    Attributes
    ----------
    keys : tuple of ApiKey
        Empty if anyone on this machine may call.
    sign_in : SignIn
        Readers of pages.
    hosts : frozenset of str
        Values of the header Host, without port, that are accepted.
    origins : tuple of str
        The pages of other hosts that may call it.
    admission : Admission
        What callers have done.
    metrics : Metrics
        Figures.
    shutdown : threading.Event
        Set when the process begins to end.
    """

    keys: tuple[ApiKey, ...]
    sign_in: SignIn
    hosts: frozenset[str]
    origins: tuple[str, ...]
    admission: Admission = field(default_factory=Admission)
    metrics: Metrics = field(default_factory=Metrics)
    shutdown: Event = field(default_factory=Event)

    def begin_shutdown(self) -> None:
        """Refuse what is new."""
        self.shutdown.set()


@dataclass(frozen=True, slots=True, kw_only=True)
class Service(Door):
    """What the routes share.

    Attributes
    ----------
    deps : Deps
        Workspace, store of runs, models, search, queue and tables.
    source : PageSource
        What pages read.
    receiver : Receiver
        Takes spans.
    claims : Claims
        Idempotency keys.
    watch : RunWatch
        Wakes those who wait for runs.
    workers : Workers
        Do the jobs.
    readable_at : list of float
        When `require_databases` last returned.
    """

    deps: Deps
    source: PageSource
    receiver: Receiver
    claims: Claims
    watch: RunWatch
    workers: Workers
    readable_at: list[float] = field(default_factory=lambda: [-_FRESH_S])

    @property
    def store(self) -> Store:
        """The runs."""
        return self.deps.store

    def require_databases(self) -> None:
        """Return if runs can be written, and jobs and the index read, or could a second ago.

        Raises
        ------
        CoreloopError
            One of them cannot be used.
        """
        if monotonic() - self.readable_at[0] < _FRESH_S:
            return
        self.claims.require_writable(now=datetime.now(UTC))
        self.deps.queue.metrics()
        workspace = self.deps.workspace
        if set(workspace.settings.search.providers) <= {"index"}:
            require_index(workspace.index_file)
        self.readable_at[0] = monotonic()

    def begin_shutdown(self) -> None:
        """Refuse what is new, answer those who wait, and let the workers leave their runs."""
        self.shutdown.set()
        self.watch.shutdown()
        self.workers.wake()


@contextmanager
def open_service(
    workspace: Workspace, environ: Mapping[str, str], *, keys: tuple[ApiKey, ...], hosts: frozenset[str]
) -> Iterator[Service]:
    """Open everything that a service needs; no worker has started yet.

    Raises
    ------
    UsageError
        A model or a search service cannot be used as it is set.
    WorkspaceError, RunStoreError
        There is nothing to search in, or a database cannot be used.
    """
    with (
        open_store(workspace, environ=environ) as store,
        open_deps(workspace, store, environ) as deps,
        project_database(workspace.runs_dir, _SCHEMA, environ) as tables,
        open_receiver(workspace) as receiver,
    ):
        if "index" in workspace.settings.search.providers and not workspace.index_file.exists():
            refresh_index(workspace, now=datetime.now(UTC))
        metrics, watch, shutdown = Metrics(), RunWatch(store.newest), Event()

        def show(run: Run) -> None:
            _log_phase(run)
            if run.state.is_terminal:
                metrics.ended(run.state)
            watch.poke()

        handlers = all_handlers(deps, shutdown=shutdown, show=show)
        yield Service(
            deps=deps,
            source=PageSource(
                workspace=workspace, environ=environ, runs=store, queue=deps.queue, tables=deps.tables
            ),
            keys=keys,
            sign_in=SignIn(keys, read_secret(workspace.runs_dir / "sign-in.key")),
            hosts=hosts,
            origins=workspace.settings.service.origins,
            receiver=receiver,
            claims=Claims(tables),
            metrics=metrics,
            watch=watch,
            workers=Workers(deps.queue, handlers, shutdown),
            shutdown=shutdown,
        )


def _log_phase(run: Run) -> None:
    state = run.state
    log(
        "ended" if state.is_terminal else "iteration",
        run_id=state.run_id,
        trace_id=state.trace_id,
        kind=state.kind,
        status=state.status,
        stop_reason=state.stop_reason,
        iteration=state.iteration,
        results=len(state.read_sources),
        tokens=state.spent.tokens,
        token_budget=state.limits.tokens,
        elapsed_s=round(state.elapsed_s, 3),
    )
