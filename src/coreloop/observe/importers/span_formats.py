"""Formats of spans: OTLP, exports of Langfuse, and runs of LangSmith.

The others are read as spans of OTLP whose attributes say what they know. Langfuse: a trace from its page or
the API, a session, and lists of traces, observations or scores; newer servers write ``startTime``, table
exports ``start_time``. LangSmith: runs as the API and the SDK give them, in a list or inside their parents.
"""

import re
from typing import Any, Final

from coreloop.observe.importers import trace_values as values
from coreloop.observe.importers.openai_chat import answer_in, question_in
from coreloop.observe.importers.otlp import NAME, plain, span_of
from coreloop.observe.importers.spans import SpanFormat, TraceSpan, scored
from coreloop.observe.importers.traced_request import SkippedTrace
from coreloop.observe.scores import score_of, scores_in

# For example ``ValueError('no such city')Traceback (most recent call last): …``.
_RAISED: Final = re.compile(r"(\w{1,80})\((['\"])(.{1,2000})\2,?\)(?:Traceback \(|\s*$)", re.DOTALL)


def _of_langfuse(value: dict[str, Any]) -> TraceSpan | SkippedTrace | None:
    named = plain(value)
    subject = named.get("subject")
    if isinstance(subject, dict):  # of a score: an observation of a trace, a trace, or something else
        named["traceid"] = values.first(subject, "traceId", "id")
    trace_id, id = values.text(named.get("traceid")), values.text(named.get("id"))
    if id and "timestamp" in named and {"observations", "public"} & named.keys():
        return TraceSpan(
            trace_id=id,
            id=f"trace {id}",
            kind="trace",
            name=values.text(named.get("name")) or "?",
            started=values.read_time(named["timestamp"]),
            question=question_in(named.get("input")),
            answer=None if named.get("output") is None else answer_in(named["output"]) or "",
            session_id=values.text(named.get("sessionid")),
            scores=scores_in(named),
        )
    if trace_id and id and "type" in named and "starttime" in named:
        return span_of({**value, **_observation(named)})
    score = score_of(value) if trace_id else None
    return scored(trace_id, id, (score,)) if trace_id and score else None


def _observation(named: dict[str, Any]) -> dict[str, Any]:
    """An observation's ids and attributes, with those of the tracer."""
    metadata = values.decoded(named.get("metadata"))
    traced = values.decoded(metadata.get("attributes")) if isinstance(metadata, dict) else None
    return {
        "span_id": named["id"],
        "parent_id": named.get("parentobservationid"),
        "status_code": named.get("level"),
        "attributes": {
            **(traced if isinstance(traced, dict) else {}),
            "langfuse.observation.type": named["type"],
            "gen_ai.response.model": named.get("model") or named.get("providedmodelname"),
            "session.id": named.get("sessionid") or "",  # not the tracer's own
        },
    }


def _of_langsmith(run: dict[str, Any]) -> TraceSpan | SkippedTrace | None:
    if "run_type" not in run:
        return None
    error, inputs = values.text(run.get("error")), _unwrapped(run.get("inputs"), "input")
    raised = _RAISED.match(error) if error else None
    parents = values.listed(run.get("parent_run_ids"))  # from the outermost on
    is_text = (values.text(inputs) or "").startswith("{")  # LangChain: the arguments as Python's repr
    span = {
        **run,
        "trace_id": values.first(run, "trace_id", "parent_run_id", "id"),
        "span_id": run.get("id"),
        "parent_id": run.get("parent_run_id") or (parents[-1] if parents else None),
        "status": "error" if error else run.get("status"),
        "status_message": f"{raised[1]}: {raised[3]}" if raised else error,
        "scores": run.get("feedback_stats"),
        "attributes": {
            "langfuse.observation.type": run["run_type"],
            "input.value": inputs if is_text else run.get("inputs"),
            "output.value": _unwrapped(run.get("outputs"), "output"),
            "extra": values.decoded(run.get("extra")),
        },
    }
    return span_of(span)


def _unwrapped(value: Any, name: str) -> Any:
    """What an object with nothing else holds under a name."""
    value = values.decoded(value)
    return value[name] if isinstance(value, dict) and value.keys() == {name} else value


FORMATS: Final = (
    SpanFormat("langfuse", _of_langfuse),
    SpanFormat("langsmith", _of_langsmith),
    SpanFormat(NAME, span_of),
)
