"""Runs of LangSmith: one request per trace.

Reads runs as the API and the SDK give them: a list, JSON lines, or runs inside their parents.
"""

import re
from collections.abc import Iterable, Iterator
from typing import Any, Final

from coreloop.observe.importers.files import TraceFile, UnusableFile, read_parts
from coreloop.observe.importers.otlp import span_of
from coreloop.observe.importers.spans import TraceSpan, requests
from coreloop.observe.importers.trace_values import decoded, first, listed, text
from coreloop.observe.importers.traced_request import FOREIGN, SkippedTrace, TracedRequest

NAME: Final = "langsmith"
SUFFIXES: Final = (".json", ".jsonl")
_DEEPEST: Final = 12
# For example ``ValueError('no such city')Traceback (most recent call last): …``.
_RAISED: Final = re.compile(r"(\w{1,80})\((['\"])(.{1,2000})\2,?\)(?:Traceback \(|\s*$)", re.DOTALL)
_SESSIONS: Final = ("thread_id", "session_id", "conversation_id")


def read(files: Iterable[TraceFile]) -> Iterator[TracedRequest | SkippedTrace | UnusableFile]:
    """Read the traces that have a tool call, or a question answered by a model."""
    yield from requests(NAME, read_parts(files, lambda document: _parts(document, None, _DEEPEST)))


def _parts(value: Any, trace_id: str | None, depth: int) -> Iterator[TraceSpan | SkippedTrace]:
    if is_run(value):
        trace_id = text(value.get("trace_id")) or trace_id or str(first(value, "parent_run_id", "id"))
        yield _run(value, trace_id)
        value = listed(value.get("child_runs"))
    elif isinstance(value, dict):
        value = [item for item in value.values() if isinstance(item, list | dict)] or None
    if not isinstance(value, list) or not depth:
        yield FOREIGN
        return
    for item in value:
        yield from _parts(item, trace_id, depth - 1)


def is_run(value: Any) -> bool:
    """Whether a value is a run of LangSmith."""
    return isinstance(value, dict) and {"id", "run_type"} <= value.keys()


def _run(run: dict[str, Any], trace_id: str) -> TraceSpan | SkippedTrace:
    extra = decoded(run.get("extra"))
    metadata = decoded(extra.get("metadata")) if isinstance(extra, dict) else None
    metadata = metadata if isinstance(metadata, dict) else {}
    inputs, outputs = decoded(run.get("inputs")), decoded(run.get("outputs"))
    if (
        isinstance(inputs, dict)
        and inputs.keys() == {"input"}
        and (text(inputs["input"]) or "").startswith("{")
    ):
        inputs = inputs["input"]  # LangChain: the arguments as Python's repr
    if isinstance(outputs, dict) and outputs.keys() == {"output"}:
        outputs = outputs["output"]
    stats = run.get("feedback_stats")
    stats = stats.items() if isinstance(stats, dict) else ()
    error = text(run.get("error"))
    raised = _RAISED.match(error) if error else None
    span = {
        "trace_id": trace_id,
        "span_id": run["id"],
        "parent_id": run.get("parent_run_id"),
        "name": run.get("name"),
        "start_time": run.get("start_time"),
        "end_time": run.get("end_time"),
        "status": "error" if error else run.get("status"),
        "status_message": f"{raised[1]}: {raised[3]}" if raised else error,
        "scores": {name: stat.get("avg") for name, stat in stats if isinstance(stat, dict)},
        "attributes": {
            "langfuse.observation.type": run.get("run_type"),
            "input.value": inputs,
            "output.value": outputs,
            "gen_ai.response.model": metadata.get("ls_model_name"),
            "gen_ai.provider.name": metadata.get("ls_provider"),
            "session.id": first(metadata, *_SESSIONS),
        },
    }
    return span_of(span)
