"""What is recorded of 200 planned requests to the Claude Agent SDK and its own Claude Code.

The model is a scripted server. The SDK ends every turn with a result, so every request ends with an answer.
"""

import json
import os
import subprocess
import tempfile
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from coreloop.base.error_classes import error_class
from coreloop.base.project.tools import bare_name
from coreloop.base.record_lines import MAX_LINE_BYTES
from frameworks.environments import HERE, interpreter
from frameworks.planned import REJECTED, SECRET, expected, n_planned, plan

pytestmark = pytest.mark.frameworks


@cache
def records() -> dict[str, dict[str, Any]]:
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "plan.json").write_text(json.dumps(plan()), encoding="utf-8")
        done = subprocess.run(
            [
                interpreter("claude-agent-sdk", records=True),
                HERE / "drives" / "drive_claude_agent_sdk.py",
                "plan.json",
                "data",
            ],
            cwd=folder,
            env={**os.environ, "PYTHONPATH": str(HERE.parents[1] / "src"), "IS_SANDBOX": "1"},
            capture_output=True,
            encoding="utf-8",
            check=False,
        )
        assert done.returncode == 0, done.stderr
        assert json.loads(done.stdout.splitlines()[-1]) == {}  # nothing was dropped
        days = Path(folder, "data", "audit", "ai-ask").glob("*.jsonl")
        lines = [line for day in days for line in day.read_bytes().splitlines(keepends=True)]
    assert max(map(len, lines)) <= MAX_LINE_BYTES
    return {record["question"]: record for record in map(json.loads, lines)}


def test_every_call_that_the_model_made_is_recorded_as_planned() -> None:
    assert len(records()) == len(plan())
    n_recorded = 0
    for request in plan():
        record = records()[request["question"]]
        shown = [
            (
                bare_name(call["name"]) or call["name"],
                call["ok"],
                error_class(call["error"]) if call.get("error") else None,
                tuple(sorted(call["args"])),
            )
            for call in record["tool_calls"]
        ]
        planned = expected(request)
        assert shown == planned[: len(shown)], request
        assert len(shown) + record.get("tool_calls_omitted", 0) == len(planned)
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
