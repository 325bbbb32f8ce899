"""Exports of Langfuse: one request per trace.

Reads a trace downloaded from its page or the API, a session, and lists of traces or observations, as JSON or
JSON lines. Newer servers write ``startTime``, table exports ``start_time``.
"""

from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Any, Final, Literal

from coreloop.observe.importers import attributes as known
from coreloop.observe.importers.files import TraceFile, UnusableFile, read_parts
from coreloop.observe.importers.spans import TraceSpan, requests
from coreloop.observe.importers.trace_values import (
    answer_in,
    arguments,
    decoded,
    first,
    listed,
    question_in,
    read_time,
    size_bytes,
    text,
)
from coreloop.observe.importers.traced_request import FOREIGN, NO_TIME, SkippedTrace, TracedRequest
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
        answer=_answer(trace.get("output")),
        session_id=text(first(trace, "sessionId", "session_id")),
        scores=scores_in(trace),
    )


def _answer(output: Any) -> str | None:
    """The answer: empty if the output has no text, None if there is no output."""
    return None if output is None else answer_in(output) or ""


def _observation(observation: dict[str, Any], trace_id: str | None) -> TraceSpan | SkippedTrace:
    trace_id = text(first(observation, "traceId", "trace_id")) or trace_id
    id = text(observation.get("id"))
    if trace_id is None or id is None:
        return FOREIGN
    started = read_time(first(observation, "startTime", "start_time"))
    if started is None:
        return NO_TIME
    attributes = _attributes(observation.get("metadata"))
    kind = _kind(observation, attributes)
    common = TraceSpan(
        trace_id=trace_id,
        id=id,
        kind=kind,
        name=text(observation.get("name")) or "?",
        parent_id=text(first(observation, "parentObservationId", "parent_observation_id")),
        started=started,
        ended=read_time(first(observation, "endTime", "end_time")),
        error=_error(observation),
        provider=text(first(attributes, *known.PROVIDER)),
        model=text(first(observation, "model", "providedModelName", "provided_model_name")),
        session_id=text(first(observation, "sessionId", "session_id")),
        scores=scores_in(observation),
    )
    asked, result = observation.get("input"), observation.get("output")
    if kind != "tool":
        return replace(common, question=question_in(asked), answer=_answer(result))
    args = arguments(first({"input": asked, **attributes}, "input", *known.ARGUMENTS))
    name = known.tool_name(attributes, common.name)
    return replace(common, name=name, args=args, result_size_bytes=size_bytes(result), result=decoded(result))


def _kind(observation: dict[str, Any], attributes: dict[str, Any]) -> Literal["tool", "model", "other"]:
    """The kind by its type; older servers have no type for tools and write spans."""
    kind = str(observation.get("type")).upper()
    if kind == "TOOL" or (kind == "SPAN" and known.kind_of(attributes) == "tool"):
        return "tool"
    return "model" if kind == "GENERATION" else "other"


def _attributes(metadata: Any) -> dict[str, Any]:
    metadata = decoded(metadata)
    attributes = decoded(metadata.get("attributes")) if isinstance(metadata, dict) else None
    return attributes if isinstance(attributes, dict) else {}


def _error(observation: dict[str, Any]) -> str | None:
    if observation.get("level") != "ERROR":
        return None
    output = decoded(observation.get("output"))
    return text(first(observation, "statusMessage", "status_message")) or text(output) or "error"
