"""Runs are held in Postgres by advisory locks of a session, which end with the process on any machine."""

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from hashlib import sha256
from threading import Lock
from typing import Final

from coreloop.base.database import this_process
from coreloop.base.errors import RunStoreError
from coreloop.base.postgres import Session, connect, is_alive, rows, store_errors
from coreloop.base.waiting import wait_until
from coreloop.runs.stores.run_lock import busy

_HOLDER: Final = """
SELECT application_name FROM pg_locks JOIN pg_stat_activity USING (pid)
WHERE locktype = 'advisory' AND granted AND objsubid = 1
AND (classid::bigint << 32 | objid::bigint) = ?
"""
_NOTICED_S: Final = 1.0  # for the server to notice that a killed process holds nothing
_AGAIN_S: Final = 0.05  # between tries


class SessionHolds:
    """The runs that this process holds, by locks of one session.

    If the session is lost, its locks are taken again in a new one; a run that another process was faster to
    take is lost, and whoever works on it here hears so at its next append.
    """

    def __init__(self, address: str) -> None:
        self._address = address
        self._turn = Lock()
        self._session: Session | None = None
        self._held: set[str] = set()
        self._lost: set[str] = set()

    @contextmanager
    def held(self, run_id: str) -> Iterator[None]:
        """Hold a run.

        Raises
        ------
        RunBusyError
            Another process, or another handle of this one, holds it.
        """
        self._take(run_id)
        try:
            yield
        finally:
            self._release(run_id)

    def _take(self, run_id: str) -> None:
        with self._turn, store_errors():
            session = self._alive()
            if run_id in self._held | self._lost:  # a session that asks twice gets the lock twice
                raise busy(run_id, this_process())
            if not _locked(session, run_id):
                raise busy(run_id, _holder(session, run_id))
            self._held.add(run_id)

    def require(self, run_id: str) -> None:
        """Refuse to go on with a run that was held here and is lost.

        Raises
        ------
        RunBusyError
            Another process has taken it.
        """
        with self._turn:
            if run_id in self._held:
                with store_errors():
                    self._alive()
            if run_id in self._lost:
                raise busy(run_id, "")

    def _release(self, run_id: str) -> None:
        with self._turn:
            is_held = run_id in self._held
            self._held.discard(run_id)
            self._lost.discard(run_id)
            if is_held and self._session is not None and is_alive(self._session):
                with suppress(RunStoreError), store_errors():  # a session that was just lost holds nothing
                    rows(self._session, "SELECT pg_advisory_unlock(?)", (_number(run_id),))

    def close(self) -> None:
        """End the session."""
        with self._turn:
            if self._session is not None:
                self._session.close()

    def _alive(self) -> Session:
        """Return the session; a new one takes the locks of a lost one again."""
        if self._session is not None and is_alive(self._session):
            return self._session
        if self._session is not None:
            self._session.close()
        self._session = self._with_locks(connect(self._address))
        return self._session

    def _with_locks(self, session: Session) -> Session:
        try:
            missed = {run_id for run_id in self._held if not _locked(session, run_id)}
        except BaseException:
            session.close()
            raise
        self._held -= missed
        self._lost |= missed
        return session


def _number(run_id: str) -> int:
    return int.from_bytes(sha256(run_id.encode("utf-8", "replace")).digest()[:8], signed=True)


def _holder(session: Session, run_id: str) -> str:
    return next((name for (name,) in rows(session, _HOLDER, (_number(run_id),))), "")


def _locked(session: Session, run_id: str) -> bool:
    """Take a lock; the server needs a moment to notice that a killed process holds it no more."""

    def is_locked() -> bool:
        ((locked,),) = rows(session, "SELECT pg_try_advisory_lock(?)", (_number(run_id),))
        return bool(locked)

    return wait_until(is_locked, within_s=_NOTICED_S, pause_s=_AGAIN_S)
