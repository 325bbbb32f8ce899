"""Ctrl-C ends a run, and a signal that its own command sends does not."""

import signal
import subprocess
import sys
from pathlib import Path

import pytest

from coreloop.base.project.workspace import open_workspace
from coreloop.runs.stores.store import open_store
from driving import state_at

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="only Linux names the sender of a signal")
RUNS = [sys.executable, "-m", "coreloop", "runs"]
DRIVER = "$(awk '{print $4}' /proc/$PPID/stat)"
WORK = "echo $CORELOOP_ITERATION >> work"


@pytest.mark.parametrize(
    "sent",
    [
        f"kill -INT {DRIVER}",
        pytest.param(f"env kill -INT {DRIVER}", id="ends at once", marks=pytest.mark.slow),
        pytest.param(f"setsid env -i sh -c 'kill -INT '{DRIVER}", id="session", marks=pytest.mark.slow),
    ],
)
def test_a_command_that_interrupts_its_driver_does_not_stop_its_run(sent: str, tmp_path: Path):
    words = ["start", "--max-iterations", "2", "--", "sh", "-c", f"{WORK}; {sent}; {sent}; sleep 0.3"]
    done = subprocess.run([*RUNS, *words], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "stopped (max_iterations)" in done.stdout
    assert (tmp_path / "work").read_text() == "1\n2\n"
    assert done.stderr.count("ignored SIGINT") == 1


@pytest.mark.slow
def test_a_command_can_be_interrupted_although_its_driver_waits_for_the_signal(tmp_path: Path):
    script = f"{WORK}; trap 'echo heard > heard' INT; kill -INT $$"
    words = ["start", "--max-iterations", "1", "--", "sh", "-c", script]
    subprocess.run([*RUNS, *words], cwd=tmp_path, capture_output=True, check=False, timeout=60)
    assert (tmp_path / "heard").exists()


@pytest.mark.slow
def test_a_command_that_ends_its_driver_does_not_stop_its_run(tmp_path: Path):
    script = f"{WORK}; test -e again || {{ touch again; kill -TERM {DRIVER}; sleep 600; }}"
    words = ["start", "--json", "--max-iterations", "1", "--", "sh", "-c", script]
    done = subprocess.run([*RUNS, *words], cwd=tmp_path, capture_output=True, check=False)
    assert done.returncode == -signal.SIGTERM
    with open_store(open_workspace(tmp_path)) as store:
        (run_id,) = [row.run_id for row in store.runs()]
    assert state_at(tmp_path, run_id).status == "running"
    subprocess.run([*RUNS, "resume"], cwd=tmp_path, capture_output=True, check=True)
    assert state_at(tmp_path, run_id).stop_reason == "max_iterations"
