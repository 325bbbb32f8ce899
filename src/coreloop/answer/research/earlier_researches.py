"""Earlier researches of a project: listed, named and read."""

from typing import Final

from coreloop.answer.research.research_state import KIND
from coreloop.base.errors import RunNotFoundError, UsageError
from coreloop.runs.load import load_run
from coreloop.runs.state import State
from coreloop.runs.stores.accounts import RunRow
from coreloop.runs.stores.store import Store

_LATEST: Final = 1_000  # chosen: older ones are not looked for, so that a question takes as long in any store


def sessions_of(store: Store, *, limit: int = _LATEST) -> list[RunRow]:
    """Return a project's researches, the newest first."""
    return store.runs(kind=KIND, limit=limit)


def named_session(store: Store, name: str | None) -> str:
    """Return the id of a research: the given one, or the newest for None and ``last``.

    One that was stopped before its first iteration counts only if there is no other: it was begun to compare
    questions, and another was continued.

    Raises
    ------
    RunNotFoundError
        There is no research.
    UsageError
        The name is empty.
    """
    if name is not None and not name.strip():
        raise UsageError("--session is empty; give new, last or the id of a research")
    if name not in {None, "last"}:
        return str(name)
    rows = sessions_of(store)
    if not rows:
        raise RunNotFoundError("the project has no research yet; ask a question first")
    return next((row for row in rows if not _is_unused(row)), rows[0]).run_id


def _is_unused(row: RunRow) -> bool:
    return row.status == "stopped_by_user" and row.iteration == 0


def read_session(store: Store, name: str | None) -> State:
    """Read the state of a research, or of the newest.

    Raises
    ------
    RunNotFoundError
        There is no such research.
    """
    run_id = named_session(store, name)
    folding, _ = load_run(store, run_id)
    if folding.state.kind != KIND:
        raise RunNotFoundError(f"run {run_id} is no research, but {folding.state.kind}; see runs show")
    return folding.state
