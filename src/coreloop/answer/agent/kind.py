"""The kinds of runs that a coding agent reports to; importing this registers them."""

from dataclasses import replace
from typing import Any, Final

from coreloop.answer.agent.knowledge import fold, initial, is_complete
from coreloop.answer.research.views import committed, views
from coreloop.runs.agent.agent import KIND
from coreloop.runs.driver.driven import DRIVEN
from coreloop.runs.kinds import Kind, register_kind
from coreloop.runs.state import State

AGENT: Final = Kind(
    name=KIND, initial=initial, fold=fold, committed=committed, is_complete=is_complete, views=views
)


def _initial() -> dict[str, Any]:
    return DRIVEN.initial() | initial()


def _fold(extra: dict[str, Any], name: str, data: Any) -> None:
    DRIVEN.fold(extra, name, data)
    fold(extra, name, data)


def _is_complete(state: State) -> bool:
    return DRIVEN.is_complete(state) and is_complete(state)


register_kind(AGENT)
register_kind(
    replace(DRIVEN, initial=_initial, fold=_fold, committed=committed, is_complete=_is_complete, views=views)
)
