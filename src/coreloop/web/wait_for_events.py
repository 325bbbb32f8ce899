"""Waiting for events of runs: one query for everyone who waits, whichever process works on the runs."""

import asyncio
from collections.abc import Callable, Collection, Mapping
from contextlib import suppress
from typing import Final

from starlette.concurrency import run_in_threadpool

from coreloop.base.errors import CoreloopError
from coreloop.web.problems import leaving

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
            self._forget(run_id, waiter)
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

    def _forget(self, run_id: str, waiter: _Waiter) -> None:
        waiters = self._waiting[run_id]
        waiters.remove(waiter)
        if not waiters:
            del self._waiting[run_id]

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
