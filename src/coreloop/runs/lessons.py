"""What an iteration teaches: orders to change, failed searches and what came after them, its strategy."""

from collections.abc import Iterator
from typing import Final

from coreloop.runs.reflexion import PastFailure, Reflexion, Result
from coreloop.runs.state import State
from coreloop.runs.stores.store import Store

SEARCH: Final = "search: "
"""Begins a solution that is a query; the others are strategies."""
_CAUSES: Final = {
    "duplicates": "only queries that were asked before",
    "same_action": "the same action again and again",
    "no_new_information": "nothing new for several iterations",
}


def learn_lessons(store: Store, state: State, *, situation: str) -> None:
    """Add to what the runs of a kind learnt what the newest iteration teaches; a second time changes nothing.

    Parameters
    ----------
    store : Store
        Of the run.
    state : State
        After a committed iteration.
    situation : str
        In which it was made.
    """
    if state.iteration:
        store.change_reflexion(
            state.kind,
            lambda learnt: with_lessons(read_reflexion(learnt), state, situation=situation).to_json(),
        )


def with_lessons(known: Reflexion, state: State, *, situation: str) -> Reflexion:
    """Return what is known with the failures and the strategy of the newest iteration."""
    has_progress = state.no_new_info_count == 0
    for failure in (*_orders(state, situation), *_searches(state, situation, has_progress=has_progress)):
        known = known.with_failure(failure)
    if not state.used_strategy:
        return known
    return known.credit(
        written(state.used_strategy),
        situation=situation,
        run_id=state.run_id,
        iteration=state.iteration,
        progress=has_progress,
    )


def read_reflexion(learnt: bytes | None) -> Reflexion:
    """Read what the runs of a kind learnt, as `Store.reflexion` returns it."""
    return Reflexion.from_json(learnt)


def written(strategy: tuple[str, ...]) -> str:
    """Return a strategy as reflexion keeps it."""
    return " > ".join(strategy)


def _orders(state: State, situation: str) -> Iterator[PastFailure]:
    """Each order that drift gave; what became of it is credited when an iteration follows it."""
    for order in state.last_orders:
        before = f": {written(order.before)}" if order.before else ""
        cause = f"{_CAUSES[order.rule]}{before}"
        yield PastFailure(state.run_id, state.iteration, situation, cause, written(order.after))


def _searches(state: State, situation: str, *, has_progress: bool) -> Iterator[PastFailure]:
    """The searches of this iteration or the one before that brought nothing, and the next one that did."""
    history = state.search_history
    for place, search in enumerate(history):
        if search.worked or search.iteration < state.iteration - 1:
            continue
        after = next((later for later in history[place + 1 :] if later.worked), None)
        if after is not None and after.iteration == state.iteration:
            result: Result = "progress" if has_progress else "no_progress"
            cause, solution = f"no result: {search.query}", f"{SEARCH}{after.query}"
            yield PastFailure(state.run_id, state.iteration, situation, cause, solution, result)
