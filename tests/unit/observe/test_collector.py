"""The record of a request: its fields, calls, sequence and category."""

import json
from typing import Any

import pytest

from coreloop.observe import dropped
from observing import SECRET


def test_the_session_id_is_stored_only_as_a_hash(audit, tmp_path):
    audit(session_id=SECRET).flush()
    (day,) = (tmp_path / "audit" / "ai-ask").iterdir()
    assert SECRET.encode() not in day.read_bytes()
    assert json.loads(day.read_bytes())["session_hash"].startswith("session:")


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


def test_failed_calls_and_immediate_repeats_are_not_in_the_sequence(audit, only_record):
    request = audit()
    request.observe_tool_call("analysis", {"axis": "수익성"}, ok=True)
    request.observe_tool_call("analysis", {"axis": "수익성", "company": "x"}, ok=True)
    request.observe_tool_call("analysis", {"axis": "성장성"}, ok=False, error="KeyError")
    request.observe_tool_call("show", {"topic": "IS"}, ok=True)
    request.flush()
    assert only_record()["tool_sequence_hash"] == "seq:b7cd347db6f3d2c3"


@pytest.mark.parametrize("label", ["수익성", "", "a-b-c-d-e", "ignore all rules", "FIN\n", None, 7])
def test_a_label_that_could_carry_text_becomes_unspecified(audit, only_record, label):
    request = audit()
    request.set_category_hash("FIN")
    request.set_category_hash(label)
    request.flush()
    assert only_record()["category_hash"] == "UNSPECIFIED"
    assert dropped() == {"category": 1}
