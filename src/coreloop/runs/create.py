"""A new run in a store."""

import os
import re
from collections.abc import Sequence
from typing import Any, Final

from coreloop.base.errors import UsageError
from coreloop.runs.clock import Clock, SystemClock
from coreloop.runs.events import Created, Noted
from coreloop.runs.kinds import kind_named
from coreloop.runs.limits import Limits, Mode, check_limits
from coreloop.runs.stores.store import Store
from coreloop.runs.ulid import new_ulid

_KIND: Final = re.compile(r"[a-z][a-z0-9_-]{0,39}")


def create_run(
    store: Store,
    question: str,
    *,
    kind: str,
    mode: Mode = "bounded",
    limits: Limits | None = None,
    drives_itself: bool = False,
    first: Sequence[tuple[str, Any]] = (),
    run_id: str = "",
    origin: str = "",
    trace_id: str = "",
    clock: Clock | None = None,
) -> str:
    """Add a run to a store; no process works on it yet.

    Parameters
    ----------
    question : str
        What the run is about. Resumed runs keep it.
    kind : str
        Of a registered kind, or a new name: lower-case letters, digits, ``_`` and ``-``.
    mode : str
        Whether `decide` may stop on a model's opinion (``bounded``) or not (``exhaust``).
    limits : Limits or None
        What ends the run; None for the defaults.
    drives_itself : bool
        Whether an agent drives the run, see `coreloop.runs.agent.agent_runs`.
    first : sequence of (str, object)
        Names and data of `Noted` events that the run begins with.
    run_id : str
        A ULID that the caller chose; a run of this id that exists stays as it is. "" for a new one.
    origin : str
        The run that this one answers again, "" for none; it is forgotten with it.
    trace_id : str
        Of the request that begins the run, 32 hexadecimal digits; "" for the run's own.
    clock : Clock or None
        None for the machine's.

    Returns
    -------
    str
        The run's id, a ULID.

    Raises
    ------
    UsageError
        The kind's name is invalid, or the limits cannot hold.
    """
    if not _KIND.fullmatch(kind):
        raise UsageError("not a kind of run: {kind!r}; use lower-case letters, digits, _ and -", kind=kind)
    limits = limits or Limits()
    check_limits(limits)
    now = (clock or SystemClock()).now()
    run_id = run_id or new_ulid(now, os.urandom(10))
    searches = kind_named(kind).searches
    store.create(
        Created(
            at=now,
            run_id=run_id,
            kind=kind,
            question=question,
            mode=mode,
            limits=limits,
            searches=searches,
            drives_itself=drives_itself,
            parent=store.parent,
            origin=origin,
            trace_id=trace_id,
        ),
        *(Noted(at=now, name=name, data=data) for name, data in first),
    )
    return run_id
