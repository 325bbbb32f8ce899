"""The kinds of runs that a coding agent reports to; importing this registers them."""

from dataclasses import dataclass
from functools import partial
from typing import Any, Final

from coreloop.answer.agent.agent_state import AgentKnowledge, fold, is_complete
from coreloop.answer.research.kind import committed, views
from coreloop.runs.agent.agent_runs import KIND
from coreloop.runs.driver.driven_run import DRIVEN, DrivenState
from coreloop.runs.kinds import Kind, register_kind
from coreloop.runs.state import State


@dataclass
class _Driven(AgentKnowledge, DrivenState):
    """What is known in a run whose agent the driver starts."""


def _fold(part: _Driven, name: str, data: Any) -> None:
    DRIVEN.fold(part, name, data)
    fold(part, name, data)


def _is_complete(state: State) -> bool:
    return DRIVEN.is_complete(state) and is_complete(state)


_KIND: Final = partial(Kind, committed=committed, views=views)
register_kind(_KIND(name=KIND, initial=AgentKnowledge, fold=fold, is_complete=is_complete))
register_kind(
    _KIND(
        name=DRIVEN.name,
        searches=DRIVEN.searches,
        initial=_Driven,
        fold=_fold,
        is_complete=_is_complete,
    )
)
