"""What researches learn from each other: failures and what helped, and which strategy made progress where."""

from typing import Final

from coreloop.answer.research.knowledge import KIND
from coreloop.runs.lessons import read_reflexion
from coreloop.runs.state import State
from coreloop.runs.stores.store import Store

MAX_ADVICE: Final = 3


def helped_before(store: Store, state: State) -> tuple[str, ...]:
    """Return what made progress in similar situations, best first: strategies, then what solved failures."""
    advice = read_reflexion(store.reflexion(KIND)).similar(state.question, limit=MAX_ADVICE)
    strategies = [pattern.strategy for pattern in advice.success_patterns]
    solutions = [failure.solution for failure in advice.failures if failure.result == "progress"]
    return tuple(dict.fromkeys([*strategies, *solutions]))
