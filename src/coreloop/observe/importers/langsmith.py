"""Runs of LangSmith: one request per trace.

Reads runs as the API and the SDK give them: a list, JSON lines, or runs inside their parents.
"""

import re
from collections.abc import Iterable, Iterator
from typing import Any, Final

from coreloop.observe.importers.files import TraceFile, UnusableFile
from coreloop.observe.importers.otlp import span_of
from coreloop.observe.importers.spans import TraceSpan, read_spans
from coreloop.observe.importers.trace_values import decoded, first, text
from coreloop.observe.importers.traced_request import SkippedTrace, TracedRequest

NAME: Final = "langsmith"
SUFFIXES: Final = (".json", ".jsonl")
# For example ``ValueError('no such city')Traceback (most recent call last): …``.
_RAISED: Final = re.compile(r"(\w{1,80})\((['\"])(.{1,2000})\2,?\)(?:Traceback \(|\s*$)", re.DOTALL)


def read(files: Iterable[TraceFile]) -> Iterator[TracedRequest | SkippedTrace | UnusableFile]:
    """Read the traces that have a tool call, or a question answered by a model."""
    yield from read_spans(NAME, files, _span_in)


def _span_in(run: dict[str, Any]) -> TraceSpan | SkippedTrace | None:
    if "run_type" not in run:
        return None
    error, inputs = text(run.get("error")), _unwrapped(run.get("inputs"), "input")
    raised = _RAISED.match(error) if error else None
    span = {
        **run,
        "trace_id": first(run, "trace_id", "parent_run_id", "id"),
        "span_id": run.get("id"),
        "parent_id": run.get("parent_run_id"),
        "status": "error" if error else run.get("status"),
        "status_message": f"{raised[1]}: {raised[3]}" if raised else error,
        "scores": run.get("feedback_stats"),
        "attributes": {
            "langfuse.observation.type": run["run_type"],
            # LangChain writes the arguments as Python's repr.
            "input.value": inputs if (text(inputs) or "").startswith("{") else decoded(run.get("inputs")),
            "output.value": _unwrapped(run.get("outputs"), "output"),
            "extra": decoded(run.get("extra")),
        },
    }
    return span_of(span)


def _unwrapped(value: Any, name: str) -> Any:
    """What an object with nothing else holds under a name."""
    value = decoded(value)
    return value[name] if isinstance(value, dict) and value.keys() == {name} else value
