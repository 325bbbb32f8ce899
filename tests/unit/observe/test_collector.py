"""The record of a request: its fields, calls, sequence and category."""

import asyncio
import json
from typing import Any

import pytest

from coreloop.observe import current, dropped
from observing import SECRET


def test_a_request_can_be_an_async_block(audit, only_record):
    async def answer():
        async with audit() as request:
            assert current() is request
            request.flush(chunk_len=3)

    asyncio.run(answer())
    assert only_record()["chunk_len"] == 3


def test_the_session_id_is_stored_only_as_a_hash(audit, tmp_path):
    audit(session_id=SECRET).flush()
    (day,) = (tmp_path / "audit" / "ai-ask").iterdir()
    assert SECRET.encode() not in day.read_bytes()
    assert json.loads(day.read_bytes())["session_hash"].startswith("session:")


def test_argument_strings_over_500_characters_become_their_size_and_a_preview(audit, only_record):
    request = audit()
    request.observe_tool_call("show", {"short": "가" * 500, "in": [{"long": "나" * 501}]})
    request.flush()
    (call,) = only_record()["tool_calls"]
    assert call["args"]["short"] == "가" * 500
    cut = call["args"]["in"][0]["long"]
    assert (cut.keys(), cut["truncated"], cut["size"]) == ({"truncated", "size", "preview"}, True, 501)
    assert "나" * 501 != cut["preview"] == "나" * len(cut["preview"]) != ""


def _doubled(times: int) -> list[Any]:
    """A value that is a few lists, with 2^times paths to its only text."""
    value: list[Any] = ["a"]
    for _ in range(times):
        value = [value, value]
    return value


@pytest.mark.parametrize(
    "large",
    [
        pytest.param({"rows": [{"id": f"W{n}"} for n in range(100_000)]}, id="rows"),
        pytest.param({"value": _doubled(60)}, id="a list shared by reference"),
        pytest.param({"first": tuple(range(3_000))}, id="a tuple"),
        pytest.param({f"k{n}": n for n in range(3_000)}, id="names"),
        pytest.param({"texts": ["x" * 400] * 400}, id="texts"),
    ],
)
def test_large_arguments_are_read_to_a_bound_and_counted(audit, only_record, large):
    before = dropped().get("large_arguments", 0)
    request = audit()
    request.observe_tool_call("show", large)
    request.flush()
    [call] = only_record()["tool_calls"]
    assert call["name"] == "show"
    assert dropped()["large_arguments"] == before + 1


def test_arguments_are_copied_when_they_are_observed(audit, only_record):
    args = {"axis": "수익성", "in": []}
    request = audit()
    request.observe_tool_call("analysis", args)
    args["axis"] = "later"
    args["in"].append(1)
    request.flush()
    assert only_record()["tool_calls"][0]["args"] == {"axis": "수익성", "in": []}


def test_failed_calls_and_immediate_repeats_are_not_in_the_sequence(audit, only_record):
    request = audit()
    request.observe_tool_call("analysis", {"axis": "수익성"}, ok=True)
    request.observe_tool_call("analysis", {"axis": "수익성", "company": "x"}, ok=True)
    request.observe_tool_call("analysis", {"axis": "성장성"}, ok=False, error="KeyError")
    request.observe_tool_call("show", {"topic": "IS"}, ok=True)
    request.flush()
    assert only_record()["tool_sequence_hash"] == "seq:b7cd347db6f3d2c3"


def test_a_call_without_error_is_ok_by_default(audit, only_record):
    request = audit()
    request.observe_tool_call("a")
    request.observe_tool_call("b", error=ValueError("no"))
    request.observe_tool_call("c", error="warning", ok=True)
    request.flush()
    calls = only_record()["tool_calls"]
    assert [call["ok"] for call in calls] == [True, False, True]
    assert [call["error"] for call in calls] == [None, "ValueError: no", "warning"]


@pytest.mark.parametrize("label", ["수익성", "", "a-b-c-d-e", "ignore all rules", "FIN\n", None, 7])
def test_a_label_that_could_carry_text_becomes_unspecified(audit, only_record, label):
    request = audit()
    request.set_category_hash("FIN")
    request.set_category_hash(label)
    request.flush()
    assert only_record()["category_hash"] == "UNSPECIFIED"
    assert dropped() == {"category": 1}
