"""Exports of Langfuse: one request per trace.

Reads a trace downloaded from its page or the API, a session, and lists of traces or observations, as JSON or
JSON lines. Newer servers write ``startTime``, table exports ``start_time``.
"""

from collections.abc import Iterable, Iterator
from typing import Any, Final

from coreloop.observe.importers.files import TraceFile, UnusableFile, read_parts
from coreloop.observe.importers.otlp import span_of
from coreloop.observe.importers.spans import TraceSpan, requests
from coreloop.observe.importers.trace_values import (
    answer_in,
    decoded,
    first,
    listed,
    question_in,
    read_time,
    text,
)
from coreloop.observe.importers.traced_request import FOREIGN, SkippedTrace, TracedRequest
from coreloop.observe.scores import score_of, scores_in

NAME: Final = "langfuse"
SUFFIXES: Final = (".json", ".jsonl")
_DEEPEST: Final = 4


def read(files: Iterable[TraceFile]) -> Iterator[TracedRequest | SkippedTrace | UnusableFile]:
    """Read the traces that have a tool call, or a question answered by a model."""
    yield from requests(NAME, read_parts(files, lambda document: _parts(document, None, _DEEPEST)))


def _parts(value: Any, trace_id: str | None, depth: int) -> Iterator[TraceSpan | SkippedTrace]:
    """Traces and observations of a document; nested observations belong to their trace."""
    if isinstance(value, list) and depth:
        for item in value:
            yield from _parts(item, trace_id, depth - 1)
        return
    if not isinstance(value, dict) or not depth:
        yield FOREIGN
        return
    inside = [value[key] for key in ("trace", "traces", "data") if isinstance(value.get(key), list | dict)]
    for item in inside:
        yield from _parts(item, trace_id, depth - 1)
    score = score_of(value) if text(first(value, "traceId", "trace_id")) else None
    if score and first(value, "startTime", "start_time", "observations") is None:
        trace_id, id = str(first(value, "traceId", "trace_id")), f"score {value.get('id')}"
        yield TraceSpan(trace_id=trace_id, id=id, kind="trace", name=score.name, scores=(score,))
    elif first(value, "type", "startTime", "start_time") is not None:
        yield _observation(value, trace_id)
    elif text(value.get("id")) and first(value, "timestamp", "observations") is not None:
        trace_id = str(value["id"])
        yield _trace(value, trace_id)
    elif not inside and "observations" not in value:
        yield FOREIGN
    for item in listed(value.get("observations")):
        if isinstance(item, dict):  # the API may list only ids
            yield from _parts(item, trace_id, depth - 1)


def _trace(trace: dict[str, Any], trace_id: str) -> TraceSpan:
    return TraceSpan(
        trace_id=trace_id,
        id=f"trace {trace_id}",
        kind="trace",
        name=text(trace.get("name")) or "?",
        started=read_time(trace.get("timestamp")),
        question=question_in(trace.get("input")),
        answer=None if trace.get("output") is None else answer_in(trace["output"]) or "",
        session_id=text(first(trace, "sessionId", "session_id")),
        scores=scores_in(trace),
    )


def _observation(observation: dict[str, Any], trace_id: str | None) -> TraceSpan | SkippedTrace:
    """An observation as a span: what Langfuse knows of it is in its attributes, and those of the tracer."""
    trace_id = text(first(observation, "traceId", "trace_id")) or trace_id
    if trace_id is None or text(observation.get("id")) is None:
        return FOREIGN
    metadata = decoded(observation.get("metadata"))
    traced = decoded(metadata.get("attributes")) if isinstance(metadata, dict) else None
    span = {
        **observation,
        "traceId": trace_id,
        "spanId": observation["id"],
        "parentSpanId": first(observation, "parentObservationId", "parent_observation_id"),
        "start_time": first(observation, "startTime", "start_time"),
        "end_time": first(observation, "endTime", "end_time"),
        "status_code": observation.get("level"),
        "status_message": text(first(observation, "statusMessage", "status_message"))
        or decoded(observation.get("output")),
        "attributes": {
            **(traced if isinstance(traced, dict) else {}),
            "langfuse.observation.type": observation.get("type"),
            "langfuse.observation.input": observation.get("input"),
            "langfuse.observation.output": observation.get("output"),
            "gen_ai.response.model": first(observation, "model", "providedModelName", "provided_model_name"),
            "session.id": first(observation, "sessionId", "session_id") or "",  # not the tracer's own
        },
    }
    return span_of(span)
