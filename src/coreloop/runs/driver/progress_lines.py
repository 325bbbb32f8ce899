"""What the driver says to people: a line per iteration, and why a run stopped."""

from typing import Any, Final

from coreloop.base.messages import number_of
from coreloop.base.text import printable
from coreloop.runs.amounts import dollars
from coreloop.runs.decide import Continue, Stop
from coreloop.runs.state import State

_REASONS: Final = {
    "max_iterations": "all iterations are done",
    "usd": "the budget is spent",
    "usd_per_day": "the day's budget is spent (limits: usd_per_day)",
    "tokens": "the tokens are spent",
    "deadline": "the deadline is over",
    "queries": "the searches are used up",
    "sources": "the sources are used up",
    "failures": "the command failed too often in a row",
    "until": "the --until command succeeded",
    "sufficient": "the agent calls its findings sufficient",
}
_STATUSES: Final = {
    "running": "another process works on it",
    "paused": "go on with runs resume",
    "failed": "see runs show; remove the cause, and go on with runs resume",
}


def progress_line(state: State, done: dict[str, Any], decision: Continue | Stop) -> str:
    """Build the line of a committed iteration.

    Parameters
    ----------
    state : State
        After the commit.
    done : dict
        The result of the iteration's step.
    decision : Continue or Stop
        What comes next.
    """
    findings = sum(len(part.findings) for part in state.sub_questions)
    parts = [
        f"iteration {state.iteration}/{state.limits.max_iterations}",
        spending(state),
        number_of(findings, "finding"),
        f"{number_of(done.get('files', 0), 'file')} changed",
        f"{done.get('seconds', 0):.0f} s",
        _next(state, decision),
    ]
    return " · ".join(parts)


def spending(state: State) -> str:
    """Return what is spent, of the budget, and the tokens if they are limited."""
    tokens, limit = state.spent.tokens, state.limits.tokens
    return money(state) if limit is None else f"{money(state)} · {tokens:,}/{limit:,} tokens"


def money(state: State) -> str:
    """Return what is spent, of the budget if there is one."""
    usd, limit = dollars(state.spent.microusd), state.limits.microusd
    return usd if limit is None else f"{usd}/{dollars(limit)}"


def reason_line(state: State) -> str:
    """Build the line that says why a run does not go on."""
    reason = f" ({state.stop_reason})" if state.stop_reason else ""
    why = _REASONS.get(state.stop_reason or "") or _STATUSES.get(state.status) or _ended_by(state)
    iterations = number_of(state.iteration, "iteration")
    return f"{state.run_id}  {state.status}{reason}: {why}; {iterations}, {spending(state)}"


def _ended_by(state: State) -> str:
    if state.status not in {"completed", "stopped_by_user"}:
        return ""
    if state.ended_by == "person":
        return "a person calls it answered" if state.status == "completed" else "a person stopped it"
    command = "complete" if state.status == "completed" else "stop, Ctrl-C or a request to a service"
    return f"runs {command} ended it; whether a person did cannot be told"


def _next(state: State, decision: Continue | Stop) -> str:
    if isinstance(decision, Stop):
        return f"stops: {decision.reason or decision.status}"
    unanswered = (f"{part.id} {part.text}" for part in state.sub_questions if not part.is_answered)
    wanted = next(iter(state.next_actions), "") or next(unanswered, "")
    following = printable(wanted)[:100] or f"iteration {state.iteration + 1}"
    return f"next: {following}"
