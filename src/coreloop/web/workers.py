"""The threads that do the jobs of a service: runs and repairs."""

from collections.abc import Mapping
from threading import Event, Thread
from time import monotonic
from typing import Final

from coreloop.base.errors import RunStoreError
from coreloop.runs.active_run import Interrupted
from coreloop.runs.jobs.queue import JobQueue
from coreloop.runs.jobs.work import Handler, work
from coreloop.web.service_log import log, log_bug

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
