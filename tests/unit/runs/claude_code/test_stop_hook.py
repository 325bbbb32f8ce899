"""The Stop hook as Claude Code runs it: a process with JSON on stdin, and a status file beside it."""

import json
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

import coreloop
from coreloop.runs.agent.session_file import session_file
from happenings import RUN_ID

HOOK = Path(coreloop.__file__).parent / "runs" / "claude_code" / "templates" / "stop_hook.py"
STATUS = {
    "run_id": RUN_ID,
    "session": "s1",
    "status": "running",
    "goes_on": True,
    "iteration": 2,
    "max_iterations": 9,
    "cost_usd": 0.5,
    "budget_usd": 10.0,
    "deadline_at": None,
    "next": "answer q1",
    "reason": f"Run {RUN_ID} goes on with iteration 3 of 9: answer q1.",
    "note": f"The research run {RUN_ID} waits after iteration 2.",
}
GIVEN = {
    "session_id": "s1",
    "transcript_path": "/home/me/.claude/projects/p/s1.jsonl",
    "cwd": "/nowhere",
    "permission_mode": "default",
    "hook_event_name": "Stop",
    "stop_hook_active": False,
    "last_assistant_message": "Everything is done.",
    "background_tasks": [],
    "session_crons": [],
}
TASK = {"id": "b1", "type": "shell", "status": "running", "description": "tests", "command": "pytest"}
BLOCKS, ENDS, FAILS = "blocks", "ends", "fails"


def stop(project: Path, given: Any = GIVEN) -> subprocess.CompletedProcess[str]:
    data = given if isinstance(given, str) else json.dumps(given)
    return subprocess.run(
        [sys.executable, "-I", "-S", str(HOOK), "--lease", "1800"],
        input=data,
        capture_output=True,
        text=True,
        check=False,
        timeout=30,
        env={**os.environ, "CLAUDE_PROJECT_DIR": str(project)},
    )


def write(project: Path, status: Any, *, age_s: float = 0, last: Any = None) -> None:
    folder = project / ".research" / "agents"
    folder.mkdir(parents=True)
    path = folder / "s1.json"
    path.write_text(status if isinstance(status, str) else json.dumps(status))
    os.utime(path, (time.time() - age_s, time.time() - age_s))
    if last is not None:
        (folder / "s1.block").write_text(last if isinstance(last, str) else json.dumps(last))


@pytest.mark.parametrize(
    ("status", "given", "more", "expected"),
    [
        ({}, {}, {}, BLOCKS),
        (None, {}, {}, ENDS),
        ({"session": "s2"}, {}, {}, ENDS),
        ({"cost_usd": 10.0}, {}, {}, ENDS),
        ({"cost_usd": 99.0, "budget_usd": None}, {}, {}, BLOCKS),
        ({}, {}, {"age_s": -30}, BLOCKS),
        ({}, {}, {"age_s": -3_600}, ENDS),
        ({"session": ""}, {"session_id": ""}, {}, ENDS),
        ({"status": "paused", "goes_on": False}, {}, {}, ENDS),
        ({"goes_on": False}, {}, {}, ENDS),
        ({"iteration": 9}, {}, {}, ENDS),
        ({"deadline_at": 1.0}, {}, {}, ENDS),
        ({}, {}, {"age_s": 1_860}, ENDS),
        ({}, {"background_tasks": [TASK]}, {}, ENDS),
        ({}, {"stop_hook_active": True}, {}, BLOCKS),
        ({}, {"stop_hook_active": True}, {"last": [RUN_ID, 2, 1]}, ENDS),
        ({}, {"stop_hook_active": True}, {"last": [RUN_ID, 1, 1]}, BLOCKS),
        ({}, {}, {"last": [RUN_ID, 2, 1]}, BLOCKS),
        ({}, {}, {"last": [RUN_ID, 2, 3]}, ENDS),
        ({}, "", {}, FAILS),
        ("{", {}, {}, FAILS),
        ({"reason": None, "iteration": "2"}, {}, {}, FAILS),
    ],
)
def test_the_turn_ends_unless_a_run_of_this_session_goes_on(
    status: Any, given: Any, more: dict[str, Any], expected: str, tmp_path: Path
):
    if status is not None:
        write(tmp_path, status if isinstance(status, str) else STATUS | status, **more)
    done = stop(tmp_path, given if isinstance(given, str) else GIVEN | given)
    if expected == FAILS:
        assert (done.returncode, done.stdout) == (1, "")
        assert done.stderr.startswith("coreloop stop hook: ")
        assert done.stderr.count("\n") == 1
        return
    assert (done.returncode, done.stderr) == (0, "")
    if expected == ENDS:
        assert done.stdout == ""
    else:
        assert json.loads(done.stdout) == {"decision": "block", "reason": STATUS["reason"]}


def test_a_pipe_instead_of_a_status_lets_the_turn_end(tmp_path: Path):
    (tmp_path / ".research" / "agents").mkdir(parents=True)
    os.mkfifo(tmp_path / ".research" / "agents" / "s1.json")
    ended = stop(tmp_path)
    assert (ended.returncode, ended.stdout, ended.stderr) == (0, "", "")


def test_the_hook_finds_the_file_that_coreloop_writes(tmp_path: Path):
    for session in ("s1", "a_b-C", "x" * 200, "../x", "세션", "a.b", "\ud800"):
        code = f"import sys; sys.argv = ['x']; exec(open({str(HOOK)!r}).read(), names := {{'__name__': 'h'}})"
        code += f"; print(names['file_name']({session!r}))"
        named = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
        assert tmp_path / named.stdout.strip() == session_file(tmp_path, session)


def test_the_hook_imports_nothing_but_small_modules_of_the_standard_library():
    code = "import sys; exec(open(sys.argv[1]).read(), {'__name__': 'hook'}); print(' '.join(sys.modules))"
    done = subprocess.run(
        [sys.executable, "-I", "-S", "-c", code, str(HOOK)], capture_output=True, text=True, check=True
    )
    slow = {"typing", "subprocess", "datetime", "argparse", "coreloop", "asyncio", "site"}
    assert slow & set(done.stdout.split()) == set()
