"""What each framework's adapter records of 200 planned requests: every call that the model made."""

from collections import Counter
from functools import cache
from typing import Any

import pytest

from coreloop.base.error_classes import error_class
from frameworks.environments import drive as run_drive
from frameworks.planned import KINDS, REJECTED, SECRET, calls_of, expected, n_planned, plan

pytestmark = pytest.mark.frameworks
DRIVES = {
    "pydantic_ai_slim": "pydantic-ai-slim",
    "openai_agents": "openai-agents",
    "langchain": "langchain",
}
"""Script in drives/ -> the distribution that it needs."""
EVERY_DRIVE = pytest.mark.parametrize("drive", DRIVES)


@cache
def driven(drive: str) -> tuple[dict[str, dict[str, Any]], dict[str, int]]:
    """Question -> record, and what was dropped."""
    records, printed = run_drive(f"drive_{drive}", DRIVES[drive], plan())
    by_question = {record["question"]: record for record in records}
    assert len(by_question) == len(records)  # one record a request
    return by_question, printed[-1]


def test_plan_has_every_kind_of_call_and_end() -> None:
    counts = n_planned(plan())
    assert set(counts) == set(KINDS)
    assert min(counts.values()) >= 30
    assert set(Counter(request["end"] for request in plan())) == {
        "answer",
        "stream",
        "cancel",
        "model_error",
        "nested",
    }


@EVERY_DRIVE
def test_every_call_that_the_model_made_is_recorded_as_planned(drive: str) -> None:
    records, dropped = driven(drive)
    assert dropped == {}
    for request in plan():
        record = records[request["question"]]
        planned = expected(request)
        shown = calls_of(record)
        assert shown == planned, request


@EVERY_DRIVE
def test_rejected_argument_is_named_and_its_value_is_not(drive: str) -> None:
    records, _ = driven(drive)
    n_checked = 0
    for request in plan():
        planned = [call for calls in request["rounds"] for call in calls]
        for call, recorded in zip(planned, records[request["question"]]["tool_calls"], strict=False):
            if call["kind"] not in REJECTED:
                continue
            n_checked += 1
            assert SECRET not in recorded["error"]
            assert any(name in recorded["error"] for name in REJECTED[call["kind"]]), recorded
    assert n_checked > 150


@EVERY_DRIVE
def test_end_of_a_request_is_recorded(drive: str) -> None:
    records, _ = driven(drive)
    for request in plan():
        record = records[request["question"]]
        assert "session_hash" not in record  # a run without history is no session
        if request["end"] == "cancel":
            assert "Cancelled" in record["error"]
        elif request["end"] == "model_error":
            assert "overloaded" in record["error"]
        else:
            assert (record["error"], record["chunk_len"]) == (None, len("done"))


@EVERY_DRIVE
def test_nested_agent_is_linked_to_the_request_that_called_it(drive: str) -> None:
    records, _ = driven(drive)
    nested = [request for request in plan() if request["end"] == "nested"]
    assert len(nested) > 10
    for request in nested:
        outer = records[f"outer of {request['question']}"]
        assert records[request["question"]]["parent_request_id"] == outer["request_id"]
        assert [call["name"] for call in outer["tool_calls"]] == ["delegate"]


@EVERY_DRIVE
def test_descriptions_in_force_are_named(drive: str) -> None:
    records, _ = driven(drive)
    named = {records[request["question"]]["descriptions"] for request in plan()}
    assert len(named) == 1
    assert all(name.startswith("desc:") for name in named)


@EVERY_DRIVE
def test_sources_of_arguments_are_found_in_earlier_results(drive: str) -> None:
    records, _ = driven(drive)
    paths = Counter(
        path
        for record in records.values()
        for call in record["tool_calls"]
        for path in call.get("args_from", {}).get("room_id", [])
    )
    assert paths["find_rooms.rooms[].room_id"] > 20


def test_the_last_failure_before_a_framework_gives_up_is_the_tool_s_own() -> None:
    calls = driven("pydantic_ai_slim")[0]["out of retries"]["tool_calls"]
    assert [call["error"] for call in calls] == ["ModelRetry: hours must be at most 24"] * 2


def test_failures_under_other_settings_of_the_openai_sdk() -> None:
    records, _ = driven("openai_agents")
    shown = {
        question: [(call["ok"], error_class(call["error"] or "")) for call in records[question]["tool_calls"]]
        for question in (
            "unknown tool ends the run",
            "own message",
            "own message, rejected",
            "without message",
            "without message, rejected",
        )
    }
    assert shown == {
        "unknown tool ends the run": [(False, "other"), (False, "not_found")],  # the first never ran
        "own message": [(False, "not_found")],
        "own message, rejected": [(False, "invalid_argument")],
        "without message": [(False, "not_found")],
        "without message, rejected": [(False, "invalid_argument")],
    }
    assert not any(
        SECRET in (call["error"] or "") for record in records.values() for call in record["tool_calls"]
    )
