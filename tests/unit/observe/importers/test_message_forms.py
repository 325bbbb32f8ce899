"""One small log, as every form of chat messages writes it: each must give the same calls.

Those of LangChain, Pydantic AI and AutoGen are from these themselves (``tests/frameworks``).
"""

import json
from pathlib import Path
from typing import Any

import pytest

from coreloop.base.records import NO_RESULT, REFUSED
from foreign_traces import requests, skips, write_lines

TS = "2026-04-25T09:30:00Z"
FAILED = "limit must be at most 100"
FORMS = [
    json.loads(line)
    for line in Path(__file__).with_name("message_forms.jsonl").read_text("utf-8").splitlines()
]


@pytest.mark.parametrize("form", FORMS, ids=lambda form: form["form"])
def test_every_form_gives_the_same_calls(tmp_path: Path, form: dict[str, Any]) -> None:
    chats = [{"id": n, "ts": TS, "messages": messages} for n, messages in enumerate(form["chats"])]
    read = requests("openai-chat", write_lines(tmp_path / "chats.jsonl", chats))
    assert {(made.source, made.question, made.answer_chars) for made in read} == {(form["source"], "why?", 2)}
    assert [
        [(made.args["limit"], made.error, made.unknown) for made in request.calls] for request in read
    ] == [
        [(1, None, None)],
        [(200, FAILED, None)],
        [(1, None, NO_RESULT)],
        [(1, None, None), (300, FAILED, None)],
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
        ([{**_asks("a"), "tool_calls": json.dumps(_asks("a")["tool_calls"])}, _gives("1")], ["1"]),
        ([_asks("a", "b"), _gives("1"), _gives("2")], ["1", "2"]),
        ([_asks("a", "b"), _gives("1")], [..., ...]),
        ([_asks(None, None, names="fg"), _gives("1", name="g"), _gives("2", name="f")], ["2", "1"]),
        ([_asks("a"), _gives("1", tool_call_id="a"), _asks("a"), _gives("2", tool_call_id="a")], ["1", "2"]),
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
        {"input": [ASKED], "response": {"object": "response", "output": [REPLY]}},
        {"data": {"chat": [[ASKED, REPLY]]}},
    ],
    ids=["history", "text", "exchange", "response", "responses", "nested"],
)  # fmt: skip
def test_envelopes_and_times(tmp_path: Path, envelope: Any) -> None:
    [request] = requests("openai-chat", write_lines(tmp_path / "chats.jsonl", [envelope]))
    assert (request.question, request.answer_chars, request.ended.isoformat()[:16]) == (
        "why?",
        2,
        "2026-04-25T09:30",
    )


def test_lines_that_are_messages_are_a_chat_for_each_session(tmp_path: Path) -> None:
    lines = [{**message, "thread_id": id} for message in (ASKED, REPLY) for id in ("a", "b")]
    read = requests("openai-chat", write_lines(tmp_path / "rows.jsonl", lines))
    assert [(request.session_id, request.question, request.answer_chars) for request in read] == [
        ("a", "why?", 2),
        ("b", "why?", 2),
    ]


def test_conversation_that_is_saved_at_each_step_counts_once(tmp_path: Path) -> None:
    other = {"role": "user", "content": "how?"}
    steps = [
        [ASKED],
        [other],
        [ASKED, REPLY],
        [ASKED, REPLY, other],
        [ASKED, REPLY, other, REPLY],
        [ASKED, other],
    ]
    lines = [{"ts": TS, "messages": messages} for messages in steps]
    lines[2] = {"ts": TS, "request": {"messages": [ASKED]}, "response": {**REPLY, "annotations": []}}
    read = requests("openai-chat", write_lines(tmp_path / "chats.jsonl", lines))
    assert sorted((request.question, request.rounds) for request in read) == [
        ("how?", 0),
        ("why?", 0),
        ("why?", 2),
    ]
