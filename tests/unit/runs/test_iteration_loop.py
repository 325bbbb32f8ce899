"""The loop around iterations: who ends a run, and what can be resumed."""

from pathlib import Path

import pytest

from coreloop.base.errors import WorkspaceError
from coreloop.runs import events as happened
from coreloop.runs.active_run import Run, work_on
from coreloop.runs.amounts import Amount
from coreloop.runs.decide import Stop
from coreloop.runs.iteration_loop import drive
from coreloop.runs.limits import AnswerReserve, Limits
from coreloop.runs.stores.store import Store
from happenings import fold
from running import COST, calls_in, counted_call, new_run, research


def ended(store: Store, run_id: str) -> tuple[str, str | None]:
    state = fold(event for _seq, event in store.read(run_id))
    return state.status, state.stop_reason


def test_the_answer_is_written_before_the_end_from_its_reserve(store: Store, tmp_path: Path):
    limits = Limits(usd=0.0005, answer=AnswerReserve(usd=0.0003))
    told: list[Stop] = []

    def answer(run: Run, stop: Stop) -> None:
        told.append(stop)
        run.step("answer", "answer", lambda _key: ("42", Amount(300)), at_most=Amount(300), is_answer=True)

    run_id = new_run(store, limits=limits)
    with work_on(store, run_id) as run:
        stop = drive(
            run,
            lambda run: run.step("ask", f"{run.state.iteration}", lambda _key: (1, COST), at_most=COST),
            answer=answer,
        )
    assert told == [stop] == [Stop("budget_exceeded", "usd")]
    step = store.step(run_id, "answer")
    assert step is not None
    assert step.result == "42"
    assert fold(event for _seq, event in store.read(run_id)).spent.microusd == 500


def test_an_error_of_ours_fails_the_run_and_is_raised(store: Store):
    def iterate(run: Run) -> None:
        run.record(happened.SourceRead, source="s")
        raise ZeroDivisionError("by nought")

    run_id = new_run(store)
    with work_on(store, run_id) as run, pytest.raises(ZeroDivisionError):
        drive(run, iterate)
    assert ended(store, run_id) == ("failed", None)
    *_, (_seq, last) = store.read(run_id)
    assert isinstance(last, happened.Ended)
    assert last.error == "ZeroDivisionError: by nought"


def test_ctrl_c_leaves_a_run_that_goes_on_with_the_same_iteration(store: Store, tmp_path: Path):
    calls = tmp_path / "calls"

    def iterate(run: Run) -> None:
        run.record(happened.Searched, query=f"q{run.state.iteration}", outcome="found")
        run.step("ask", f"k{run.state.iteration}", counted_call(calls, ""), at_most=COST)
        if run.state.iteration == 1 and calls_in(calls)["k2"] == 0 and not interrupted:
            interrupted.append(True)
            raise KeyboardInterrupt

    interrupted: list[bool] = []
    run_id = new_run(store, limits=Limits(max_iterations=3))
    with work_on(store, run_id) as run, pytest.raises(KeyboardInterrupt):
        drive(run, iterate)
    assert ended(store, run_id) == ("running", None)
    with work_on(store, run_id) as run:
        assert drive(run, iterate) == Stop("stopped", "max_iterations")
        assert run.state.queries == 3
    assert calls_in(calls) == {"k0": 1, "k1": 1, "k2": 1}


def test_a_view_that_cannot_be_written_ends_the_loop_and_not_the_run(store: Store, tmp_path: Path):
    seen: list[int] = []

    def show(run: Run) -> None:
        seen.append(run.state.iteration)
        if len(seen) == 2:
            raise WorkspaceError("the disk is full", path="state.json")

    run_id = new_run(store, limits=Limits(max_iterations=3))
    with (
        work_on(store, run_id) as run,
        pytest.raises(WorkspaceError, match=r"^state\.json: the disk is full$"),
    ):
        drive(run, research(tmp_path / "calls"), show=show)
    assert ended(store, run_id) == ("running", None)
    with work_on(store, run_id) as run:
        assert drive(run, research(tmp_path / "calls"), show=show) == Stop("stopped", "max_iterations")
    assert seen == [1, 2, 3, 3]


@pytest.mark.parametrize("is_killed", [False, True])
def test_an_iteration_that_a_dead_process_paid_for_is_finished_although_its_cost_reached_the_limit(
    is_killed: bool, store: Store, tmp_path: Path
):
    def iterate(run: Run) -> None:
        run.step("ask", f"k{run.state.iteration}", counted_call(tmp_path / "calls", ""), at_most=COST)
        run.record(happened.SourceRead, source=f"s{run.state.iteration}")

    run_id = new_run(store, limits=Limits(usd=2 * COST.usd))
    if is_killed:
        with work_on(store, run_id) as run:
            iterate(run)
            run.commit_iteration()
            iterate(run)  # and dies before the commit
    with work_on(store, run_id) as run:
        assert drive(run, iterate) == Stop("budget_exceeded", "usd")
        assert (run.state.iteration, run.state.read_sources) == (2, {"s0", "s1"})
    assert calls_in(tmp_path / "calls") == {"k0": 1, "k1": 1}


def test_a_committed_answer_begins_no_other_iteration(store: Store):
    def answer(run: Run, _stop: Stop) -> None:
        run.step("answer", "answer", lambda _key: ("42", COST), at_most=COST, is_answer=True)
        raise KeyboardInterrupt

    run_id = new_run(store, limits=Limits(max_iterations=1))
    with work_on(store, run_id) as run, pytest.raises(KeyboardInterrupt):
        drive(run, lambda run: None, answer=answer)
    with work_on(store, run_id) as run:
        assert drive(run, lambda run: None) == Stop("stopped", "max_iterations")
        assert run.state.iteration == 1
