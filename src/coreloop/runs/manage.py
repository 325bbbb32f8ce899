"""What people do with runs, one function each, for every shell."""

import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from datetime import datetime, timedelta
from typing import Any, get_args

import msgspec
import orjson

from coreloop.base.errors import RunBusyError, RunError, RunNotFoundError, RunStoreError, UsageError
from coreloop.base.project.workspace import Workspace
from coreloop.base.text import printable
from coreloop.runs import events as happened
from coreloop.runs.amounts import left
from coreloop.runs.clock import Clock, SystemClock, new_ulid
from coreloop.runs.decide import all_left
from coreloop.runs.events import Caller, Said, Status
from coreloop.runs.folder import reports_file, write_reflexion
from coreloop.runs.kinds import kind_named
from coreloop.runs.limits import Limits, check_limits, tighter
from coreloop.runs.load import change_run, iterations, load_run, require_going, require_resumable
from coreloop.runs.reflexion import Reflexion
from coreloop.runs.run_files import remove_views
from coreloop.runs.state import State
from coreloop.runs.stores.holds import hold_file
from coreloop.runs.stores.store import Store


def begin_run(
    workspace: Workspace,
    store: Store,
    question: str,
    *,
    kind: str,
    now: datetime,
    limits: Limits | None = None,
    **others: Any,
) -> str:
    """Create a run with the project's settings, and forget runs that are older than they allow.

    Parameters
    ----------
    workspace : Workspace
        Its ``limits: usd_per_day`` applies unless ``limits`` has one.
    question, kind, limits, others
        As for `create_run`.

    Returns
    -------
    str
        The run's id.

    Raises
    ------
    UsageError
        The limits cannot hold.
    """
    limits = limits or Limits()
    if limits.usd_per_day is None:
        limits = msgspec.structs.replace(limits, usd_per_day=workspace.settings.limits.usd_per_day)
    limits = _within_parent(limits, store)
    forget_expired(workspace, store, now=now)  # first: an error must not leave a run that nobody knows
    return create_run(store, question, kind=kind, limits=limits, **others)


def _within_parent(limits: Limits, store: Store) -> Limits:
    """Narrow the limits of a new run to what the run is left with whose command creates it.

    Raises
    ------
    UsageError
        The store does not have that run.
    """
    if not store.parent:
        return limits
    try:
        parent = load_run(store, store.parent)[0].state
    except RunNotFoundError as error:
        raise UsageError(
            f"this command works on run {store.parent}, which is not in this project and could "
            "not be charged; start runs in the project of that run"
        ) from error
    rest = left(all_left(parent), parent.reserved)
    known: dict[str, Any] = {} if parent.limits.usd is None else {"usd": rest.usd}
    if parent.limits.tokens is not None:
        known["tokens"] = rest.tokens
    answer = msgspec.structs.replace(limits.answer, **known)
    return tighter(limits, msgspec.structs.replace(limits, answer=answer, **known))


def require_status(status: str) -> None:
    """Refuse a status that no run can have; "" stands for all.

    Raises
    ------
    UsageError
        The message lists the statuses.
    """
    if status and status not in get_args(Status):
        raise UsageError(f"no run has the status {printable(status[:40])}; use {', '.join(get_args(Status))}")


def named_run(store: Store, run_id: str | None) -> str:
    """Return the given id, or else the newest run's.

    Raises
    ------
    RunNotFoundError
        There is no run.
    """
    if run_id is not None:
        return run_id
    rows = store.runs(limit=1)
    if not rows:
        raise RunNotFoundError("the project has no runs yet")
    return rows[0].run_id


def read_run(store: Store, run_id: str | None) -> State:
    """Read the state of a run, or of the newest.

    Raises
    ------
    RunNotFoundError
        There is no such run.
    """
    folding, _ = load_run(store, named_run(store, run_id))
    return folding.state


def read_iteration(store: Store, run_id: str | None, iteration: int) -> list[Any]:
    """Read what happened in an iteration, as its archive has it: events as plain values.

    Raises
    ------
    UsageError
        The run has no such iteration yet.
    RunNotFoundError
        There is no such run.
    """
    last = 0
    for _, last, events in iterations(store, named_run(store, run_id)):
        if last == iteration:
            return [msgspec.to_builtins(event) for event in events]
    raise UsageError(f"the run has no iteration {iteration}; its last one is {last}")


def export_run(store: Store, run_id: str) -> Iterator[bytes]:
    """Yield the events of a run as JSON lines, which ``sanitize`` reads like records.

    Yields
    ------
    bytes
        ``{"ts", "run_id", "seq", "type", …}`` and a newline.

    Raises
    ------
    RunNotFoundError
        The store has no such run.
    """
    for seq, event in store.read(run_id):
        fields: dict[str, Any] = msgspec.to_builtins(event)
        head = {"ts": fields.pop("at"), "run_id": run_id, "seq": seq}
        yield orjson.dumps(head | fields, option=orjson.OPT_APPEND_NEWLINE)


def forget_run(workspace: Workspace, store: Store, run_id: str | None, *, confirm: bool) -> State:
    """Remove a run whole, and the runs that are derived from it; returns the state that it had.

    Their events, results, views and reports go, what their kinds keep elsewhere, and what other runs learnt
    from them.

    Parameters
    ----------
    run_id : str or None
        None for the newest.
    confirm : bool
        Remove it; otherwise only read its state.

    Raises
    ------
    RunNotFoundError, RunBusyError
        The store has no such run, or a process works on it or on a derived run.
    """
    state = last_state(store, named_run(store, run_id))
    for each in reversed([state.run_id, *store.derived(state.run_id)] if confirm else []):
        _remove(workspace, store, each)
    return state


def _remove(workspace: Workspace, store: Store, run_id: str) -> None:
    state = last_state(store, run_id)
    with store.hold(run_id):  # a run at work keeps its views
        # the run last: a process that is killed in between leaves a run that can be forgotten again
        remove_views(workspace.root, run_id)
        reports_file(workspace.runs_dir, run_id).unlink(missing_ok=True)
        kind_named(state.kind).forget(workspace, state, store.address)
        _unlearn(workspace, store, state)
    store.forget(run_id)
    hold_file(workspace.runs_dir, run_id).unlink(missing_ok=True)


def _unlearn(workspace: Workspace, store: Store, state: State) -> None:
    """Remove what the runs of a kind learnt from a run, also from the views of the others."""
    learnt = store.reflexion(state.kind)
    if learnt is None:
        return

    def without(known: bytes | None) -> bytes:
        return Reflexion.from_json(known).without(state.run_id).to_json()

    rest = Reflexion.from_json(store.change_reflexion(state.kind, without)).view()
    for row in store.runs(kind=state.kind):
        write_reflexion(workspace.root, row.run_id, rest)


def last_state(store: Store, run_id: str) -> State:
    """Read the state of a run that is to be removed; only its id if its events cannot be read."""
    try:
        return read_run(store, run_id)
    except (RunNotFoundError, RunStoreError):
        raise
    except RunError:
        return State(run_id=run_id)


def forget_expired(workspace: Workspace, store: Store, *, now: datetime) -> list[str]:
    """Remove the runs in which nothing has happened for ``retention_days``, and what is derived from them.

    Runs that a process works on stay. Returns the ids of the expired ones.
    """
    days = workspace.settings.retention_days
    forgotten = []
    rows = [] if days is None else store.runs()
    for run_id in [row.run_id for row in rows if row.updated_at < now - timedelta(days=days or 0)]:
        with suppress(RunBusyError, RunNotFoundError):  # at work, or gone with the run it is derived from
            forget_run(workspace, store, run_id, confirm=True)
            forgotten.append(run_id)
    return forgotten


def create_run(
    store: Store,
    question: str,
    *,
    kind: str,
    limits: Limits | None = None,
    first: Sequence[tuple[str, Any]] = (),
    run_id: str = "",
    clock: Clock | None = None,
    **others: Any,
) -> str:
    """Add a run to a store; no process works on it yet.

    Parameters
    ----------
    question : str
        What the run is about. Resumed runs keep it.
    kind : str
        Of a registered kind, or a new name.
    limits : Limits or None
        What ends the run; None for the defaults.
    first : sequence of (str, object)
        Names and data of `Noted` events that the run begins with.
    run_id : str
        A ULID that the caller chose; a run of this id that exists stays as it is. "" for a new one.
    clock : Clock or None
        None for the machine's.
    others
        Fields of `coreloop.runs.events.Created`: ``mode``, ``origin``, ``trace_id``.

    Returns
    -------
    str
        The run's id, a ULID.

    Raises
    ------
    UsageError
        The limits cannot hold.
    """
    limits = limits or Limits()
    check_limits(limits)
    now = (clock or SystemClock()).now()
    run_id = run_id or new_ulid(now, os.urandom(10))
    others |= {"searches": kind_named(kind).searches, "parent": store.parent}
    created = happened.Created(at=now, run_id=run_id, kind=kind, question=question, limits=limits, **others)
    store.create(created, *(happened.Noted(at=now, name=name, data=data) for name, data in first))
    return run_id


def pause_run(store: Store, run_id: str, *, by: Caller = "unknown", clock: Clock | None = None) -> State:
    """Let a run stop after its iteration; a run that is paused already stays paused.

    Parameters
    ----------
    run_id : str
        Of a run in it.
    by : str
        Who says so, see `coreloop.runs.person_or_agent.require_person`.
    clock : Clock or None
        None for the machine's.

    Returns
    -------
    State
        The run's state afterwards.

    Raises
    ------
    RunNotFoundError, RunEndedError
        The store has no such run, or it is over.
    UsageError
        This process is of an agent, for example a service that it started.
    """
    return _tell(store, run_id, happened.Paused, unless="paused", by=by, clock=clock)


def resume_run(store: Store, run_id: str, *, by: Caller = "unknown", clock: Clock | None = None) -> State:
    """Let a run go on that was paused or that failed; the next process that works on it does.

    As `pause_run` otherwise.
    """
    return _tell(store, run_id, happened.Resumed, unless="running", by=by, clock=clock)


def complete_run(store: Store, run_id: str, *, by: Caller = "unknown", clock: Clock | None = None) -> State:
    """End a run as a person who calls its question answered. As `pause_run` otherwise."""
    return _tell(store, run_id, happened.Completed, unless="completed", by=by, clock=clock)


def stop_run(store: Store, run_id: str, *, by: Caller = "unknown", clock: Clock | None = None) -> State:
    """End a run: a call under way is finished, no other is begun. As `pause_run` otherwise."""
    return _tell(store, run_id, happened.StopRequested, unless="stopped_by_user", by=by, clock=clock)


def _tell(
    store: Store, run_id: str, event: Callable[..., Said], *, unless: str, by: Caller, clock: Clock | None
) -> State:
    told = event(at=(clock or SystemClock()).now(), by=by)

    def said(state: State) -> list[Said]:
        if store.parent and state.parent != store.parent:  # a driver's command may tell only its own runs
            raise UsageError(
                "an agent cannot pause, resume, complete or stop a run; use a terminal of your own"
            )
        (require_resumable if event is happened.Resumed else require_going)(state)
        return [] if state.status == unless else [told]

    return change_run(store, run_id, said)
