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
from coreloop.runs.agent.status_line import status_line
from coreloop.runs.create import create_run
from coreloop.runs.events import Opened, Planned
from coreloop.runs.fold import fold
from coreloop.runs.stores.sqlite import sqlite_store
from coreloop.runs.views import write_views
from happenings import AT, RUN_ID, created

HOOK = Path(coreloop.__file__).parent / "templates" / "claude-code" / "stop_hook.py"
STATUS = {
    "run_id": RUN_ID,
    "session": "s1",
    "status": "running",
    "goes_on": True,
    "iteration": 2,
    "max_iterations": 9,
    "deadline_at": None,
    "next": "answer q1",
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
    folder = project / ".research"
    folder.mkdir()
    path = folder / "status.json"
    path.write_text(status if isinstance(status, str) else json.dumps(status))
    os.utime(path, (time.time() - age_s, time.time() - age_s))
    if last is not None:
        (folder / "last-block.json").write_text(last if isinstance(last, str) else json.dumps(last))


@pytest.mark.parametrize(
    ("status", "given", "more", "expected"),
    [
        pytest.param({}, {}, {}, BLOCKS, id="a run of this session goes on"),
        pytest.param(None, {}, {}, ENDS, id="no run"),
        pytest.param({"session": "s2"}, {}, {}, ENDS, id="another session's run"),
        pytest.param({"session": ""}, {}, {}, ENDS, id="a driver's run"),
        pytest.param({"session": ""}, {"session_id": ""}, {}, ENDS, id="no session at all"),
        pytest.param({"status": "completed", "goes_on": False}, {}, {}, ENDS, id="completed"),
        pytest.param({"status": "stopped_by_user", "goes_on": False}, {}, {}, ENDS, id="stopped by a person"),
        pytest.param({"status": "paused", "goes_on": False}, {}, {}, ENDS, id="paused"),
        pytest.param({"goes_on": False}, {}, {}, ENDS, id="over a limit"),
        pytest.param({"iteration": 9}, {}, {}, ENDS, id="the last iteration is done"),
        pytest.param({"deadline_at": 1.0}, {}, {}, ENDS, id="the deadline has passed"),
        pytest.param({"deadline_at": 9e9}, {}, {}, BLOCKS, id="the deadline lies ahead"),
        pytest.param({}, {}, {"age_s": 1_860}, ENDS, id="older than the lease"),
        pytest.param({}, {}, {"age_s": 1_700}, BLOCKS, id="within the lease"),
        pytest.param({}, {"background_tasks": [TASK]}, {}, ENDS, id="a background task is running"),
        pytest.param({}, {"stop_hook_active": True}, {}, BLOCKS, id="again, and never blocked yet"),
        pytest.param(
            {},
            {"stop_hook_active": True},
            {"last": [RUN_ID, 2]},
            ENDS,
            id="again, without an iteration since",
        ),
        pytest.param(
            {}, {"stop_hook_active": True}, {"last": [RUN_ID, 1]}, BLOCKS, id="again, an iteration further"
        ),
        pytest.param(
            {},
            {"stop_hook_active": True},
            {"last": ["other", 2]},
            BLOCKS,
            id="again, but another run's block",
        ),
        pytest.param({}, {}, {"last": [RUN_ID, 2]}, BLOCKS, id="a new turn without an iteration since"),
        pytest.param(
            {}, {"stop_hook_active": True}, {"last": "{"}, BLOCKS, id="a torn file of the last block"
        ),
        pytest.param({}, "", {}, FAILS, id="no input"),
        pytest.param({}, "[]", {}, FAILS, id="input of another shape"),
        pytest.param("{", {}, {}, FAILS, id="a torn status"),
        pytest.param("[]", {}, {}, FAILS, id="a status of another shape"),
        pytest.param({"next": None, "iteration": "2"}, {}, {}, FAILS, id="a status of other types"),
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
        decision = json.loads(done.stdout)
        assert decision["decision"] == "block"
        assert f"Run {RUN_ID} goes on with iteration" in decision["reason"]
        assert f"dartlab-coreloop runs next {RUN_ID}" in decision["reason"]


def test_each_iteration_is_blocked_for_once_per_turn(tmp_path: Path):
    write(tmp_path, STATUS)
    assert json.loads(stop(tmp_path).stdout)["decision"] == "block"
    again = GIVEN | {"stop_hook_active": True}
    assert stop(tmp_path, again).stdout == ""
    (tmp_path / ".research" / "status.json").write_text(json.dumps(STATUS | {"iteration": 3}))
    assert json.loads(stop(tmp_path, again).stdout)["decision"] == "block"
    assert stop(tmp_path, again).stdout == ""


def test_a_hook_that_cannot_note_its_block_does_not_block(tmp_path: Path):
    write(tmp_path, STATUS)
    (tmp_path / ".research" / "last-block.json").mkdir()
    done = stop(tmp_path)
    assert (done.returncode, done.stdout) == (1, "")
    assert "IsADirectoryError" in done.stderr


def test_a_pipe_instead_of_a_status_lets_the_turn_end(tmp_path: Path):
    (tmp_path / ".research").mkdir()
    os.mkfifo(tmp_path / ".research" / "status.json")
    ended = stop(tmp_path)
    assert (ended.returncode, ended.stdout, ended.stderr) == (0, "", "")


@pytest.mark.parametrize("is_repeated", [False, True])
def test_a_pipe_or_a_link_as_the_last_block_is_replaced(is_repeated: bool, tmp_path: Path):
    write(tmp_path, STATUS)
    note, other = tmp_path / ".research" / "last-block.json", tmp_path / "other"
    other.write_text("kept")
    os.mkfifo(note)
    again = GIVEN | {"stop_hook_active": is_repeated}
    assert json.loads(stop(tmp_path, again).stdout)["decision"] == "block"
    note.unlink()
    note.symlink_to(other)
    assert json.loads(stop(tmp_path, again).stdout)["decision"] == "block"
    assert (other.read_text(), json.loads(note.read_text())) == ("kept", [RUN_ID, 2])


def test_the_hook_reads_what_a_commit_writes(tmp_path: Path):
    asked = Planned(at=AT, sub_questions=("왜?",))
    own = fold([created(drives_itself=True), Opened(at=AT, owner="s1"), asked])
    write_views(tmp_path, own)
    line = (tmp_path / ".research" / "status.json").read_bytes()
    assert (line, line.count(b"\n")) == (status_line(own), 1)
    assert "answer q1, 왜?, with a source" in json.loads(stop(tmp_path).stdout)["reason"]
    write_views(tmp_path, fold([created(), Opened(at=AT, owner="s1"), asked]))
    assert stop(tmp_path).stdout == ""


def test_the_status_of_a_forgotten_run_is_removed(tmp_path: Path):
    from coreloop.runs.views import remove_views

    with sqlite_store(tmp_path / "runs.db") as store:
        run_id = create_run(store, "why?", kind="agent", drives_itself=True)
    write_views(tmp_path, fold([created(run_id=run_id, drives_itself=True)]))
    remove_views(tmp_path, run_id)
    assert not (tmp_path / ".research" / "status.json").exists()


def test_the_hook_imports_nothing_but_small_modules_of_the_standard_library():
    code = "import sys; exec(open(sys.argv[1]).read(), {'__name__': 'hook'}); print(' '.join(sys.modules))"
    done = subprocess.run(
        [sys.executable, "-I", "-S", "-c", code, str(HOOK)], capture_output=True, text=True, check=True
    )
    slow = {"typing", "subprocess", "datetime", "argparse", "coreloop", "asyncio", "site"}
    assert slow & set(done.stdout.split()) == set()
