"""Whether the databases can be used, as the log says it: a line when they cannot, and one when they can."""

from collections.abc import Callable
from math import inf
from threading import Lock

from coreloop.web.service_log import log


class Outage:
    """What the threads of a process notice of their databases."""

    def __init__(self, monotonic: Callable[[], float]) -> None:
        self._monotonic = monotonic
        self._lock = Lock()
        self._since: float | None = None
        self._back_at = -inf

    def now(self) -> float:
        """Return when an attempt begins."""
        return self._monotonic()

    def failed(self, error: Exception, *, began: float) -> None:
        """Note that something could not be read or written.

        An attempt that began before the databases were back may end later, and says nothing of them now.
        """
        with self._lock:
            if self._since is None and began > self._back_at:
                self._since = self._monotonic()
                log("database", state="away", error=str(error))

    def worked(self) -> None:
        """Note that something was written."""
        with self._lock:
            if self._since is not None:
                self._back_at = self._monotonic()
                log("database", state="back", after_s=round(self._back_at - self._since, 1))
                self._since = None
