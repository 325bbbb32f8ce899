"""Exports of Langfuse: one request per trace.

A trace downloaded from its page or the API, a session, lists of traces or observations, JSON or JSON lines.
Newer servers write ``startTime``, exports of tables ``start_time``.
"""

from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Any, Final, Literal

from coreloop.observe.importers import attributes as known
from coreloop.observe.importers.files import TraceFile, Unusable, read_documents, read_each
from coreloop.observe.importers.spans import TraceSpan, requests
from coreloop.observe.importers.trace import FOREIGN, NO_TIME, TORN, SkippedTrace, TracedRequest
from coreloop.observe.importers.values import (
    answer_in,
    arguments,
    decoded,
    first,
    question_in,
    read_moment,
    size_bytes,
    text,
)

NAME: Final = "langfuse"
SUFFIXES: Final = (".json", ".jsonl")
_DEEPEST: Final = 4


def read(files: Iterable[TraceFile]) -> Iterator[TracedRequest | SkippedTrace | Unusable]:
    """Every trace that has a tool call, or a question that a model answered."""
    yield from requests(NAME, read_each(files, _read_file))


def _read_file(file: TraceFile) -> Iterator[TraceSpan | SkippedTrace]:
    with file.open() as opened:
        for document in read_documents(opened):
            yield from [TORN] if document is TORN else _parts(document, None, _DEEPEST)


def _parts(value: Any, trace_id: str | None, depth: int) -> Iterator[TraceSpan | SkippedTrace]:
    """Traces and observations of a document; those inside of a trace belong to it."""
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
    if first(value, "type", "startTime", "start_time") is not None:
        yield _observation(value, trace_id)
    elif text(value.get("id")) and first(value, "timestamp", "observations") is not None:
        trace_id = str(value["id"])
        yield _trace(value, trace_id)
    elif not inside and "observations" not in value:
        yield FOREIGN
    observations = value.get("observations")
    for item in observations if isinstance(observations, list) else []:
        if isinstance(item, dict):  # the API may list ids alone
            yield from _parts(item, trace_id, depth - 1)


def _trace(trace: dict[str, Any], trace_id: str) -> TraceSpan:
    return TraceSpan(
        trace_id=trace_id,
        id=f"trace {trace_id}",
        kind="trace",
        name=text(trace.get("name")) or "?",
        begun=read_moment(trace.get("timestamp")),
        question=question_in(trace.get("input")),
        answer=answer_in(trace.get("output")),
        session_id=text(first(trace, "sessionId", "session_id")),
    )


def _observation(found: dict[str, Any], trace_id: str | None) -> TraceSpan | SkippedTrace:
    trace_id = text(first(found, "traceId", "trace_id")) or trace_id
    id = text(found.get("id"))
    if trace_id is None or id is None:
        return FOREIGN
    begun = read_moment(first(found, "startTime", "start_time"))
    if begun is None:
        return NO_TIME
    said = _attributes(found.get("metadata"))
    kind = _kind(found, said)
    common = TraceSpan(
        trace_id=trace_id,
        id=id,
        kind=kind,
        name=text(found.get("name")) or "?",
        parent_id=text(first(found, "parentObservationId", "parent_observation_id")),
        begun=begun,
        ended=read_moment(first(found, "endTime", "end_time")),
        error=_error(found),
        provider=text(first(said, *known.PROVIDER)),
        model=text(first(found, "model", "providedModelName", "provided_model_name")),
        session_id=text(first(found, "sessionId", "session_id")),
    )
    given, gave = found.get("input"), found.get("output")
    if kind != "tool":
        return replace(common, question=question_in(given), answer=answer_in(gave))
    args = arguments(first({"input": given, **said}, "input", *known.ARGUMENTS))
    name = known.tool_name(said, common.name)
    return replace(common, name=name, args=args, result_size_bytes=size_bytes(gave), result=decoded(gave))


def _kind(found: dict[str, Any], said: dict[str, Any]) -> Literal["tool", "model", "other"]:
    """By the type; servers from before there was a type for tools call everything a span."""
    kind = str(found.get("type")).upper()
    if kind == "TOOL" or (kind == "SPAN" and known.kind_of(said) == "tool"):
        return "tool"
    return "model" if kind == "GENERATION" else "other"


def _attributes(metadata: Any) -> dict[str, Any]:
    metadata = decoded(metadata)
    said = decoded(metadata.get("attributes")) if isinstance(metadata, dict) else None
    return said if isinstance(said, dict) else {}


def _error(found: dict[str, Any]) -> str | None:
    if found.get("level") != "ERROR":
        return None
    output = decoded(found.get("output"))
    return text(first(found, "statusMessage", "status_message")) or text(output) or "error"
