"""What the driver itself writes, and who ended a run, are no work of its command."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from coreloop.base.project.workspace import open_workspace
from coreloop.runs.driver.progress_lines import reason_line
from coreloop.runs.state import State
from coreloop.runs.stores.store import open_store
from driving import begin, state_at
from rows import slow_after
from terminals import typed

RUNS = [sys.executable, "-m", "coreloop", "runs"]


@pytest.mark.parametrize("git", slow_after(1, [False, True]))
def test_the_log_of_the_driver_in_the_working_folder_is_no_progress(git: bool, tmp_path: Path):
    if git:
        subprocess.run(["git", "init", "-q"], cwd=tmp_path, check=True)
    words = ["start", "--json", "--max-iterations", "4", "--max-failures", "1", "--", "echo", "busy"]
    with (tmp_path / "run.log").open("ab") as log:
        done = subprocess.run([*RUNS, *words], cwd=tmp_path, stdout=subprocess.PIPE, stderr=log, check=False)
    facts = json.loads(done.stdout)
    assert (facts["stop_reason"], facts["iteration"]) == ("failures", 0)
    assert "busy" in (tmp_path / "run.log").read_text()


@pytest.mark.slow
def test_a_run_within_a_run_that_was_killed_with_its_command_has_failed(tmp_path: Path):
    nested = f"{' '.join(RUNS)} start --max-iterations 9 -- sh -c 'echo x > nested; sleep 600'"
    script = f"{nested} & until test -e nested; do sleep 0.05; done"
    done = subprocess.run(
        [*RUNS, "start", "--json", "--max-iterations", "1", "--", "sh", "-c", script],
        cwd=tmp_path,
        capture_output=True,
        check=False,
    )
    parent = json.loads(done.stdout)["run_id"]
    with open_store(open_workspace(tmp_path)) as store:
        (child,) = store.derived(parent)
    state = state_at(tmp_path, child)
    assert (state.status, state.reservations) == ("failed", {})
    assert "it was ended with the command that started it" in state.failure.error


@pytest.mark.slow
def test_a_run_without_a_price_goes_on_with_a_limit(tmp_path: Path):
    run_id = begin(tmp_path, "echo $CORELOOP_ITERATION >> work", budget_usd=1.0)
    failed = subprocess.run([*RUNS, "resume"], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert f"runs resume {run_id} and --max-iterations, --deadline or --usd-per-iteration" in failed.stderr
    assert state_at(tmp_path, run_id).status == "failed"
    options = ["--usd-per-iteration", "0.4", "--json"]
    done = subprocess.run([*RUNS, "resume", *options], cwd=tmp_path, capture_output=True, check=True)
    facts = json.loads(done.stdout)
    assert (facts["status"], facts["stop_reason"], facts["cost_usd"]) == ("budget_exceeded", "usd", 0.8)


def test_resume_makes_no_limit_wider(tmp_path: Path):
    run_id = begin(tmp_path, "echo $CORELOOP_ITERATION >> work", max_iterations=1)
    subprocess.run([*RUNS, "resume", "--max-iterations", "5"], cwd=tmp_path, capture_output=True, check=True)
    assert state_at(tmp_path, run_id).iteration == 1


def test_options_are_for_driven_runs(tmp_path: Path, command):
    command(tmp_path, "runs", "open", "why?")
    done = typed(tmp_path, "runs", "resume", "--max-iterations", "5")
    assert "is not one of runs start; leave out the options" in " ".join(
        f"{done.stdout}{done.stderr}".split()
    )


@pytest.mark.parametrize(
    ("state", "says"),
    [
        (State(status="stopped_by_user", ended_by="person"), "a person stopped it"),
        (State(status="stopped_by_user"), "whether a person did cannot be told"),
        (State(status="completed", ended_by="person"), "a person calls it answered"),
        (State(status="completed"), "whether a person did cannot be told"),
    ],
)
def test_a_person_is_named_only_where_one_was_told(state: State, says: str):
    assert says in reason_line(state)


@pytest.mark.slow
def test_where_a_file_cannot_be_used_the_driver_says_how_the_run_goes_on(tmp_path: Path):
    prompt = tmp_path / "prompt.md"
    prompt.write_text("Do it.")
    run_id = begin(tmp_path, "echo $CORELOOP_ITERATION >> work", max_iterations=1, prompt=prompt)
    prompt.unlink()
    done = subprocess.run([*RUNS, "resume"], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert (done.returncode, state_at(tmp_path, run_id).status) == (2, "running")
    assert done.stderr.rstrip().endswith(f"The run goes on with dartlab-coreloop runs resume {run_id}")
    prompt.write_text("Do it.")
    done = subprocess.run([*RUNS, "resume"], cwd=tmp_path, capture_output=True, text=True, check=True)
    assert "stopped (max_iterations)" in done.stdout
