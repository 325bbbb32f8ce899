"""What people do with runs, one function each, for every shell."""

from collections.abc import Iterator, Sequence
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any, get_args

import msgspec
import orjson

from coreloop.errors import RunError, RunNotFoundError, RunStoreError, UsageError
from coreloop.files import write_private
from coreloop.project.workspace import Workspace
from coreloop.runs.create import create_run
from coreloop.runs.events import VERSION, Status
from coreloop.runs.limits import Limits, Mode
from coreloop.runs.load import load_run
from coreloop.runs.state import State
from coreloop.runs.stores.store import Store
from coreloop.runs.views import remove_views
from coreloop.text import printable


def begin_run(
    workspace: Workspace,
    store: Store,
    question: str,
    *,
    kind: str,
    now: datetime,
    mode: Mode = "bounded",
    limits: Limits | None = None,
    is_priced: bool = True,
    drives_itself: bool = False,
    first: Sequence[tuple[str, Any]] = (),
    run_id: str = "",
    trace_id: str = "",
) -> str:
    """Create a run with the project's settings, and forget runs that are older than they allow.

    Parameters
    ----------
    workspace : Workspace
        Its ``limits: usd_per_day`` applies unless ``limits`` has one.
    store : Store
        Of the workspace.
    question, kind, mode, limits, is_priced, drives_itself, first, run_id, trace_id
        As for `coreloop.runs.create.create_run`.
    now : datetime
        With a zone.

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
    forget_expired(workspace, store, now=now)  # first: an error must not leave a run that nobody knows
    return create_run(
        store,
        question,
        kind=kind,
        mode=mode,
        limits=limits,
        is_priced=is_priced,
        drives_itself=drives_itself,
        first=first,
        run_id=run_id,
        trace_id=trace_id,
    )


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


def export_run(store: Store, run_id: str) -> Iterator[bytes]:
    """Yield the events of a run as JSON lines, which ``sanitize`` reads like records.

    Yields
    ------
    bytes
        ``{"ts", "run_id", "seq", "version", "type", …}`` and a newline.

    Raises
    ------
    RunNotFoundError
        The store has no such run.
    """
    for seq, event in store.read(run_id):
        fields: dict[str, Any] = msgspec.to_builtins(event)
        head = {"ts": fields.pop("at"), "run_id": run_id, "seq": seq, "version": VERSION}
        yield orjson.dumps(head | fields, option=orjson.OPT_APPEND_NEWLINE)


def write_export(store: Store, run_id: str | None, path: Path) -> int:
    """Write `export_run` to a new file of mode 0600; returns the number of events.

    Raises
    ------
    UsageError
        The file exists.
    RunNotFoundError, WorkspaceError
        The store has no such run, or the file cannot be written.
    """
    if path.exists():
        raise UsageError(f"{path}: exists; name a new file")
    lines = list(export_run(store, named_run(store, run_id)))
    write_private(path, b"".join(lines))
    return len(lines)


def forget_run(workspace: Workspace, store: Store, run_id: str | None, *, confirm: bool) -> State:
    """Remove a run whole: its events, results and views; returns the state that it had.

    Parameters
    ----------
    workspace : Workspace
        Of the project.
    store : Store
        Of the workspace.
    run_id : str or None
        None for the newest.
    confirm : bool
        Remove it; otherwise only read its state.

    Raises
    ------
    RunNotFoundError, RunBusyError
        The store has no such run, or a process works on it.
    """
    run_id = named_run(store, run_id)
    if not confirm:
        return read_run(store, run_id)
    state = _last_state(store, run_id)
    with store.hold(run_id):  # a run at work keeps its views
        # views first: a process that is killed in between leaves a run that can be forgotten again
        remove_views(workspace.root, run_id)
    store.forget(run_id)
    return state


def _last_state(store: Store, run_id: str) -> State:
    """Read the state of a run that is to be removed; only its id if its events cannot be read."""
    try:
        return read_run(store, run_id)
    except (RunNotFoundError, RunStoreError):
        raise
    except RunError:
        return State(run_id=run_id)


def forget_expired(workspace: Workspace, store: Store, *, now: datetime) -> list[str]:
    """Remove the runs in which nothing has happened for ``retention_days``; returns their ids."""
    days = workspace.settings.retention_days
    if days is None:
        return []
    forgotten = store.forget_before(now - timedelta(days=days))
    for run_id in forgotten:
        remove_views(workspace.root, run_id)
    return forgotten
