"""Whether the databases can be used, as the log says it: a line when they cannot, and one when they can."""

from collections.abc import Callable
from threading import Lock

from coreloop.web.log import log


class Outage:
    """What the threads of a process notice of their databases.

    Parameters
    ----------
    monotonic : callable
        Returns seconds.
    """

    def __init__(self, monotonic: Callable[[], float]) -> None:
        self._monotonic = monotonic
        self._lock = Lock()
        self._since: float | None = None
        self._noted: Exception | None = None

    def failed(self, error: Exception) -> None:
        """Note that something could not be read or written; the same error again is no new outage."""
        with self._lock:
            if self._since is None and error is not self._noted:
                self._noted = error
                self._since = self._monotonic()
                log("database", state="away", error=str(error))

    def worked(self) -> None:
        """Note that something was written."""
        with self._lock:
            if self._since is not None:
                log("database", state="back", after_s=round(self._monotonic() - self._since, 1))
                self._since = None
