"""A command that ends its driver does not end its run."""

import signal
import subprocess
import sys
from pathlib import Path

import pytest

from coreloop.base.project.workspace import open_workspace
from coreloop.runs.stores.store import open_store
from driving import state_at

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
RUNS = [sys.executable, "-m", "coreloop", "runs"]
DRIVER = "$(awk '{print $4}' /proc/$PPID/stat)"
WORK = "echo $CORELOOP_ITERATION >> work"


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
