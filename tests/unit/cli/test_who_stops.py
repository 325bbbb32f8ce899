"""Who ends a run, with real processes: an agent's word, reports and tricks do not."""

import json
import os
import subprocess
import sys
from contextlib import chdir
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from coreloop.cli.main import main
from rows import slow_after

COMMAND = [sys.executable, "-m", "coreloop", "runs"]
OURS = ("CLAUDE", "CORELOOP_")


def driven(project: Path, *words: str) -> subprocess.CompletedProcess[str]:
    """Run a command that drives a run, in a process of its own, which adopts what that leaves."""
    plain = {name: value for name, value in os.environ.items() if not name.startswith(OURS)}
    return subprocess.run(
        [*COMMAND, *words],
        cwd=project,
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
        env=plain,
    )


def runs(project: Path, *words: str, stdin: str = "") -> str:
    """Run a command of a person's, in this process."""
    plain = dict.fromkeys(name for name in os.environ if name.startswith(OURS))
    with chdir(project):
        return CliRunner(env=plain).invoke(main, ["runs", *words], input=stdin).stdout


def start(project: Path, script: str, *options: str) -> tuple[int, dict[str, Any]]:
    done = driven(project, "start", "--json", *options, "--", "sh", "-c", script)
    return done.returncode, json.loads(done.stdout)


@pytest.mark.skipif(sys.platform != "linux", reason="ancestors are read from /proc")
@pytest.mark.parametrize("verb", slow_after(1, ["stop", "pause", "resume", "stop --completed"]))
def test_an_agent_that_clears_its_environment_is_still_the_agent(verb: str, tmp_path: Path):
    tries = f"setsid env -i {sys.executable} -m coreloop runs {verb} 2>> said"
    script = f"echo $CORELOOP_ITERATION >> w; {tries}; true"
    code, state = start(tmp_path, script, "--max-iterations", "1")
    assert (code, state["status"]) == (0, "stopped")
    assert "an agent cannot" in (tmp_path / "said").read_text()


@pytest.mark.slow
def test_a_run_that_an_error_of_its_program_ended_goes_on(tmp_path: Path):
    work = "echo $CORELOOP_ITERATION >> w; test -e pay && echo '{\"usd\": 0.25}'; true"
    failed = driven(tmp_path, "start", "--budget-usd", "0.5", "--", "sh", "-c", work)
    assert failed.returncode == 2
    assert "the command does not say what it spends" in failed.stderr
    assert json.loads(runs(tmp_path, "show", "--json"))["status"] == "failed"
    (tmp_path / "pay").touch()
    went_on = json.loads(driven(tmp_path, "resume", "--json").stdout)
    assert (went_on["status"], went_on["stop_reason"], went_on["cost_usd"]) == ("budget_exceeded", "usd", 0.5)


CLEARED = ["env -i", "env -u CLAUDECODE", "setsid env -i", "script -qec", "setsid script -qec"]


@pytest.mark.skipif(sys.platform != "linux", reason="ancestors are read from /proc")
@pytest.mark.parametrize("cleared", slow_after(2, CLEARED))
@pytest.mark.parametrize(
    "verb", slow_after(1, ["stop --completed", "confirm --waive q1", "confirm q1", "resume"])
)
def test_an_agent_that_drives_itself_cannot_take_a_persons_place(tmp_path: Path, verb: str, cleared: str):
    run_id = runs(tmp_path, "open", "why?").strip()
    query = {"query": "why", "results_count": 0, "success": True}
    for parts in (["one?", "two?", "three?"], [{"id": "q1", "falls_away": "moot"}]):
        runs(tmp_path, "record", stdin=json.dumps({"queries": [query], "sub_questions": parts}))
    runs(tmp_path, "pause")
    command = f"{sys.executable} -m coreloop runs {verb}"
    if "script" in cleared:  # gives it a terminal
        command = f"'env -u CLAUDECODE {command}' /dev/null"
    shell = f"{cleared} {command}; true"
    done = subprocess.run(
        ["sh", "-c", shell],
        cwd=tmp_path,
        env={**os.environ, "CLAUDECODE": "1", "CORELOOP_RUN": ""},
        capture_output=True,
        text=True,
        stdin=subprocess.DEVNULL,
        check=True,
    )
    assert "an agent cannot" in done.stdout + done.stderr
    assert json.loads(runs(tmp_path, "show", run_id, "--json"))["status"] == "paused"
