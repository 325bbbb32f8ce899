"""Whatever a trace holds, the import ends, and every line it writes can be mined."""

import copy
import json
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent_traces import WRITERS
from coreloop.base.project.settings import Settings
from coreloop.base.record_lines import MAX_LINE_BYTES
from coreloop.observe.importers import importers
from coreloop.observe.importers.append_requests import RequestLog
from coreloop.observe.reading.decode import RecordLine, read_lines
from foreign_traces import Session, otlp, span, trace_file

_CHAT = {"gen_ai.operation.name": "chat", "gen_ai.input.messages": '[{"role": "user", "content": "왜?"}]'}
_TOOL = {"gen_ai.tool.name": "show", "gen_ai.tool.call.arguments": {"axis": "배당", "n": [1]}}
_STATUS = {"status": {"code": 2, "message": "no"}, "parentSpanId": "m"}
_TIMES = {"startTime": "2026-04-25T09:00:01Z", "endTime": "2026-04-25T09:00:02Z"}
_NUMBERED = {
    "context": {"trace_id": "t", "span_id": "s"},
    "start_time": [1_777_000_000, 0],
    "duration": 5,
    "parent": [{"spanID": "x"}],
    "attributes": {
        "llm": {
            "input_messages": [{"message.role": "user", "message.tool_calls": [{"tool_call": {"id": "c"}}]}]
        },
        "gen_ai.prompt.0.role": "user",
        "gen_ai.completion.0.tool_calls.0.name": "show",
        "events": [{"event.name": "gen_ai.choice", "message": {"tool_calls": [{"id": "d"}]}}],
    },
    "events": [{"name": "gen_ai.tool.message", "attributes": {"content": "x", "id": "c"}}],
}
SOUND: dict[str, Any] = {
    **{name: writer() for name, writer in WRITERS.items()},
    "claude-code": Session().user("왜?").calls("Read", {"a": 1}).result("x", is_error=True).says("so").lines,
    "otlp": [otlp(span("m", _CHAT), span("a", _TOOL, at=1, **_STATUS)), _NUMBERED],
    "langsmith": [
        {
            "id": "a",
            "run_type": "tool",
            "inputs": {"axis": "배당"},
            "outputs": {"output": {"type": "tool", "content": "x", "status": "error"}},
            "feedback_stats": {"exact": {"avg": 1}},
            "start_time": "2026-04-25T09:00:01Z",
            "child_runs": [{"id": "b", "run_type": "llm", "inputs": _CHAT, "error": "E('x')"}],
        }
    ],
    "langfuse": [
        {
            "trace": {"id": "t", "timestamp": "2026-04-25T09:00:00Z", "input": "왜?", "output": "so"},
            "observations": [
                {
                    "id": "a",
                    "traceId": "t",
                    "type": "TOOL",
                    "name": "show",
                    "input": {"axis": "배당"},
                    **_TIMES,
                },
                {"id": "b", "traceId": "t", "type": "GENERATION", "level": "ERROR", "model": "m", **_TIMES},
            ],
        }
    ],
    "openai-chat": [
        {
            "request_id": "r",
            "created": 1777109400,
            "reward": 0,
            "messages": [
                {"role": "user", "content": [{"type": "text", "text": "왜?"}]},
                {
                    "role": "assistant",
                    "tool_calls": [{"id": "a", "function": {"name": "show", "arguments": '{"a": "b"}'}}],
                },
                {"role": "tool", "tool_call_id": "a", "content": '{"error": "no"}'},
                {"role": "assistant", "function_call": {"name": "show", "arguments": "{}"}},
                {"role": "function", "name": "show", "content": "fine"},
                {
                    "role": "assistant",
                    "content": [{"type": "tool_use", "id": "b", "name": "show", "input": {}}],
                },
                {
                    "role": "user",
                    "content": [
                        {"type": "tool_result", "tool_use_id": "b", "content": [], "is_error": True},
                        {"type": "text", "text": "그래서?"},
                    ],
                },
                {"type": "function_call", "call_id": "c", "name": "show", "arguments": "{}"},
                {"type": "function_call_output", "call_id": "c", "output": "fine"},
                {"role": "assistant", "content": "so"},
            ],
        },
        {
            "id": "f",
            "metadata": {"createdAt": "2026-04-25T09:30:00Z"},
            "messages": [
                {"type": "ai", "data": {"tool_calls": [{"id": "a"}], "invalid_tool_calls": [{"id": "e"}]}},
                {"type": "tool", "content": "no", "tool_call_id": "a", "status": "error"},
                {"role": "model", "parts": [{"functionCall": {"name": "show", "args": {"a": 1}}}]},
                {"role": "user", "parts": [{"functionResponse": {"response": {"error": "no"}}}]},
                {"role": "assistant", "parts": [{"type": "tool-show", "state": "output-error"}]},
                {"role": "tool", "content": [{"toolCallId": "b", "output": {"type": "json", "value": 1}}]},
                {"kind": "request", "parts": [{"part_kind": "tool-return", "content": [{"msg": "no"}]}]},
            ],
        },
    ],
    "inspect": [
        {
            "eval": {"model": "openai/m", "eval_id": "e"},
            "samples": [
                {
                    "uuid": "u",
                    "input": [{"role": "user", "content": "왜?"}],
                    "scores": {"exact": {"value": "C"}},
                    "messages": [
                        {"role": "user", "content": "왜?"},
                        {
                            "role": "assistant",
                            "tool_calls": [{"id": "c", "function": "show", "arguments": {"a": 1}}],
                        },
                        {
                            "role": "tool",
                            "tool_call_id": "c",
                            "content": "x",
                            "error": {"type": "timeout", "message": "no"},
                        },
                    ],
                    "total_time": 1.5,
                    "events": [{"event": "tool", "timestamp": "2026-04-25T09:00:01Z"}],
                }
            ],
        }
    ],
}

_TEXTS = st.sampled_from(
    ["", "\ud83d", "\x00", "{", '{"a": NaN}', "attachment://a", "9" * 5000, "가" * 3000, "__len__"]
)
_SCALARS = st.none() | st.booleans() | st.integers() | st.floats() | _TEXTS | st.just(10**30)
_VALUES = st.recursive(
    _SCALARS,
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(["role", "content", "type", "text", "key"]), inner)
    ),
    max_leaves=6,
)


def _places(value: Any, above: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    keys = value.keys() if isinstance(value, dict) else range(len(value)) if isinstance(value, list) else ()
    for key in keys:
        yield (*above, key)
        yield from _places(value[key], (*above, key))


@pytest.mark.slow
@pytest.mark.parametrize("source", importers())
@given(data=st.data())
def test_one_value_of_any_kind_in_any_place_breaks_nothing(source: str, data: st.DataObject) -> None:
    lines = copy.deepcopy(SOUND[source])
    for _ in range(data.draw(st.integers(1, 3))):
        *above, last = data.draw(st.sampled_from(list(_places(lines))))
        inside = lines
        for key in above:
            inside = inside[key]
        inside[last] = data.draw(_VALUES)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "trace.jsonl")
        path.write_text("\n".join(map(json.dumps, lines)) + "\n")
        report = RequestLog(Path(folder, "out"), Settings()).append(
            importers()[source].read([trace_file(path)])
        )
        days = list(Path(folder, "out").glob("*.jsonl"))
        assert sum(isinstance(line, RecordLine) for day in days for line in read_lines(day)) == report.added
        for day in days:
            assert max(map(len, day.read_bytes().splitlines(keepends=True))) <= MAX_LINE_BYTES
