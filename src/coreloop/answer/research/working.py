"""What each of the last iterations aimed at, which the findings and searches of a run do not say."""

from typing import Any, Final

from coreloop.answer.research.knowledge import knowledge_of
from coreloop.answer.research.memory import WORKING_ITERATIONS
from coreloop.runs.state import State

KEY: Final = "aims"


def committed(state: State) -> None:
    """Keep the active hypotheses and the next actions of the iteration that was just committed."""
    aim = {
        "iteration": state.iteration,
        "active_hypotheses": list(state.extra["active_hypotheses"]),
        "next_actions": list(state.next_actions),
    }
    state.extra[KEY] = [*state.extra.get(KEY, []), aim][-WORKING_ITERATIONS:]


def working_iterations(state: State) -> list[dict[str, Any]]:
    """Return the last iterations: findings, executed queries, active hypotheses and next actions."""
    findings = knowledge_of(state).findings
    return [
        {
            "iteration": aim["iteration"],
            "findings": [one for one in findings if one.iteration == aim["iteration"]],
            "queries_executed": [
                search.query for search in state.search_history if search.iteration == aim["iteration"]
            ],
            "active_hypotheses": aim["active_hypotheses"],
            "next_actions": aim["next_actions"],
        }
        for aim in state.extra.get(KEY, [])
    ]
