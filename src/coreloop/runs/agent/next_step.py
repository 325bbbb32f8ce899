"""What an agent must know before its next iteration, as JSON."""

from datetime import datetime
from typing import Any, Final

from coreloop.base.messages import in_language_of
from coreloop.base.validation import fields_of
from coreloop.runs.agent.session_file import next_work
from coreloop.runs.clock import SystemClock
from coreloop.runs.decide import Stop, decide, seconds_left
from coreloop.runs.drift import LABELS, check_drift
from coreloop.runs.load import spent_today
from coreloop.runs.reflexion import Reflexion
from coreloop.runs.state import State, SubQuestion, kind_json
from coreloop.runs.stores.store import Store

_MAX_QUERIES: Final = 500
_REPORT: Final = {
    "iteration": 1,
    "actions": [{"tool": "web", "strategy": ["English", "recent"]}],
    "queries": [{"query": "…", "results_count": 3, "success": True}],
    "findings": [
        {
            "text": "…",
            "quote": "word for word from the source",
            "sources": [1],
            "answers": "q1",
            "hypothesis": "h1",
            "stance": "supports",
        }
    ],
    "hypotheses": ["a new statement to test"],
    "sub_questions": [{"id": "q2", "falls_away": "why"}],
    "uncertainties": [{"text": "…", "needs": "the evidence that would settle it"}],
    "reflection": {"situation": "…", "thesis": "…", "antithesis": "…", "synthesis": "…"},
    "next_actions": ["…"],
    "usage": {"usd": 0.1, "tokens": 4000},
}


def next_step(store: Store, state: State) -> dict[str, Any]:
    """Build what an agent must know before its next iteration, as JSON.

    Parameters
    ----------
    store : Store
        For what earlier runs learnt.
    state : State
        Of the run.
    """
    now = SystemClock().now()
    decision = decide(state, now, today=spent_today(store, state, now))
    done = [search.query for search in state.search_history if search.worked]
    return {
        **fields_of(state, "run_id", "question", "status", "stop_reason"),
        "goes_on": not isinstance(decision, Stop),
        "do": _end(state, decision) if isinstance(decision, Stop) else _work(state),
        "iteration": {"next": state.iteration + 1, "max": state.limits.max_iterations},
        "left": _left(state, now),
        "sub_questions": [_part_json(part) for part in state.sub_questions],
        "do_not_repeat": list(dict.fromkeys(reversed(done)))[:_MAX_QUERIES],
        "drift": _order(state),
        "knowledge": kind_json(state.of_kind),
        "reflexion": Reflexion.from_json(store.reflexion(state.kind)).similar(situation(state)).view(),
        "next_actions": list(state.next_actions),
        "report": _REPORT | {"iteration": state.iteration + 1},
    }


def _work(state: State) -> str:
    return in_language_of(state.question)(
        "Do one iteration: {work}. Plan its searches with dartlab-coreloop runs plan {run_id} --file FILE, "
        "and give its report to dartlab-coreloop runs record {run_id} --file FILE.",
        work=next_work(state),
        run_id=state.run_id,
    )


def _end(state: State, stop: Stop) -> str:
    tell = in_language_of(state.question)
    if stop.status == "paused":
        return tell(
            "End your turn: the run is paused; a person lets it go on by runs resume {run_id}.",
            run_id=state.run_id,
        )
    reason = f"{stop.status}: {stop.reason}" if stop.reason else stop.status
    if not state.is_terminal:  # its driver ends it
        return tell("End your turn: the run is over, {reason}.", reason=reason)
    return tell(
        "The run is over, {reason}: answer from dartlab-coreloop runs report {run_id}, and end your turn.",
        reason=reason,
        run_id=state.run_id,
    )


def _left(state: State, now: datetime) -> dict[str, float | None]:
    limits, used = state.limits, state.spent + state.reserved

    def left(limit: float | None, part: float) -> float | None:
        return None if limit is None else max(0, limit - part)

    seconds = seconds_left(state, now)
    return {
        "iterations": left(limits.max_iterations, state.iteration),
        "usd": left(limits.usd, used.usd),
        "tokens": left(limits.tokens, used.tokens),
        "seconds": None if seconds is None else round(max(0.0, seconds), 1),
        "queries": left(limits.queries, state.queries),
        "sources": left(limits.sources, len(state.read_sources)),
    }


def _part_json(part: SubQuestion) -> dict[str, Any]:
    waiting = "open; a person has not yet agreed that it falls away" if part.waiver else "open"
    mark = waiting if part.is_open else "answered" if part.is_answered else "falls away"
    if part.is_note:
        mark = "a note: it does not count, as it is not about the question"
    return {"id": part.id, "text": part.text, "state": mark, "findings": len(part.findings)}


def _order(state: State) -> dict[str, Any] | None:
    order = check_drift(state) or state.order
    if order is None:
        return None
    tell = in_language_of(state.question)
    before, after = ([one for one in part if one in LABELS] for part in (order.before, order.after))
    labels = ", ".join(after) or tell("another tool")
    return {
        "rule": order.rule,
        "before": before,
        "after": after,
        "order": tell("Change your strategy to: {labels}.", labels=labels),
    }


def situation(state: State) -> str:
    """Return the text by which similar situations are found: the first open sub-question, or the question."""
    part = next((part for part in state.sub_questions if part.is_open), None)
    return part.text if part else state.question
