"""Money of driven runs: what a command reported is booked, whatever happens afterwards."""

import json
import os
import random
import signal
import subprocess
import sys
import time
from collections import defaultdict
from datetime import UTC, datetime
from pathlib import Path

import pytest

from coreloop.base.project.workspace import open_workspace
from coreloop.runs.amounts import microusd
from coreloop.runs.events import Reserved
from coreloop.runs.limits import Limits
from coreloop.runs.stores.store import open_store
from driving import begin, go_on, is_alive, state_at
from weekly import WEEKLY

RUNS = [sys.executable, "-m", "coreloop", "runs"]
WORK = "echo $CORELOOP_ITERATION >> tasks"


def wait_for(path: Path, process: subprocess.Popen[bytes]) -> None:
    deadline = time.monotonic() + 60
    while not path.exists():
        assert process.poll() is None
        assert time.monotonic() < deadline
        time.sleep(0.005)


def killed(project: Path, *words: str, marker: str = "paid") -> None:
    """Start a driver, and kill it when its command has made a file."""
    with (project / "said").open("ab") as said:
        driver = subprocess.Popen([*RUNS, *words], cwd=project, stdout=said, stderr=said)
        wait_for(project / marker, driver)
        driver.kill()
        driver.wait()


def resumed(project: Path) -> dict[str, object]:
    done = subprocess.run(
        [*RUNS, "resume", "--json"], cwd=project, capture_output=True, text=True, check=False
    )
    assert done.stdout, done.stderr
    shown: dict[str, object] = json.loads(done.stdout)
    return shown


@pytest.mark.slow
@pytest.mark.parametrize(("price", "booked"), [((), 1.2), (("--usd-per-iteration", "1"), 2.0)])
def test_what_was_reported_before_a_kill_is_booked(price: tuple[str, ...], booked: float, tmp_path: Path):
    script = f"{WORK}; echo '{{\"usd\": 0.6}}'; test -e paid || {{ touch paid; sleep 600; }}"
    killed(tmp_path, "start", "--max-iterations", "1", *price, "--", "sh", "-c", script)
    assert resumed(tmp_path)["cost_usd"] == booked
    assert list((tmp_path / "data" / "runs" / "spending").glob("*")) == []


@pytest.mark.slow
def test_a_run_that_is_stopped_after_a_kill_is_settled_first(tmp_path: Path):
    script = "echo '{\"usd\": 0.6}'; touch paid; sleep 600"
    price = ("--max-iterations", "1", "--usd-per-iteration", "1")
    killed(tmp_path, "start", *price, "--", "sh", "-c", script)
    subprocess.run([*RUNS, "stop"], cwd=tmp_path, check=True, capture_output=True)
    shown = subprocess.run([*RUNS, "show", "--json"], cwd=tmp_path, check=True, capture_output=True)
    state = json.loads(shown.stdout)
    assert (state["status"], state["metrics"]["cost_estimate_usd"]) == ("stopped_by_user", 1.0)
    assert state["metrics"]["reserved_usd"] == 0
    assert list((tmp_path / "data" / "runs" / "spending").glob("*")) == []


@pytest.mark.slow
def test_work_that_a_killed_or_failed_try_did_counts_for_its_iteration(tmp_path: Path):
    script = "echo same > work; test -e paid || { touch paid; sleep 600; }"
    killed(tmp_path, "start", "--max-iterations", "1", "--", "sh", "-c", script)
    assert resumed(tmp_path)["stop_reason"] == "max_iterations"
    failing = "echo same > other; test -e tried || { touch tried; exit 1; }"
    assert go_on(tmp_path, begin(tmp_path, failing, max_iterations=1)).stop_reason == "max_iterations"


@pytest.mark.slow
def test_what_a_report_claims_before_a_kill_is_booked(tmp_path: Path):
    report = json.dumps({"next_actions": ["x"], "usage": {"usd": 0.6}})
    record = f"echo '{report}' | {sys.executable} -m coreloop runs record"
    script = f"{record}; test -e paid || {{ touch paid; sleep 600; }}"
    killed(tmp_path, "start", "--max-iterations", "1", "--", "sh", "-c", script)
    assert resumed(tmp_path)["cost_usd"] == 1.2


def test_a_command_that_breaks_the_kept_output_has_paid_already(tmp_path: Path):
    pay = f"{WORK}; echo '{{\"usd\": 0.6}}'"
    script = f"{pay}; cd .research/sessions/$CORELOOP_RUN; rm -rf output; echo x > output"
    run_id = begin(tmp_path, script, max_iterations=3)
    with pytest.raises(Exception, match="output"):
        go_on(tmp_path, run_id)
    state = state_at(tmp_path, run_id)
    assert (state.status, state.spent.usd, state.reservations) == ("running", 0.6, {})


NESTED = f"{sys.executable} -m coreloop runs start --budget-usd 1000 --max-iterations 9 -- sh -c"


@pytest.mark.slow
def test_a_run_within_a_run_is_charged_to_it_and_stops_at_what_is_left(tmp_path: Path):
    child = f"{WORK}; echo '{{\\\"usd\\\": 0.4}}'"
    script = f'echo x >> parent; {NESTED} "{child}"'
    run_id = begin(tmp_path, script, max_iterations=9, budget_usd=1.0)
    state = go_on(tmp_path, run_id)
    assert (state.status, state.stop_reason, state.iteration) == ("budget_exceeded", "usd", 1)
    assert (state.spent.usd, len((tmp_path / "tasks").read_text().split())) == (1.2, 3)
    with open_store(open_workspace(tmp_path)) as store:
        parent, nested = sorted(store.runs(), key=lambda row: row.run_id != run_id)
        assert (parent.spent.usd, nested.spent.usd, nested.status) == (1.2, 1.2, "budget_exceeded")
        assert store.spent_on(datetime.now(UTC).date()).usd == 1.2  # once


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="ancestors are read from /proc")
def test_a_run_within_a_run_that_clears_its_environment_is_charged_too(tmp_path: Path):
    child = f"{WORK}; echo '{{\\\"usd\\\": 0.4}}'"
    script = (
        f'echo x >> parent; env -u CORELOOP_RUN {NESTED} "{child}"; env -u CORELOOP_RUN {NESTED} "{child}"'
    )
    state = go_on(tmp_path, begin(tmp_path, script, max_iterations=9, budget_usd=1.0))
    assert (state.stop_reason, state.spent.usd) == ("usd", 1.2)


@pytest.mark.slow
def test_a_run_within_a_run_of_another_project_is_refused(tmp_path: Path):
    other = tmp_path / "other"
    other.mkdir()
    script = f"cd {other}; {NESTED} 'echo x >> tasks' 2> said; true"
    go_on(tmp_path, begin(tmp_path, script, max_iterations=1, max_failures=1))
    assert "could not be charged; start runs in the project of that run" in (other / "said").read_text()
    assert not (other / "tasks").exists()


@pytest.mark.parametrize("amount", ["1e999", "9" * 5_000, "-1"])
def test_an_unreadable_amount_counts_as_all_that_is_left_and_is_said(amount: str, tmp_path: Path):
    lines: list[str] = []
    script = f"{WORK}; echo '{{\"usd\": 0.25}}'; echo '{{\"usd\": {amount}}}'"
    state = go_on(tmp_path, begin(tmp_path, script, max_iterations=9, budget_usd=1.0), lines)
    assert (state.status, state.stop_reason, state.iteration, state.spent.usd) == (
        "budget_exceeded",
        "usd",
        1,
        1.0,
    )
    said = [line for line in lines if "cannot be read" in line]
    assert len(said) == 1
    assert said[0].endswith("; all that is left counts: $1.00")


WAITS = "echo '{\"retry_after_s\": 0}'"


@pytest.mark.slow
def test_a_rate_limit_without_end_is_a_failure(tmp_path: Path):
    idle = go_on(tmp_path, begin(tmp_path, f"echo x >> calls.log; rm calls.log; {WAITS}", max_iterations=3))
    assert (idle.stop_reason, idle.iteration) == ("failures", 0)
    assert "a rate limit for the 25th time in a row" in idle.error_log[0]["error"]


@pytest.mark.skipif(sys.platform != "linux", reason="needs a subreaper")
def test_a_process_with_a_session_of_its_own_ends_although_the_keeper_was_killed(tmp_path: Path):
    script = "setsid sleep 600 & echo $! > left; kill -KILL $PPID; wait"
    command = [*RUNS, "start", "--max-iterations", "1", "--max-failures", "1", "--", "sh", "-c", script]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert "exit code 137" in done.stderr
    assert not is_alive((tmp_path / "left").read_text().strip())


AGENT = """
import os, random, signal, sys, time
ends = []
signal.signal(signal.SIGTERM, lambda *_: ends.append(1))
ledger = os.open("ledger", os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
os.write(ledger, b"%d 0\\n" % os.getpid())
chance = random.Random()
for _ in range(chance.randint(1, 12)):
    if ends:
        sys.exit(1)
    micro = chance.randint(1, 90_000)
    os.write(1, b'{"usd": %d.%06d}\\n' % divmod(micro, 1_000_000))
    os.write(ledger, b"%d %d\\n" % (os.getpid(), micro))
    time.sleep(chance.random() / 20)
"""


def booked_and_reported(project: Path, seed: int, price: float | None) -> tuple[int, int]:
    """Drive a run whose driver is killed at random moments; what it booked, and what its command reported."""
    chance = random.Random(seed)
    (project / "agent.py").write_text(AGENT)
    command = ("python3", "agent.py") if price is None else ("env", "python3", "agent.py")
    options = ["--max-iterations", "3", *([] if price is None else ["--usd-per-iteration", str(price)])]
    words = ["start", *options, "--", *command]
    for _ in range(chance.randint(1, 3)):
        with (project / "said").open("ab") as said:
            driver = subprocess.Popen([*RUNS, *words], cwd=project, stdout=said, stderr=said)
            wait_for(project / "ledger", driver)
            time.sleep(chance.random())
            driver.send_signal(signal.SIGKILL)
            driver.wait()
        words = ["resume"]
    with open_store(open_workspace(project)) as store:
        run_id = store.runs()[0].run_id
    if not state_at(project, run_id).is_terminal:
        resumed(project)
    with open_store(open_workspace(project)) as store:
        ((row,), events) = store.runs(), [event for _, event in store.read(run_id)]
        today = store.spent_on(datetime.now(UTC).date()).microusd
    assert row.spent == state_at(project, run_id).spent
    assert today == row.spent.microusd
    paid: dict[str, int] = defaultdict(int)
    for line in (project / "ledger").read_text().splitlines():
        pid, micro = line.split()
        paid[pid] += int(micro)
    least = microusd(price or 0)
    begun = sum(isinstance(event, Reserved) for event in events)  # some were killed before they wrote a line
    reported = sum(max(least, each) for each in paid.values()) + (begun - len(paid)) * least
    return row.spent.microusd, reported


TRIALS = int(os.environ.get("CORELOOP_KILLS", "6" if WEEKLY else "2"))


@pytest.mark.slow
@pytest.mark.parametrize("price", [None, 0.3], ids=["without a price", "with a price"])
@pytest.mark.parametrize("seed", range(TRIALS))
def test_after_kills_at_random_moments_booked_equals_reported(seed: int, price: float | None, tmp_path: Path):
    booked, reported = booked_and_reported(tmp_path, seed, price)
    assert booked == reported
    assert Limits().microusd is not None
    assert booked < Limits().microusd
