"""One small log, written in every form of chat messages: each must give the same calls."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from coreloop.base.records import NO_RESULT, REFUSED
from foreign_traces import requests, skips, write_lines

TS = "2026-04-25T09:30:00Z"
FAILED = "limit must be at most 100"


class Call(NamedTuple):
    """A call of ``find`` with its result; None if the trace has none."""

    id: str
    args: dict[str, int]
    result: str | None = '{"rooms": ["r1"]}'

    @property
    def failed(self) -> bool:
        return self.result == FAILED


LOG = [
    [Call("c1", {"limit": 1})],
    [Call("c1", {"limit": 200}, FAILED)],
    [Call("c1", {"limit": 1}, None)],
    [Call("c1", {"limit": 1}), Call("c2", {"limit": 300}, FAILED)],
]


class Form(NamedTuple):
    """How a form writes a text of a role, calls, and results."""

    source: str
    says: Callable[[str, str], Any]
    asks: Callable[[list[Call]], Any]
    gives: Callable[[list[Call]], Any]

    def messages(self, calls: list[Call]) -> list[Any]:
        given = [call for call in reversed(calls) if call.result is not None]
        steps = [self.says("user", "why?"), self.asks(calls), self.gives(given) if given else []]
        steps.append(self.says("assistant", "so"))
        return [message for step in steps for message in (step if isinstance(step, list) else [step])]


def blocks(
    source: str, call: Callable[[Call], Any], result: Callable[[Call], Any], tool: str = "user", **more: Any
) -> Form:
    """A form whose messages are a role and a list of blocks."""
    key, names = more.get("key", "content"), {"assistant": more.get("model", "assistant")}

    def says(role: str, text: str) -> Any:
        return {"role": names.get(role, role), key: [{**more.get("text", {}), "text": text}]}

    return Form(
        source,
        says,
        lambda calls: {"role": names["assistant"], key: [*map(call, calls)]},
        lambda calls: {"role": tool, key: [*map(result, calls)]},
    )


def langchain(wrap: Callable[[str, dict[str, Any]], Any]) -> Form:
    return Form(
        "langchain",
        lambda role, text: wrap("human" if role == "user" else "ai", {"content": text, "tool_calls": []}),
        lambda calls: wrap("ai", {"content": "", "tool_calls": [call_of(c, "args") for c in calls]}),
        lambda calls: [wrap("tool", {"content": c.result, "tool_call_id": c.id, **status(c)}) for c in calls],
    )


def autogen(user: str, asks: str, gives: str, says: str) -> Form:
    def write(kind: str, content: Any) -> Any:
        return {"type": kind, "source": "A", "content": content}

    return Form(
        "autogen",
        lambda role, text: {**write(user if role == "user" else says, text), "source": role},
        lambda calls: write(asks, [{"id": c.id, **written(c)} for c in calls]),
        lambda calls: write(gives, [{"call_id": c.id, "content": c.result, **flag(c)} for c in calls]),
    )


def pydantic_ai(result: Callable[[Call], Any]) -> Form:
    def part(role: str, kind: str, **more: Any) -> Any:
        return {"kind": "request" if role == "user" else "response", "parts": [{"part_kind": kind, **more}]}

    def given(call: Call) -> Any:
        return part("user", **result(call), tool_name="find", tool_call_id=call.id, content=call.result)

    return Form(
        "pydantic-ai",
        lambda role, text: part(role, "user-prompt" if role == "user" else "text", content=text),
        lambda calls: [
            part("", "tool-call", tool_name="find", args=c.args, tool_call_id=c.id) for c in calls
        ],
        lambda calls: [*map(given, calls)],
    )


def call_of(call: Call, args: str, name: str = "name", id: str = "id", **more: Any) -> dict[str, Any]:
    return {id: call.id, name: "find", args: call.args, **more}


def written(call: Call) -> dict[str, Any]:
    return {"name": "find", "arguments": json.dumps(call.args)}


def flag(call: Call, key: str = "is_error") -> dict[str, Any]:
    return {key: call.failed}


def status(call: Call) -> dict[str, Any]:
    return {"status": "error" if call.failed else "success"}


def said(role: str, content: Any) -> dict[str, Any]:
    return {"role": role, "content": content}


def shown(call: Call) -> dict[str, Any]:
    state = (
        "input-available" if call.result is None else "output-error" if call.failed else "output-available"
    )
    result = {"errorText" if call.failed else "output": call.result}
    return call_of(call, "input", "toolName", "toolCallId", type="tool-find", state=state, **result)


TEXT, ASSISTANT = {"type": "text"}, "AssistantMessage"
# fmt: off
FORMS = {
    "openai": Form(
        "openai-chat", said,
        lambda calls: said("assistant", "")
        | {"tool_calls": [{"id": c.id, "function": written(c)} for c in calls]},
        lambda calls: [said("tool", c.result) | {"tool_call_id": c.id, **flag(c)} for c in calls],
    ),
    "responses": Form(
        "openai-responses", said,
        lambda calls: [{"type": "function_call", "id": "fc", "call_id": c.id, **written(c)} for c in calls],
        lambda calls: [
            {"type": "function_call_output", "call_id": c.id, "output": c.result, **flag(c)} for c in calls
        ],
    ),
    "anthropic": blocks(
        "anthropic", lambda c: call_of(c, "input", type="tool_use"),
        lambda c: {"type": "tool_result", "tool_use_id": c.id, "content": c.result, **flag(c)}, text=TEXT,
    ),
    "bedrock": blocks(
        "bedrock", lambda c: {"toolUse": call_of(c, "input", id="toolUseId")},
        lambda c: {"toolResult": {"toolUseId": c.id, "content": [{"text": c.result}], **status(c)}},
    ),
    "vercel-5": blocks(
        "vercel-ai", lambda c: call_of(c, "input", "toolName", "toolCallId", type="tool-call"),
        lambda c: {"type": "tool-result", "toolCallId": c.id,
                   "output": {"type": "error-text" if c.failed else "text", "value": c.result}},
        "tool", text=TEXT,
    ),
    "vercel-4": blocks(
        "vercel-ai", lambda c: call_of(c, "args", "toolName", "toolCallId", type="tool-call"),
        lambda c: {"type": "tool-result", "toolCallId": c.id, "result": c.result, **flag(c, "isError")},
        "tool", text=TEXT,
    ),
    "vercel-ui": blocks("vercel-ai", shown, lambda c: TEXT, "assistant", key="parts", text=TEXT),
    "langchain-dump": langchain(lambda kind, data: {"type": kind, **data}),
    "langchain-dicts": langchain(lambda kind, data: {"type": kind, "data": data}),
    "langchain-load": langchain(lambda kind, data: {"lc": 1, "kwargs": {"type": kind, **data}}),
    "pydantic-ai": pydantic_ai(lambda c: {"kind": "retry-prompt" if c.failed else "tool-return"}),
    "pydantic-ai-2": pydantic_ai(lambda c: {"kind": "tool-return", "outcome": "retried" if c.failed else ""}),
    "autogen": autogen("TextMessage", "ToolCallRequestEvent", "ToolCallExecutionEvent", "TextMessage"),
    "autogen-model": autogen("UserMessage", ASSISTANT, "FunctionExecutionResultMessage", ASSISTANT),
    "gemini": blocks(
        "gemini", lambda c: {"functionCall": call_of(c, "args")},
        lambda c: {"functionResponse": {"id": c.id, "response": {"error" if c.failed else "a": c.result}}},
        key="parts", model="model",
    ),
    "haystack": blocks(
        "haystack", lambda c: {"tool_call": call_of(c, "arguments", "tool_name")},
        lambda c: {"tool_call_result": {"result": c.result, "origin": {"id": c.id}, **flag(c, "error")}},
        "tool",
    ),
}
# fmt: on


@pytest.mark.parametrize("form", FORMS.values(), ids=FORMS)
def test_every_form_gives_the_same_calls(tmp_path: Path, form: Form) -> None:
    chats = [{"id": n, "ts": TS, "messages": form.messages(calls)} for n, calls in enumerate(LOG)]
    read = requests("openai-chat", write_lines(tmp_path / "chats.jsonl", chats))
    assert {request.source for request in read} == {form.source}
    assert [(request.question, request.answer_chars) for request in read] == [("why?", 2)] * 4
    assert [
        [(made.name, made.args, made.error, made.unknown) for made in request.calls] for request in read
    ] == [
        [
            ("find", c.args, FAILED if c.failed else None, None if c.result is not None else NO_RESULT)
            for c in calls
        ]
        for calls in LOG
    ]


def _asks(*ids: str | None, names: str = "ffff") -> Any:
    return {
        "role": "assistant",
        "tool_calls": [{"id": id, "name": name, "args": {}} for id, name in zip(ids, names, strict=False)],
    }


def _gives(content: str, **more: Any) -> Any:
    return {"role": "tool", "content": content, **more}


@pytest.mark.parametrize(
    ("messages", "results"),
    [
        ([_asks("a"), _gives("1")], ["1"]),
        ([_asks("a"), _gives("1", tool_call_ids=["a"])], ["1"]),
        ([_asks("a", "b"), _gives("1"), _gives("2")], ["1", "2"]),
        ([_asks("a", "b"), _gives("1")], [..., ...]),
        ([_asks(None, None, names="fg"), _gives("1", name="g"), _gives("2", name="f")], ["2", "1"]),
        ([_asks("a"), _gives("1", tool_call_id="a"), _asks("a"), _gives("2", tool_call_id="a")], ["1", "2"]),
        ([_gives("1", tool_call_id="a"), _asks("a")], ["1"]),
        ([_asks("a"), _gives("1", tool_call_id="b")], [...]),
        ([_asks("a"), _gives("1", additional_kwargs={"tool_call_id": "a"})], ["1"]),
    ],
)
def test_results_belong_to_calls_where_that_is_unambiguous(
    tmp_path: Path, messages: list[Any], results: list[Any]
) -> None:
    chat = {"ts": TS, "messages": [{"role": "user", "content": "why?"}, *messages]}
    [request] = requests("openai-chat", write_lines(tmp_path / "chats.jsonl", [chat]))
    assert [made.result for made in request.calls] == results
    assert [made.unknown for made in request.calls] == [NO_RESULT if one is ... else None for one in results]


@pytest.mark.parametrize(
    ("part", "unknown", "reasons"),
    [
        ({"type": "tool-find", "toolCallId": "a", "state": "output-denied", "input": {}}, REFUSED, []),
        ({"type": "hologram"}, NO_RESULT, ["message or block of an unknown kind"]),
        (
            {"type": "tool_beam"},
            None,
            ["message or block of an unknown kind", "chat whose calls are of an unknown kind"],
        ),
    ],
)
def test_what_was_not_seen_is_said(
    tmp_path: Path, part: Any, unknown: str | None, reasons: list[str]
) -> None:
    parts = [part, *([{"type": "tool-find", "state": "input-available"}] if unknown == NO_RESULT else [])]
    path = write_lines(
        tmp_path / "chats.jsonl", [{"ts": TS, "messages": [{"role": "assistant", "parts": parts}]}]
    )
    read = requests("openai-chat", path)
    assert [made.unknown for request in read for made in request.calls] == ([unknown] if unknown else [])
    assert skips("openai-chat", path) == reasons


ASKED = {"role": "user", "content": "why?", "timestamp": 1777109400000}
REPLY = {"role": "assistant", "content": "so"}


@pytest.mark.parametrize(
    "envelope",
    [
        {"history": [ASKED, REPLY], "info": {"a": 1}},
        {"messages": json.dumps([ASKED, REPLY])},
        {"request": {"messages": [ASKED], "model": "m"}, "response": {"choices": [{"message": REPLY}]}},
        {"object": "response", "input": "why?", "output": [REPLY], "created_at": 1777109400},
        {"conversations": [{"from": "human", "value": "why?", "ts": TS}, {"from": "gpt", "value": "so"}]},
        {"data": {"chat": [[ASKED, REPLY]]}},
    ],
    ids=["history", "text", "exchange", "response", "sharegpt", "nested"],
)  # fmt: skip
def test_envelopes_and_times(tmp_path: Path, envelope: Any) -> None:
    [request] = requests("openai-chat", write_lines(tmp_path / "chats.jsonl", [envelope]))
    assert (request.question, request.answer_chars, request.ended.isoformat()[:16]) == (
        "why?",
        2,
        "2026-04-25T09:30",
    )
