"""A driver that is killed anywhere: no iteration is lost or done twice unless it was under way, no orphan."""

import signal
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

import pytest

from coreloop.base.project.workspace import open_workspace
from coreloop.base.waiting import wait_until
from coreloop.runs.events import IterationCommitted, StepCommitted
from coreloop.runs.stores.store import open_store
from driving import begin, go_on, is_alive, state_at
from running import python

WORK = "echo $CORELOOP_ITERATION >> tasks"
DRIVE = """
import os
import sys
from pathlib import Path
from coreloop.base.project.workspace import open_workspace
from coreloop.runs.driver.console import Console, CtrlC
from coreloop.runs.driver.driver import drive_run
from coreloop.runs.stores.store import open_store
from driving import QUICK
from running import Failpoint
workspace = open_workspace(Path.cwd())
with open_store(workspace) as store:
    failing = Failpoint(store, int(sys.argv[2]), is_before=sys.argv[3] == "before")
    drive_run(workspace, failing, sys.argv[1], Console(lambda _: None, CtrlC(), os.environ, QUICK))
"""


def killed_at(project: Path, run_id: str, append: int, when: str) -> bool:
    """Drive a run in a process that kills itself at an append; whether it came to that."""
    process = python(DRIVE, run_id, str(append), when, cwd=project)
    _, errors = process.communicate(timeout=60)
    assert process.returncode in {0, -signal.SIGKILL}, errors
    return process.returncode != 0


def committed(project: Path, run_id: str) -> list[int]:
    with open_store(open_workspace(project)) as store:
        events = [event for _, event in store.read(run_id)]
    keys = [event.key for event in events if isinstance(event, StepCommitted)]
    assert len(keys) == len(set(keys))
    return [event.iteration for event in events if isinstance(event, IterationCommitted)]


@pytest.mark.slow
@pytest.mark.parametrize("when", ["before", "after"])
def test_a_driver_killed_at_any_write_loses_and_repeats_nothing_that_was_committed(when: str, tmp_path: Path):
    """With a price, an iteration appends three times: reserved, its step, its commit."""
    repeated = 0
    for append in range(1, 40):
        project = tmp_path / str(append)
        project.mkdir()
        run_id = begin(project, WORK, max_iterations=2, usd_per_iteration=0.1)
        if not killed_at(project, run_id, append, when):
            break
        state = state_at(project, run_id)
        if not state.is_terminal:  # killed after it had ended
            state = go_on(project, run_id)
        done = Counter((project / "tasks").read_text().split())
        assert (state.stop_reason, state.iteration) == ("max_iterations", 2)
        assert committed(project, run_id) == [1, 2]
        assert done.keys() == {"1", "2"}
        assert sum(done.values()) <= 3
        assert state.reservations == {}
        repeated += sum(done.values()) - 2
    assert append > 6
    assert repeated == (2 if when == "before" else 0)  # killed between the work and its step's commit


def wait_for(path: Path, process: subprocess.Popen[bytes]) -> list[str]:
    deadline = time.monotonic() + 30
    while not (path.exists() and len(path.read_text().split()) >= 3):
        assert process.poll() is None
        assert time.monotonic() < deadline
        time.sleep(0.01)
    return path.read_text().split()


@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="needs /proc")
@pytest.mark.parametrize("signal_number", [signal.SIGKILL, signal.SIGTERM, signal.SIGHUP])
def test_no_orphan_of_a_killed_driver_goes_on(signal_number: signal.Signals, tmp_path: Path):
    """One of them ignores SIGTERM, and one has a session of its own. Resume waits until all have ended."""
    script = (
        "test -e again && { echo done > finished; exit 0; }; "
        "(trap '' TERM; while :; do echo x >> alive; sleep 0.02; done) & echo $! >> pids; "
        "setsid sleep 600 & echo $! >> pids; echo $$ >> pids; wait"
    )
    command = [sys.executable, "-m", "coreloop", "runs", "start", "--max-iterations", "1"]
    with (tmp_path / "said").open("wb") as said:
        driver = subprocess.Popen(
            ["env", "--default-signal", *command, "--", "sh", "-c", script],  # nohup ignores SIGHUP
            cwd=tmp_path,
            stdout=said,
            stderr=said,
        )
        pids = wait_for(tmp_path / "pids", driver)
        assert all(map(is_alive, pids))
        driver.send_signal(signal_number)
        assert driver.wait(30) == -signal_number
    (tmp_path / "again").touch()
    done = subprocess.run(
        [sys.executable, "-m", "coreloop", "runs", "resume"], cwd=tmp_path, capture_output=True, check=False
    )
    assert [pid for pid in pids if is_alive(pid)] == []  # and nothing wrote while the second one worked
    assert done.returncode == 0, done.stderr
    assert b"stopped (max_iterations)" in done.stdout
    assert (tmp_path / "finished").read_text() == "done\n"
    run_id = done.stdout.split()[0].decode()
    assert state_at(tmp_path, run_id).iteration == 1


def test_a_killed_keeper_is_a_failure_and_leaves_nothing(tmp_path: Path):
    script = "sleep 600 & echo $! > left; kill -KILL $PPID; wait"
    state = go_on(tmp_path, begin(tmp_path, script, max_iterations=1, max_failures=1))
    assert (state.stop_reason, state.error_log[0]["error"]) == (
        "failures",
        "IterationFailedError: exit code 137",
    )
    left = (tmp_path / "left").read_text().strip()
    assert wait_until(lambda: not is_alive(left), within_s=5, pause_s=0.01)


def test_a_command_that_signals_its_whole_group_is_a_failure(tmp_path: Path):
    state = go_on(tmp_path, begin(tmp_path, "kill -TERM 0; sleep 9", max_iterations=1, max_failures=1))
    assert state.error_log[0]["error"] == "IterationFailedError: exit code 143"
