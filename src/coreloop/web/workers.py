"""The threads that do the jobs of a service: runs and repairs."""

from collections.abc import Callable, Mapping
from threading import Event, Lock, Thread
from time import monotonic
from typing import Final

from coreloop.base.errors import RunStoreError
from coreloop.runs.active_run import Interrupted
from coreloop.runs.jobs.queue import JobQueue
from coreloop.runs.jobs.work import Handler, work
from coreloop.web.outage import Outage
from coreloop.web.service_log import log_bug

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
    outage : Outage
        What they notice of their databases.
    """

    def __init__(
        self, queue: JobQueue, handlers: Mapping[str, Handler], shutdown: Event, outage: Outage
    ) -> None:
        self._queue = queue
        self._handlers = handlers
        self._shutdown = shutdown
        self._outage = outage
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
        while not self._shutdown.is_set():
            began = self._outage.now()
            try:
                work(self._queue, self._handlers, until_idle=True, stop=self._shutdown)
                self._outage.worked()
            except Interrupted:
                return
            except RunStoreError as error:  # the database is away for a while
                self._outage.failed(error, began=began)
            except Exception:  # a thread that ended would be missing until the next start
                log_bug("")
            self._new.wait(_IDLE_S)
            self._new.clear()


_FRESH_S: Final = 1.0  # chosen: the queue may exceed its limit by the jobs of a second


class Backlog:
    """The number of jobs that wait in a queue. Several threads may use it."""

    def __init__(self, queue: JobQueue, monotonic: Callable[[], float]) -> None:
        self._queue = queue
        self._monotonic = monotonic
        self._lock = Lock()
        self._number = 0
        self._counted_at = -_FRESH_S

    def number(self) -> int:
        """Return it; it may be a second old."""
        with self._lock:
            if self._monotonic() - self._counted_at >= _FRESH_S:
                self._number = self._queue.metrics().by_status.get("queued", 0)
                self._counted_at = self._monotonic()
            return self._number
