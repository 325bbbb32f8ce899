"""Kills with SIGKILL at the boundaries of a run's events: nothing is done twice, overspent or lost."""

import os
import tempfile
from pathlib import Path

import pytest

from coreloop.runs.active_run import work_on
from coreloop.runs.amounts import NOTHING
from coreloop.runs.events import Settled, StepCommitted, spent
from coreloop.runs.fold import Folding
from coreloop.runs.iteration_loop import drive
from coreloop.runs.limits import Limits
from coreloop.runs.state import State
from coreloop.runs.stores.store import Store
from running import AT_MOST, calls_in, comparable, kill_each, new_run, research, store_at
from weekly import WEEKLY

ITERATIONS = 50
APPENDS = 1 + ITERATIONS * 4 + 1
"""Opened; a free step, a reservation, its step and the commit of each iteration; Ended."""
Point = tuple[int, bool]
"""The append at which a process kills itself, and whether before it."""
LIMITS = Limits(max_iterations=ITERATIONS, usd=1.0)
KILLED = """
from pathlib import Path
from coreloop.runs.iteration_loop import drive
from coreloop.runs.active_run import work_on
from coreloop.runs.state import State
from running import Failpoint, research, store_at

def work(place, run_id, calls, number, is_before):
    with store_at(place) as store, work_on(Failpoint(store, number, is_before=is_before), run_id) as run:
        drive(run, research(Path(calls)))
"""
needs_fork = pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork and no SIGKILL here")


def kill_at(place: str, points: list[Point], folder: Path) -> list[str]:
    """Start a run for each point, and let its process kill itself there; returns the runs' ids."""
    with store_at(place) as store:
        ids = [new_run(store, limits=LIMITS) for _ in points]
    words = [(place, run_id, str(folder / run_id), *point) for run_id, point in zip(ids, points, strict=True)]
    kill_each(KILLED, words)
    return ids


def check(store: Store, run_id: str, calls: Path, undisturbed: State) -> None:
    """Let a killed run go on, and compare its end with that of a run that was not killed."""
    before = calls_in(calls)
    done = {event.key for _seq, event in store.read(run_id) if isinstance(event, StepCommitted)}
    with work_on(store, run_id) as run:
        drive(run, research(calls))
    after = calls_in(calls)
    assert {key: after[key] for key in done} == dict.fromkeys(done, 1)
    assert sum((after - before).values()) == 2 * ITERATIONS - len(done)
    folding, assumed = Folding(), NOTHING
    for _seq, event in store.read(run_id):
        folding.add(event)
        used = folding.state.spent + folding.state.reserved
        assert used.microusd <= (LIMITS.microusd or 0)
        assumed += spent(event) if isinstance(event, Settled) else NOTHING
    assert folding.state.reserved == NOTHING
    assert folding.state.spent - assumed == undisturbed.spent
    assert assumed in {NOTHING, AT_MOST}
    assert comparable(folding.state) == comparable(undisturbed)


@pytest.fixture
def undisturbed(tmp_path: Path) -> State:
    """The end of a run that was not killed."""
    with store_at(str(tmp_path / "whole.db")) as store:
        run_id = new_run(store, limits=LIMITS)
        with work_on(store, run_id) as run:
            drive(run, research(tmp_path / "whole"))
        return run.state


def check_all(place: str, points: list[Point], undisturbed: State, folder: Path) -> None:
    ids = kill_at(place, points, folder)
    with store_at(place) as store:
        for run_id, point in zip(ids, points, strict=True):
            if point == (APPENDS, False):
                assert run_id in {row.run_id for row in store.runs(status="stopped")}  # killed after its end
            else:
                check(store, run_id, folder / run_id, undisturbed)


@pytest.mark.slow
@needs_fork
def test_a_killed_run_ends_as_if_it_was_not_killed(place: str, undisturbed: State, tmp_path: Path):
    """Killed when it was opened; before, in and behind a call; behind an iteration; before the end."""
    points = [(1, False), (3, True), (3, False), (4, True), (4, False), (5, False), (APPENDS, True)]
    check_all(place, points, undisturbed, tmp_path)


@needs_fork
@pytest.mark.slow
def test_a_run_killed_at_any_boundary_ends_as_if_it_was_not_killed(undisturbed: State):
    """Behind each append, and between a call and its result's append; weekly at all. In memory, for speed."""
    memory = "/dev/shm" if Path("/dev/shm").is_dir() else None
    behind = [(number, False) for number in range(1, APPENDS + 1)]
    called = [(number, True) for number in range(2, APPENDS, 2)]
    points = [*behind, *called][:: 1 if WEEKLY else 3]
    with tempfile.TemporaryDirectory(dir=memory) as folder:
        check_all(f"{folder}/runs.db", points, undisturbed, Path(folder))


@needs_fork
@pytest.mark.slow
def test_a_run_that_is_killed_again_and_again_gets_to_its_end(tmp_path: Path, undisturbed: State):
    """Each process of it gets three events further."""
    place, calls = str(tmp_path / "runs.db"), tmp_path / "calls"
    with store_at(place) as store:
        run_id = new_run(store, limits=LIMITS)
    kill_each(KILLED, [(place, run_id, str(calls), 4, False)] * ITERATIONS)
    with store_at(place) as store, work_on(store, run_id) as run:
        assert run.state.iteration > 10
        drive(run, research(calls))
        assert comparable(run.state) == comparable(undisturbed)
    assert set(calls_in(calls).values()) <= {1, 2}
