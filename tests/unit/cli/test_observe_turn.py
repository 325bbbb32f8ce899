"""What the hook that records Claude Code records."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from foreign_traces import Session, write_lines
from rows import slow_after


def turn(project: Path, told: Any, **environ: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "coreloop", "observe", "turn"],
        input=told if isinstance(told, str) else json.dumps(told),
        env={**os.environ, "CLAUDE_PROJECT_DIR": str(project), **environ},
        cwd=project.parent,
        capture_output=True,
        text=True,
        check=False,
    )


def records(project: Path) -> list[dict[str, Any]]:
    days = (project / "data" / "audit" / "ai-ask").glob("*.jsonl")
    return [json.loads(line) for day in days for line in day.read_text().splitlines()]


def test_each_turn_is_a_record_with_the_calls_that_no_hook_is_told_of(tmp_path: Path) -> None:
    project = tmp_path / "project"
    project.mkdir()
    session = (
        Session()
        .user("list the files")
        .calls("Bash", {"cmd": "ls"})
        .result("InputValidationError", is_error=True)
    )
    session.calls("mcp__shop__find", {"id": "#W2378156"}).result("x").says(
        "there is x", stop_reason="end_turn"
    )
    path = write_lines(tmp_path / "session.jsonl", session.lines)
    for _ in range(2):
        done = turn(project, {"hook_event_name": "Stop", "transcript_path": str(path)})
        assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    (record,) = records(project)
    assert [(call["name"], call["ok"]) for call in record["tool_calls"]] == [
        ("Bash", False),
        ("mcp__shop__find", True),
    ]
    assert len(record["case"]) == 1
    session.user("and now?").says("still x", stop_reason="end_turn")
    write_lines(path, session.lines)
    turn(project, {"transcript_path": str(path)})
    assert len(records(project)) == 2


@pytest.mark.slow
def test_task_of_a_sub_agent_is_recorded_inside_the_turn_that_started_it(tmp_path: Path) -> None:
    project, agents = tmp_path / "project", tmp_path / "s-1" / "subagents"
    project.mkdir()
    agents.mkdir(parents=True)
    session = Session().user("q").calls("Agent", id="t-9").result("there", id="t-9")
    session.lines[-1]["toolUseResult"] = {"agentId": "a1"}
    path = write_lines(tmp_path / "s-1.jsonl", session.says("done", stop_reason="end_turn").lines)
    task = Session("a").user("look it up").calls("Grep").result("x").says("there", stop_reason="end_turn")
    lines = [{**line, "isSidechain": True, "sessionId": "s-1"} for line in task.lines]
    write_lines(agents / "agent-a1.jsonl", lines)
    for _ in range(2):
        turn(project, {"transcript_path": str(path)})
    by_question = {record["question"]: record for record in records(project)}
    assert len(records(project)) == 2
    assert by_question["look it up"]["parent_request_id"] == by_question["q"]["request_id"]


@pytest.mark.parametrize(
    "told",
    slow_after(
        2,
        [
            {"transcript_path": "/absent.jsonl"},
            "",
            "[]",
            {},
            {"transcript_path": "/etc/passwd"},
        ],
    ),
)
def test_failure_is_one_line_and_never_keeps_the_agent_at_work(told: Any, tmp_path: Path) -> None:
    done = turn(tmp_path, told)
    assert done.returncode == 1
    assert done.stdout == ""
    assert done.stderr.startswith("dartlab-coreloop: this turn is not recorded: ")
    assert len(done.stderr.splitlines()) == 1
