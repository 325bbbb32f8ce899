"""The adapter of the Claude Agent SDK, by messages of its shape; `tests/frameworks` drives the SDK itself."""

import asyncio
import contextlib
import json
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from coreloop.observe.adapters.claude_agent import failure, record_client, record_messages
from coreloop.observe.adapters.plain_values import UNKNOWN_TOOL


@dataclass
class ToolUseBlock:
    id: str
    name: str
    input: dict[str, Any]


@dataclass
class ToolResultBlock:
    tool_use_id: str
    content: Any = None
    is_error: bool | None = None


@dataclass
class AssistantMessage:
    content: list[Any]
    model: str = "claude-x"
    parent_tool_use_id: str | None = None
    message_id: str | None = None
    session_id: str | None = "s"
    uuid: str | None = None


@dataclass
class UserMessage:
    content: Any
    parent_tool_use_id: str | None = None


@dataclass
class ResultMessage:
    result: str | None = "done"
    is_error: bool = False
    subtype: str = "success"
    errors: list[str] | None = None
    usage: Any = field(default_factory=lambda: {"input_tokens": 7, "output_tokens": 3})
    total_cost_usd: float | None = 0.5


class Client:
    def __init__(self, *turns: list[Any]) -> None:
        self.turns = list(turns)
        self.asked: list[str] = []

    async def query(self, prompt: str) -> None:
        self.asked.append(prompt)

    async def receive_messages(self) -> AsyncIterator[Any]:
        for message in self.turns.pop(0):
            if isinstance(message, BaseException):
                raise message
            yield message


def recorded(folder: Path, *turns: list[Any]) -> list[dict[str, Any]]:
    client = record_client(Client(*turns), folder)

    async def drive() -> None:
        for number in range(len(turns)):
            await client.query(f"question {number}")
            async for _ in client.receive_messages():
                pass

    with contextlib.suppress(asyncio.CancelledError, KeyError):
        asyncio.run(drive())
    assert client.asked[0] == "question 0"
    days = (folder / "audit" / "ai-ask").glob("*.jsonl")
    return [json.loads(line) for day in days for line in day.read_text().splitlines()]


def test_turn_is_a_record_and_a_reply_in_two_messages_counts_once(tmp_path: Path) -> None:
    turn = [
        AssistantMessage([ToolUseBlock("1", "find", {"city": "Oslo"})], message_id="m1"),
        AssistantMessage([ToolUseBlock("2", "nope", {})], message_id="m1"),
        UserMessage([ToolResultBlock("1", [{"type": "text", "text": '{"success": false}'}])]),
        UserMessage(
            [
                ToolResultBlock(
                    "2", "<tool_use_error>Error: No such tool available: nope</tool_use_error>", True
                )
            ]
        ),
        AssistantMessage([], message_id="m2"),
        ResultMessage(),
    ]
    first, second = recorded(tmp_path, turn, [AssistantMessage([], message_id="m3"), ResultMessage("yes")])
    assert [(call["name"], call["ok"], call["error"]) for call in first["tool_calls"]] == [
        ("find", False, first["tool_calls"][0]["error"]),
        ("nope", False, UNKNOWN_TOOL),
    ]
    assert (first["question"], first["rounds"], first["chunk_len"], first["model"]) == (
        "question 0",
        2,
        4,
        "claude-x",
    )
    assert (first["input_tokens"], first["output_tokens"], first["cost_usd"]) == (7, 3, 0.5)
    assert (second["question"], second["chunk_len"]) == ("question 1", 3)


def test_sub_agent_has_a_record_of_its_own(tmp_path: Path) -> None:
    turn = [
        AssistantMessage([ToolUseBlock("t", "Task", {"prompt": "look it up"})]),
        AssistantMessage([ToolUseBlock("g", "Grep", {"pattern": "x"})], parent_tool_use_id="t"),
        UserMessage([ToolResultBlock("g", "found")], parent_tool_use_id="t"),
        UserMessage([ToolResultBlock("t", "it is there")]),
        ResultMessage(),
    ]
    inner, outer = recorded(tmp_path, turn)
    assert (inner["question"], [call["name"] for call in inner["tool_calls"]]) == ("look it up", ["Grep"])
    assert [call["name"] for call in outer["tool_calls"]] == ["Task"]
    assert inner["parent_request_id"] == outer["request_id"]


@pytest.mark.parametrize(
    ("end", "error"),
    [
        (ResultMessage(None, is_error=True, subtype="error_max_turns"), "error_max_turns"),
        (ResultMessage("API Error: 529", is_error=True), "API Error: 529"),
        (ResultMessage(None, is_error=True, errors=["a", "b"]), "a; b"),
        (asyncio.CancelledError(), "CancelledError"),
    ],
)
def test_failed_turn_has_its_reason_and_its_open_calls_failed(end: Any, error: str, tmp_path: Path) -> None:
    (record,) = recorded(tmp_path, [AssistantMessage([ToolUseBlock("1", "find", {})]), end])
    assert record["error"].removesuffix(": ") == error
    assert [call["ok"] for call in record["tool_calls"]] == [False]


def test_messages_of_query_are_recorded_and_passed_on(tmp_path: Path) -> None:
    messages = [AssistantMessage([]), ResultMessage("hello")]

    async def drive() -> list[Any]:
        client = Client(messages)
        return [message async for message in record_messages(client.receive_messages(), "why?", tmp_path)]

    assert asyncio.run(drive()) == messages
    (day,) = (tmp_path / "audit" / "ai-ask").glob("*.jsonl")
    assert json.loads(day.read_text())["question"] == "why?"


BASH = """<tool_use_error>InputValidationError: Bash failed due to the following issues:
The required parameter `command` is missing
An unexpected parameter `cmd` was provided</tool_use_error>"""
BOTH = "required parameter `command` is missing; unexpected parameter `cmd` was provided"
CHECKED = "Input validation error: "


@pytest.mark.parametrize(
    ("told", "args", "reason"),
    [
        (f"{CHECKED}'seats' is a required property", {}, "seats: required"),
        (f"{CHECKED}'Zq7 four' is not of type 'integer'", {"n": "Zq7 four"}, "n: is not of type 'integer'"),
        (
            f"{CHECKED}4000 is greater than the maximum of 20",
            {"n": 4000},
            "n: is greater than the maximum of 20",
        ),
        (
            f"{CHECKED}'four' is not of type 'integer'\n\nThis tool's input schema was not in your prompt",
            {"n": "four"},
            "n: is not of type 'integer'",
        ),
        (BASH, {"cmd": "ls"}, BOTH),
        (f"{CHECKED}something else", {"a": "secret"}, "rejected before the tool ran"),
    ],
)
def test_rejection_names_the_argument_and_never_its_value(
    told: str, args: dict[str, Any], reason: str
) -> None:
    assert failure(told, args) == f"invalid_argument: {reason}"
