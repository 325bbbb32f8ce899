"""Whether requests can be answered, asked at most once a second: strangers may ask without limit."""

import asyncio
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Final

from starlette.concurrency import run_in_threadpool

from coreloop.answer.repair.desk import RepairDesk
from coreloop.answer.search.index.store import require_index
from coreloop.web.backlog import Backlog

_FRESH_S: Final = 1.0


class Readiness:
    """The databases of a service. Only the event loop's thread uses it.

    Parameters
    ----------
    desk : RepairDesk
        With the store of runs and the index.
    backlog : Backlog
        Of its queue.
    monotonic : callable
        Returns seconds.
    """

    def __init__(self, desk: RepairDesk, backlog: Backlog, monotonic: Callable[[], float]) -> None:
        self._desk = desk
        self._backlog = backlog
        self._monotonic = monotonic
        self._asked_at = 0.0
        self._answer: asyncio.Future[None] | None = None

    async def require(self) -> None:
        """Return if the databases and the index can be read; the answer may be a second old.

        Raises
        ------
        CoreloopError
            One of them cannot be read.
        """
        is_old = self._monotonic() - self._asked_at >= _FRESH_S
        if self._answer is None or (self._answer.done() and is_old):
            self._asked_at = self._monotonic()
            self._answer = asyncio.ensure_future(run_in_threadpool(self._ask))
        await asyncio.shield(self._answer)

    def _ask(self) -> None:
        self._desk.desk.store.runs(limit=1)
        self._backlog.number()
        workspace = self._desk.workspace
        if set(workspace.settings.search.providers) <= {"index"}:
            require_index(workspace.index_file, now=datetime.now(UTC))
