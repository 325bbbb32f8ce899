"""The Stop hook as Claude Code runs it: a process with JSON on stdin, and a status file beside it."""

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable
from itertools import product
from pathlib import Path
from typing import Any

import pytest

import coreloop
from coreloop.runs.agent.session_file import session_file
from happenings import RUN_ID
from rows import slow_after
from terminals import typed

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
        pytest.param({}, {}, {}, BLOCKS, id="a run of this session goes on"),
        pytest.param(None, {}, {}, ENDS, id="no run"),
        pytest.param({"session": "s2"}, {}, {}, ENDS, id="another session's run"),
        pytest.param({"cost_usd": 10.0}, {}, {}, ENDS, id="the budget is spent"),
        pytest.param({"cost_usd": 99.0, "budget_usd": None}, {}, {}, BLOCKS, id="no budget"),
        pytest.param({}, {}, {"age_s": -30}, BLOCKS, id="a clock that is ahead"),
        pytest.param({}, {}, {"age_s": -3_600}, ENDS, id="a status from the future"),
        pytest.param({"session": ""}, {"session_id": ""}, {}, ENDS, id="no session at all"),
        pytest.param({"status": "paused", "goes_on": False}, {}, {}, ENDS, id="paused"),
        pytest.param({"goes_on": False}, {}, {}, ENDS, id="over a limit"),
        pytest.param({"iteration": 9}, {}, {}, ENDS, id="the last iteration is done"),
        pytest.param({"deadline_at": 1.0}, {}, {}, ENDS, id="the deadline has passed"),
        pytest.param({}, {}, {"age_s": 1_860}, ENDS, id="older than the lease"),
        pytest.param({}, {"background_tasks": [TASK]}, {}, ENDS, id="a background task is running"),
        pytest.param({}, {"stop_hook_active": True}, {}, BLOCKS, id="again, and never blocked yet"),
        pytest.param(
            {},
            {"stop_hook_active": True},
            {"last": [RUN_ID, 2, 1]},
            ENDS,
            id="again, without an iteration since",
        ),
        pytest.param(
            {}, {"stop_hook_active": True}, {"last": [RUN_ID, 1, 1]}, BLOCKS, id="again, an iteration further"
        ),
        pytest.param({}, {}, {"last": [RUN_ID, 2, 1]}, BLOCKS, id="a new turn without an iteration since"),
        pytest.param({}, {}, {"last": [RUN_ID, 2, 3]}, ENDS, id="three blocks without an iteration"),
        pytest.param({}, "", {}, FAILS, id="no input"),
        pytest.param("{", {}, {}, FAILS, id="a torn status"),
        pytest.param({"reason": None, "iteration": "2"}, {}, {}, FAILS, id="a status of other types"),
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


def test_each_iteration_is_blocked_for_once_per_turn(tmp_path: Path):
    write(tmp_path, STATUS)
    assert json.loads(stop(tmp_path).stdout)["decision"] == "block"
    again = GIVEN | {"stop_hook_active": True}
    assert stop(tmp_path, again).stdout == ""
    (tmp_path / ".research" / "agents" / "s1.json").write_text(json.dumps(STATUS | {"iteration": 3}))
    assert json.loads(stop(tmp_path, again).stdout)["decision"] == "block"
    assert stop(tmp_path, again).stdout == ""


def test_a_pipe_instead_of_a_status_lets_the_turn_end(tmp_path: Path):
    (tmp_path / ".research" / "agents").mkdir(parents=True)
    os.mkfifo(tmp_path / ".research" / "agents" / "s1.json")
    ended = stop(tmp_path)
    assert (ended.returncode, ended.stdout, ended.stderr) == (0, "", "")


@pytest.mark.slow
def test_a_harness_that_never_says_that_it_was_blocked_is_blocked_three_times(tmp_path: Path):
    write(tmp_path, STATUS)
    given = {name: value for name, value in GIVEN.items() if name != "stop_hook_active"}
    assert [bool(stop(tmp_path, given).stdout) for _ in range(15)] == [True] * 3 + [False] * 12


@pytest.fixture
def runs(tmp_path: Path, entry_point) -> Callable[..., str]:
    """Run a command of ``runs`` in this process, as an agent does in its session."""

    def runs(*words: str, session: str = "") -> str:
        with pytest.MonkeyPatch.context() as environ:
            environ.setenv("CLAUDE_CODE_SESSION_ID", session)
            environ.setenv("CLAUDECODE", "")
            code, out, errors = entry_point(tmp_path, "runs", *words)
        assert code == 0, errors
        return out.strip()

    return runs


def installed(project: Path, session: str) -> str:
    """What the installed hook prints for the JSON of a harness."""
    (entry,) = json.loads((project / ".claude" / "settings.json").read_text())["hooks"]["Stop"]
    done = subprocess.run(
        ["sh", "-c", entry["hooks"][0]["command"]],
        input=json.dumps(GIVEN | {"session_id": session, "cwd": str(project)}),
        capture_output=True,
        text=True,
        check=True,
        env={**os.environ, "CLAUDE_PROJECT_DIR": str(project)},
    )
    return done.stdout


SESSIONS = ("s.1:a-b", "0e639165-79b1-4bd4-bb0f-4cb4c15115d4")


@pytest.mark.parametrize(
    ("verb", "session"),
    slow_after(1, list(product(["stop", "pause", "stop --completed"], SESSIONS))),
)
def test_a_person_who_ends_a_run_frees_its_session_at_once(verb: str, session: str, tmp_path: Path, runs):
    runs("install", "claude-code", "--confirm")
    run_id = runs("open", "why?", session=session)
    other = runs("open", "who?", session="other")
    assert run_id in installed(tmp_path, session)
    assert typed(tmp_path, "runs", *verb.split(), run_id).returncode == 0
    assert installed(tmp_path, session) == ""
    assert other in installed(tmp_path, "other")  # two sessions do not disturb each other
    status = {"stop": "stopped_by_user", "pause": "paused", "stop --completed": "completed"}[verb]
    state = tmp_path / ".research" / "sessions" / run_id / "state.json"
    assert json.loads(state.read_text())["status"] == status
    if verb == "pause":
        assert typed(tmp_path, "runs", "resume", run_id).returncode == 0
        assert run_id in installed(tmp_path, session)


@pytest.mark.slow
def test_a_run_that_another_session_takes_over_leaves_the_first_one(tmp_path: Path, runs):
    runs("install", "claude-code", "--confirm")
    run_id = runs("open", "why?", session="s1")
    runs("next", run_id, session="s2")
    assert (installed(tmp_path, "s1"), run_id in installed(tmp_path, "s2")) == ("", True)


@pytest.mark.slow
def test_of_two_runs_of_a_session_the_one_that_it_works_on_holds_it(tmp_path: Path, runs):
    runs("install", "claude-code", "--confirm")
    first, second = (runs("open", question, session="s1") for question in ("why?", "who?"))
    runs("stop", first)
    assert second in installed(tmp_path, "s1")
    assert typed(tmp_path, "runs", "forget", second, "--confirm").returncode == 0
    assert list((tmp_path / ".research" / "agents").glob("*.json")) == []
    assert installed(tmp_path, "s1") == ""


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
