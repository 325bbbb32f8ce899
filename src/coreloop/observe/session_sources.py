"""The memories of a process's sessions, and their use for each call."""

import os
from _thread import RLock  # faster, see collector
from collections.abc import Callable
from typing import Any, Final

from coreloop.base.records import ToolCall
from coreloop.observe.argument_sources import Sources
from coreloop.observe.shown_states import Compared

SESSIONS: Final = 256  # chosen: `PROCESS_LEAVES` bounds the memory, this the questions in it
PROCESS_LEAVES: Final = 400_000
"""Some 50 MB: a leaf takes about 130 bytes."""


class SessionSources:
    """Memories of sessions; the least recently used are forgotten first."""

    def __init__(self) -> None:
        self._lock = RLock()
        self._memories: dict[object, Sources] = {}

    def open(self, session: object, now_s: float) -> Sources:
        """Return the memory of a session, creating it if absent.

        Parameters
        ----------
        session : hashable
            Identifies the session in this process.
        now_s : float
            Seconds of a monotonic clock.
        """
        with self._lock:
            memory = self._memories.pop(session, None)
            if memory is None:
                memory = Sources(now_s)
                self._make_room(now_s)
            memory.use(now_s)
            self._memories[session] = memory
            return memory

    def _make_room(self, now_s: float) -> None:
        """Forget sessions that were not used for an hour, and the oldest others beyond the limits."""
        for session, memory in list(self._memories.items()):
            if not memory.is_expired(now_s):
                break
            del self._memories[session]
        n_leaves = sum(map(len, self._memories.values()))
        while self._memories and (len(self._memories) >= SESSIONS or n_leaves > PROCESS_LEAVES):
            oldest = next(iter(self._memories))
            n_leaves -= len(self._memories.pop(oldest))

    def renew_lock(self) -> None:
        """Replace the lock after a fork: a parent's thread may hold it, and the child cannot release it."""
        self._lock = RLock()


SESSION_SOURCES: Final = SessionSources()
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=SESSION_SOURCES.renew_lock)


def trace_sources(
    sources: Sources,
    call: ToolCall,
    args: dict[str, Any],
    result: object,
    compared: Callable[[str], Compared | None],
) -> None:
    """Add the sources of its arguments to a call, then remember its result.

    Parameters
    ----------
    sources : Sources
        The memory so far.
    call : ToolCall
        Gets ``args_from`` if any argument was compared, and ``saw`` if one names an object that was shown.
    args : dict
        The call's complete arguments as plain JSON values.
    result : object
        ``...`` if unknown.
    compared : callable
        Returns what a tool's source compares with.
    """
    if result is ... and not sources.has_results:
        sources.remember(call["name"], ..., None, ok=call["ok"])
        return
    lookup = sources.look_up(args, compared(call["name"]) if sources.has_results else None)
    lookup.add_to(call)
    sources.remember(call["name"], result, lookup, ok=call["ok"])
