"""What is recorded of 200 planned requests to the Claude Agent SDK and its own Claude Code.

The model is a scripted server. The SDK ends every turn with a result, so every request ends with an answer.
"""

from functools import cache
from typing import Any

import pytest

from frameworks.environments import drive
from frameworks.planned import REJECTED, SECRET, expected, n_planned, plan
from frameworks.test_recording import calls_of

pytestmark = pytest.mark.frameworks


@cache
def records() -> dict[str, dict[str, Any]]:
    found, printed = drive("drive_claude_agent_sdk", "claude-agent-sdk", plan())
    assert printed[-1] == {}  # nothing was dropped
    return {record["question"]: record for record in found}


def test_every_call_that_the_model_made_is_recorded_as_planned() -> None:
    assert len(records()) == len(plan())
    n_recorded = 0
    for request in plan():
        record = records()[request["question"]]
        shown = calls_of(record)
        planned = expected(request)
        assert shown == planned, request
        assert (record["error"], record["chunk_len"]) == (None, len("done"))
        n_recorded += len(planned)
    assert n_recorded == n_planned(plan()).total()


def test_rejected_argument_is_named_and_its_value_is_not() -> None:
    n_checked = 0
    for request in plan():
        planned = [call for calls in request["rounds"] for call in calls]
        for call, recorded in zip(planned, records()[request["question"]]["tool_calls"], strict=False):
            if call["kind"] in REJECTED:
                n_checked += 1
                assert SECRET not in recorded["error"]
                assert any(name in recorded["error"] for name in REJECTED[call["kind"]]), recorded
    assert n_checked > 150


def test_usage_session_and_case_are_recorded() -> None:
    for record in records().values():
        assert record["input_tokens"] > 0
        assert record["output_tokens"] > 0
        assert record["model"].startswith("claude")
        assert record["session_hash"].startswith("session:")
    assert any("case" in record for record in records().values())
