"""``.research/status.json``: one line about the current run, for the Stop hook of an agent."""

from datetime import datetime
from typing import Any, Final

import orjson

from coreloop.runs.decide import Continue, decide, seconds_left
from coreloop.runs.state import State

FILE_NAME: Final = "status.json"
_NEXT_CHARS: Final = 300


def status_line(state: State, now: datetime | None = None) -> bytes:
    """Build the content of the file.

    Parameters
    ----------
    state : State
        After a commit.
    now : datetime or None
        None for the time of the run's last event.

    Returns
    -------
    bytes
        ``{"run_id", "session", "status", "goes_on", "iteration", "max_iterations", "deadline_at", "next"}``
        and a newline. ``session`` is "" unless an agent's session drives the run; ``deadline_at`` is in
        seconds of the Unix time.
    """
    now = now or state.clock
    left = seconds_left(state, now)
    facts: dict[str, Any] = {
        "run_id": state.run_id,
        "session": state.owner if state.drives_itself else "",
        "status": state.status,
        "goes_on": isinstance(decide(state, now), Continue),
        "iteration": state.iteration,
        "max_iterations": state.limits.max_iterations,
        "deadline_at": None if left is None else now.timestamp() + left - state.limits.answer.seconds,
        "next": next_work(state)[:_NEXT_CHARS],
    }
    return orjson.dumps(facts, option=orjson.OPT_APPEND_NEWLINE)


def next_work(state: State) -> str:
    """Say in a line what the next iteration is about."""
    part = next((part for part in state.sub_questions if part.is_open), None)
    if part is None and state.sub_questions:
        return "look for evidence against the findings, or add a sub-question"
    if part is None:
        return "split the question into sub-questions"
    planned = f"; planned: {state.next_actions[0]}" if state.next_actions else ""
    return f"answer {part.id}, {part.text}, with a source{planned}"
