"""Several processes on one store: a thousand runs, one run that all want, one daily limit that all share."""

import subprocess
from pathlib import Path

import pytest

from coreloop.runs.limits import Limits
from happenings import state_of
from running import COST, MOMENT, calls_in, new_run, python, store_at

PROCESSES = 8


def outputs(processes: list[subprocess.Popen[str]]) -> list[str]:
    """Wait for processes; none may say anything on standard error."""
    ended = [process.communicate() for process in processes]
    assert [errors for _out, errors in ended] == [""] * len(processes)
    return [out for out, _errors in ended]


MANY = """
import sys
from pathlib import Path
from coreloop.runs.iteration_loop import drive
from coreloop.runs.limits import Limits
from coreloop.runs.active_run import work_on
from running import SetClock, new_run, research, store_at
with store_at(sys.argv[1]) as store:
    for _ in range(int(sys.argv[2])):
        run_id = new_run(store, limits=Limits(max_iterations=2))
        with work_on(store, run_id, clock=SetClock()) as run:
            drive(run, research(Path(sys.argv[3])))
"""


@pytest.mark.slow
def test_eight_processes_work_on_a_thousand_runs_of_one_store(place: str, tmp_path: Path):
    each = 1000 // PROCESSES
    files = [tmp_path / f"calls-{number}" for number in range(PROCESSES)]
    outputs([python(MANY, place, str(each), str(file)) for file in files])
    with store_at(place) as store:
        rows = store.runs()
        assert len(rows) == len({row.run_id for row in rows}) == 1000
        assert {(row.status, row.iteration, row.spent) for row in rows} == {("stopped", 2, COST + COST)}
        assert store.spent_on(MOMENT.date()).microusd == 2000 * COST.microusd
        assert {state_of(store, row.run_id).calls for row in rows[::100]} == {4}
    assert [sum(calls_in(file).values()) for file in files] == [4 * each] * PROCESSES


SAME = """
import sys
from pathlib import Path
from coreloop.base.errors import RunBusyError, RunEndedError
from coreloop.runs.iteration_loop import drive
from coreloop.runs.active_run import work_on
from running import research, store_at
with store_at(sys.argv[1]) as store:
    print("ready", flush=True)
    sys.stdin.readline()
    try:
        with work_on(store, sys.argv[2]) as run:
            print("works", flush=True)
            sys.stdin.readline()
            drive(run, research(Path(sys.argv[3])))
    except (RunBusyError, RunEndedError) as error:
        print(error, flush=True)
"""


def test_of_two_processes_one_works_on_a_run_and_the_other_is_told_who(place: str, tmp_path: Path):
    with store_at(place) as store:
        run_id = new_run(store, limits=Limits(max_iterations=2))
    both = [python(SAME, place, run_id, str(tmp_path / "calls")) for _ in range(2)]
    lines = {}
    for process in both:
        assert process.stdin is not None
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
    for process in both:
        assert process.stdin is not None
        process.stdin.write("go\n")
        process.stdin.flush()
    for process in both:
        assert process.stdout is not None
        lines[process.stdout.readline()] = process
    worker = lines.pop("works\n")
    (line,) = lines
    assert line.startswith(f"process {worker.pid} on ")
    assert line.endswith(f" works on run {run_id}; wait until it ends, or pause or stop the run\n")
    outputs(both)
    with store_at(place) as store:
        assert state_of(store, run_id).status == "stopped"
    assert calls_in(tmp_path / "calls") == {"search-0": 1, "read-0": 1, "search-1": 1, "read-1": 1}


SPEND = """
import os, random, signal, sys
from coreloop.base.errors import BudgetError
from coreloop.runs.amounts import Amount
from coreloop.runs.limits import Limits
from coreloop.runs.active_run import work_on
from running import SetClock, new_run, store_at
made = 0
with store_at(sys.argv[1]) as store:
    run_id = new_run(store, limits=Limits(usd_per_day=0.1), clock=SetClock())
    with work_on(store, run_id, clock=SetClock()) as run:
        def call(key):
            if key == sys.argv[2]:
                os.kill(os.getpid(), signal.SIGKILL)
            return None, Amount(random.randint(0, 1000))
        try:
            while True:
                run.step("ask", str(made), call, at_most=Amount(1000))
                made += 1
        except BudgetError as error:
            print(error.reason)
"""


@pytest.mark.slow
def test_eight_processes_never_pass_the_daily_limit(place: str):
    """Two more were killed in a call, which counts in full."""
    day, limit = MOMENT.date(), 100_000
    killed = [python(SPEND, place, "5").communicate() for _ in range(2)]
    assert killed == [("", "")] * 2
    with store_at(place) as store:
        processes = [python(SPEND, place, "") for _ in range(PROCESSES)]
        seen = [0]
        while any(process.poll() is None for process in processes):
            seen.append(store.spent_on(day).microusd)
        ended = [process.communicate() for process in processes]
        states = [state_of(store, row.run_id) for row in store.runs()]
        used = store.spent_on(day)
    assert max(seen) <= limit
    assert len(set(seen)) > 3  # it was looked at while they spent
    assert ended == [("usd_per_day\n", "")] * PROCESSES
    assert used.microusd == sum(state.spent.microusd + state.reserved.microusd for state in states)
    assert limit - 1000 < used.microusd <= limit
    assert sum(state.reserved.microusd for state in states) == 2000
