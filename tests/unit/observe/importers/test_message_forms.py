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
Say, Write = Callable[[str], Any], Callable[[Any], Any]


class Form(NamedTuple):
    """How a form writes a question, calls, results, and an answer."""

    source: str
    asks: Say
    calls: Write
    gives: Write
    says: Say

    def messages(self, calls: list[Call]) -> list[Any]:
        given = [call for call in reversed(calls) if call.result is not None]
        steps = [self.asks("why?"), self.calls(calls), self.gives(given) if given else [], self.says("so")]
        return [message for step in steps for message in (step if isinstance(step, list) else [step])]


def each(write: Write) -> Write:
    return lambda calls: [write(call) for call in calls]


def by_role(role: str, write: Write, key: str = "content") -> Write:
    return lambda body: {"role": role, key: write(body)}


def langchain(wrap: Callable[[str, dict[str, Any]], Any]) -> Form:
    def asked(calls: list[Call]) -> Any:
        return wrap(
            "ai", {"content": "", "tool_calls": each(lambda c: _call(c, "args", "name", "id"))(calls)}
        )

    def given(call: Call) -> Any:
        status = "error" if call.failed else "success"
        return wrap("tool", {"content": call.result, "tool_call_id": call.id, "status": status})

    says = lambda text: wrap("ai", {"content": text, "tool_calls": []})  # noqa: E731
    return Form("langchain", lambda text: wrap("human", {"content": text}), asked, each(given), says)


def blocks(
    source: str, call: Write, result: Write, tool: str = "user", *, key: str = "content", text: Any = None
) -> Form:
    """A form whose messages are a role and a list of blocks."""
    one: Write = text or (lambda body: [{"text": body}])
    model = "model" if source == "gemini" else "assistant"
    calls, results = by_role(model, each(call), key), by_role(tool, each(result), key)
    return Form(source, by_role("user", one, key), calls, results, by_role(model, one, key))


def _call(call: Call, args: str, name: str, id: str, **more: Any) -> dict[str, Any]:
    return {id: call.id, name: "find", args: call.args, **more}


def _texts(call: Call) -> dict[str, Any]:
    return {"name": "find", "arguments": json.dumps(call.args)}


def autogen(user: str, calls: str, gives: str, says: str) -> Form:
    def write(kind: str, source: str = "A") -> Write:
        return lambda content: {"type": kind, "content": content, "source": source}

    return Form(
        "autogen",
        write(user, "user"),
        lambda made: write(calls)([{"id": c.id, **_texts(c)} for c in made]),
        lambda made: write(gives)(
            [{"call_id": c.id, "name": "find", "content": c.result, "is_error": c.failed} for c in made]
        ),
        write(says),
    )


def _typed(text: str) -> Any:
    return [{"type": "text", "text": text}]


def _ui(call: Call) -> Any:
    state = (
        "input-available" if call.result is None else "output-error" if call.failed else "output-available"
    )
    result = {"errorText" if call.failed else "output": call.result}
    return {"type": "tool-find", "toolCallId": call.id, "state": state, "input": call.args, **result}


def _part(kind: str, part: str, **more: Any) -> Any:
    return {"kind": kind, "parts": [{"part_kind": part, **more}]}


FORMS = {
    "openai": Form(
        "openai-chat",
        by_role("user", str),
        by_role("assistant", each(lambda c: {"id": c.id, "function": _texts(c)}), "tool_calls"),
        each(lambda c: {"role": "tool", "tool_call_id": c.id, "content": c.result, "is_error": c.failed}),
        by_role("assistant", str),
    ),
    "responses": Form(
        "openai-responses",
        by_role("user", str),
        each(lambda c: {"type": "function_call", "id": f"fc_{c.id}", "call_id": c.id, **_texts(c)}),
        each(
            lambda c: {
                "type": "function_call_output",
                "call_id": c.id,
                "output": c.result,
                "error": FAILED if c.failed else None,
            }
        ),
        by_role("assistant", lambda text: [{"type": "output_text", "text": text}]),
    ),
    "anthropic": blocks(
        "anthropic",
        lambda c: _call(c, "input", "name", "id", type="tool_use"),
        lambda c: {"type": "tool_result", "tool_use_id": c.id, "content": c.result, "is_error": c.failed},
        text=_typed,
    ),
    "bedrock": blocks(
        "bedrock",
        lambda c: {"toolUse": _call(c, "input", "name", "toolUseId")},
        lambda c: {
            "toolResult": {
                "toolUseId": c.id,
                "content": [{"text": c.result}],
                "status": "error" if c.failed else "success",
            }
        },
    ),
    "vercel-model": blocks(
        "vercel-ai",
        lambda c: _call(c, "input", "toolName", "toolCallId", type="tool-call"),
        lambda c: {
            "type": "tool-result",
            "toolCallId": c.id,
            "output": {"type": "error-text" if c.failed else "text", "value": c.result},
        },
        "tool",
        text=_typed,
    ),
    "vercel-v4": blocks(
        "vercel-ai",
        lambda c: _call(c, "args", "toolName", "toolCallId", type="tool-call"),
        lambda c: {"type": "tool-result", "toolCallId": c.id, "result": c.result, "isError": c.failed},
        "tool",
        text=_typed,
    ),
    "vercel-ui": Form(
        "vercel-ai",
        by_role("user", _typed, "parts"),
        by_role("assistant", each(_ui), "parts"),
        lambda calls: [],
        by_role("assistant", _typed, "parts"),
    ),
    "langchain-model-dump": langchain(lambda kind, data: {"type": kind, **data}),
    "langchain-dicts": langchain(lambda kind, data: {"type": kind, "data": {"type": kind, **data}}),
    "langchain-dumpd": langchain(
        lambda kind, data: {
            "lc": 1,
            "type": "constructor",
            "id": ["langchain", "Message"],
            "kwargs": {"type": kind, **data},
        }
    ),
    "pydantic-ai": Form(
        "pydantic-ai",
        lambda text: _part("request", "user-prompt", content=text),
        each(lambda c: _part("response", "tool-call", tool_name="find", args=c.args, tool_call_id=c.id)),
        each(
            lambda c: _part(
                "request",
                "retry-prompt" if c.failed else "tool-return",
                tool_name="find",
                content=c.result,
                tool_call_id=c.id,
            )
        ),
        lambda text: _part("response", "text", content=text),
    ),
    "autogen-events": autogen("TextMessage", "ToolCallRequestEvent", "ToolCallExecutionEvent", "TextMessage"),
    "autogen-context": autogen(
        "UserMessage", "AssistantMessage", "FunctionExecutionResultMessage", "AssistantMessage"
    ),
    "gemini": blocks(
        "gemini",
        lambda c: {"functionCall": _call(c, "args", "name", "id")},
        lambda c: {
            "functionResponse": {
                "id": c.id,
                "name": "find",
                "response": {"error" if c.failed else "output": c.result},
            }
        },
        key="parts",
    ),
    "haystack": blocks(
        "haystack",
        lambda c: {"tool_call": _call(c, "arguments", "tool_name", "id")},
        lambda c: {"tool_call_result": {"result": c.result, "origin": {"id": c.id}, "error": c.failed}},
        "tool",
    ),
}


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
        "tool_calls": [{"id": id, "name": name, "args": {}} for id, name in zip(ids, names)],
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
        {"conversations": [{"from": "human", "value": "why?", "createdAt": TS}, {"from": "gpt", "value": "so"}]},
        {"data": {"chat": [[ASKED, REPLY]]}},
        {"messages": [{"author": "user", "content": {"role": "user", "parts": [{"text": "why?"}]}, "timestamp": 1777109400.5}, {"author": "a", "content": {"role": "model", "parts": [{"text": "so"}]}}]},
    ],
    ids=["history", "text", "exchange", "response", "sharegpt", "nested", "events"],
)  # fmt: skip
def test_envelopes_and_times(tmp_path: Path, envelope: Any) -> None:
    [request] = requests("openai-chat", write_lines(tmp_path / "chats.jsonl", [envelope]))
    assert (request.question, request.answer_chars, request.ended.isoformat()[:16]) == (
        "why?",
        2,
        "2026-04-25T09:30",
    )
