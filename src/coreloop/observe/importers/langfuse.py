"""Exports of Langfuse: one request per trace.

Reads a trace downloaded from its page or the API, a session, and lists of traces or observations, as JSON or
JSON lines. Newer servers write ``startTime``, table exports ``start_time``.
"""

from collections.abc import Iterable, Iterator
from typing import Any, Final

from coreloop.observe.importers.files import TraceFile, UnusableFile
from coreloop.observe.importers.otlp import plain, span_of
from coreloop.observe.importers.spans import TraceSpan, read_spans, scored
from coreloop.observe.importers.trace_values import answer_in, decoded, question_in, read_time, text
from coreloop.observe.importers.traced_request import SkippedTrace, TracedRequest
from coreloop.observe.scores import score_of, scores_in

NAME: Final = "langfuse"
SUFFIXES: Final = (".json", ".jsonl")
_OF_A_TRACE: Final = {"observations", "public"}  # either


def read(files: Iterable[TraceFile]) -> Iterator[TracedRequest | SkippedTrace | UnusableFile]:
    """Read the traces that have a tool call, or a question answered by a model."""
    yield from read_spans(NAME, files, _part_of)


def _part_of(value: dict[str, Any]) -> TraceSpan | SkippedTrace | None:
    named = plain(value)
    trace_id, id = text(named.get("traceid")), text(named.get("id"))
    if id and "timestamp" in named and _OF_A_TRACE & named.keys():
        return _trace(named, id)
    if trace_id and id and "type" in named and "starttime" in named:
        return _observation(value, named)
    score = score_of(value) if trace_id else None
    return scored(trace_id, id, (score,)) if trace_id and score else None


def _trace(named: dict[str, Any], id: str) -> TraceSpan:
    return TraceSpan(
        trace_id=id,
        id=f"trace {id}",
        kind="trace",
        name=text(named.get("name")) or "?",
        started=read_time(named["timestamp"]),
        question=question_in(named.get("input")),
        answer=None if named.get("output") is None else answer_in(named["output"]) or "",
        session_id=text(named.get("sessionid")),
        scores=scores_in(named),
    )


def _observation(value: dict[str, Any], named: dict[str, Any]) -> TraceSpan | SkippedTrace | None:
    """An observation as a span: what Langfuse knows of it is in its attributes, and those of the tracer."""
    metadata = decoded(named.get("metadata"))
    traced = decoded(metadata.get("attributes")) if isinstance(metadata, dict) else None
    span = {
        **value,
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
    return span_of(span)
