"""What researches learn from each other: which strategy made progress in which situation."""

from typing import Final

from coreloop.research.knowledge import KIND
from coreloop.runs.reflexion import Reflexion
from coreloop.runs.state import State
from coreloop.runs.stores.store import Store

MAX_ADVICE: Final = 3


def credit(store: Store, state: State) -> None:
    """Credit the strategy of the newest iteration with its progress; a second time changes nothing."""
    if not (state.iteration and state.last_strategy):
        return
    progress = state.no_new_info_count == 0
    strategy = " > ".join(state.last_strategy)

    def credited(learnt: bytes | None) -> bytes:
        known = _read(learnt).credit(
            strategy,
            situation=state.question,
            run_id=state.run_id,
            iteration=state.iteration,
            progress=progress,
        )
        return known.to_json()

    store.change_reflexion(KIND, credited)


def helped_before(store: Store, state: State) -> tuple[str, ...]:
    """Return the strategies that made progress in similar situations, best first."""
    advice = _read(store.reflexion(KIND)).similar(state.question, limit=MAX_ADVICE)
    return tuple(pattern.strategy for pattern in advice.success_patterns)


def _read(learnt: bytes | None) -> Reflexion:
    return Reflexion.from_json(learnt) if learnt else Reflexion()
