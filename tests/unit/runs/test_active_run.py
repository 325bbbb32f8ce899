"""A run that a process works on: steps, budget, time, and what other processes say meanwhile."""

import threading
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from coreloop.base.errors import (
    BudgetError,
    RunEndedError,
    RunError,
    RunNotFoundError,
)
from coreloop.runs import events as happened
from coreloop.runs.active_run import work_on
from coreloop.runs.amounts import NOTHING, Amount
from coreloop.runs.decide import Continue, Stop, seconds_left
from coreloop.runs.limits import AnswerReserve, Limits
from coreloop.runs.manage import pause_run, resume_run, stop_run
from coreloop.runs.stores.store import Store
from happenings import state_of
from running import AT_MOST, COST, SetClock, calls_in, counted_call, new_run, store_at

FIVE = Limits(usd=0.0005, tokens=50)
"""Five times `COST`."""


@pytest.fixture
def calls(tmp_path: Path) -> Path:
    return tmp_path / "calls.txt"


def types(store: Store, run_id: str) -> list[str]:
    return [type(event).__name__ for _seq, event in store.read(run_id)]


def paid(cost: Amount = COST, result: Any = None) -> Any:
    return lambda _key: (result, cost)


class PaidError(Exception):
    """An error of a provider that says what the call cost."""

    cost = Amount(7, 1)


def fails(error: BaseException) -> Any:
    def call(_key: str) -> tuple[Any, Amount]:
        raise error

    return call


def test_a_step_is_called_once_and_answers_from_the_journal_ever_after(store: Store, calls: Path):
    run_id = new_run(store)
    with work_on(store, run_id) as run:
        first = run.step("ask", "k", counted_call(calls, "a"), at_most=AT_MOST)
        again = run.step("ask", "k", counted_call(calls, "b"), at_most=AT_MOST)
    with work_on(store, run_id) as run:
        later = run.step("ask", "k", counted_call(calls, "c"), at_most=AT_MOST)
        assert run.state.spent == COST
    assert (first, again, later) == ("a", "a", "a")
    assert calls_in(calls) == {"k": 1}


@pytest.mark.parametrize(
    ("result", "expected"),
    [
        ((1, {"a": (2,)}), [1, {"a": [2]}]),
        (float("nan"), None),
        ({"\ud800": ["\ud800", 1.5, True, None]}, {"?": ["?", 1.5, True, None]}),
    ],
)
def test_a_result_is_the_first_time_what_the_journal_answers_later(result: Any, expected: Any, store: Store):
    with work_on(store, new_run(store)) as run:
        first = run.step("ask", "k", paid(result=result), at_most=AT_MOST)
        assert (first, type(first)) == (expected, type(expected))
        later = run.step("ask", "k", paid(), at_most=AT_MOST)
        assert (later, type(later)) == (expected, type(expected))


@pytest.mark.parametrize("result", [object(), {(1, 2): 3}], ids=["object", "tuple as key"])
def test_a_result_that_is_not_json_fails_the_step_and_is_paid(result: Any, store: Store):
    with work_on(store, new_run(store)) as run:
        with pytest.raises(RunError, match=r"^step ask: its result is not JSON \(.*\); return plain values$"):
            run.step("ask", "k", paid(result=result), at_most=AT_MOST)
        assert (run.state.spent, run.state.reserved, run.state.failures_in_row) == (COST, NOTHING, 1)


@pytest.mark.parametrize(
    ("limits", "reason", "line"),
    [
        (
            Limits(usd=0.0005),
            "usd",
            "0.0003 USD would exceed the limit usd of 0.0005 USD: 0.0003 USD are used or set aside",
        ),
        (
            Limits(usd=None, tokens=50),
            "tokens",
            "30 tokens would exceed the limit tokens of 50 tokens: 30 tokens are used or set aside",
        ),
        (
            Limits(usd=None, tokens=80, answer=AnswerReserve(tokens=30)),
            "tokens",
            "30 tokens would exceed the limit tokens of 80 tokens: 60 tokens are used or set aside",
        ),
    ],
)
def test_a_call_that_could_pass_a_limit_is_not_made(
    limits: Limits, reason: str, line: str, store: Store, calls: Path
):
    with work_on(store, new_run(store, limits=limits)) as run:
        run.step("ask", "1", paid(AT_MOST), at_most=AT_MOST)
        with pytest.raises(BudgetError) as refused:
            run.step("ask", "2", counted_call(calls, ""), at_most=AT_MOST)
        assert (str(refused.value), refused.value.reason) == (f"a call for up to {line}", reason)
        assert (calls_in(calls), run.state.reserved) == ({}, NOTHING)
        assert run.step("local", "3", counted_call(calls, "free", NOTHING), at_most=NOTHING) == "free"


def test_a_call_of_unknown_cost_may_pass_a_limit_once(store: Store):
    with work_on(store, new_run(store, limits=FIVE)) as run:
        run.step("foreign", "1", paid(Amount(400, 1)), at_most=None)
        run.step("foreign", "2", paid(Amount(400, 1)), at_most=None)
        assert run.state.spent.microusd == 800
        with pytest.raises(BudgetError):
            run.step("foreign", "3", paid(), at_most=None)
        assert run.decide() == Stop("budget_exceeded", "usd")


@pytest.mark.parametrize(
    ("error", "at_most", "spent"),
    [
        pytest.param(ValueError("x"), AT_MOST, AT_MOST, id="in full if nobody knows"),
        pytest.param(PaidError(), AT_MOST, PaidError.cost, id="what the exception says"),
        pytest.param(ValueError("x"), None, NOTHING, id="nothing of a foreign command"),
        pytest.param(PaidError(), None, PaidError.cost, id="what a foreign command says"),
    ],
)
def test_a_failed_call_is_settled_and_raised(
    error: Exception, at_most: Amount | None, spent: Amount, store: Store
):
    with work_on(store, new_run(store)) as run:
        for attempt in (1, 2):
            with pytest.raises(type(error)):
                run.step("ask", "k", fails(error), at_most=at_most)
            assert run.state.failures_in_row == attempt
        assert [entry["attempt"] for entry in run.state.error_log] == [1, 2]
        assert run.state.error_log[0]["error"] == f"{type(error).__name__}: {error}"
        assert (run.state.spent, run.state.reserved) == (spent + spent, NOTHING)
        assert run.step("ask", "k", paid(result="at last"), at_most=AT_MOST) == "at last"
        assert run.state.failures_in_row == 0
    with work_on(store, run.run_id) as run, pytest.raises(ZeroDivisionError):
        run.step("ask", "other", fails(ZeroDivisionError()), at_most=None)
    assert run.state.error_log[-1]["attempt"] == 1


def test_ctrl_c_in_a_call_counts_it_in_full_and_is_no_failure(store: Store):
    with work_on(store, new_run(store)) as run:
        with pytest.raises(KeyboardInterrupt):
            run.step("ask", "k", fails(KeyboardInterrupt()), at_most=AT_MOST)
        assert (run.state.spent, run.state.reserved, run.state.failures_in_row) == (AT_MOST, NOTHING, 0)
    assert types(store, run.run_id)[-1] == "Settled"


def test_steps_of_parallel_threads_share_the_budget(store: Store, calls: Path):
    with work_on(store, new_run(store, limits=Limits(usd=0.0015))) as run, ThreadPoolExecutor(5) as pool:

        def search(number: int) -> str:
            try:
                return str(run.step("ask", f"k{number}", counted_call(calls, "ok", AT_MOST), at_most=AT_MOST))
            except BudgetError:
                return "refused"

        found = list(pool.map(search, range(20)))
    assert sorted(found) == ["ok"] * 5 + ["refused"] * 15
    assert sum(calls_in(calls).values()) == 5
    assert state_of(store, run.run_id).spent.microusd == 1500


def test_threads_that_want_the_same_step_wait_for_the_first(store: Store, calls: Path):
    with work_on(store, new_run(store)) as run, ThreadPoolExecutor(5) as pool:
        barrier = threading.Barrier(5)

        def ask(_number: int) -> Any:
            barrier.wait()
            return run.step("ask", "k", counted_call(calls, ["x"]), at_most=AT_MOST)

        assert list(pool.map(ask, range(5))) == [["x"]] * 5
    assert calls_in(calls) == {"k": 1}


def test_the_state_in_memory_is_that_of_the_stored_events(store: Store):
    clock = SetClock()
    run_id = new_run(store)
    with work_on(store, run_id, clock=clock) as run:
        for number in range(3):
            run.record(happened.Noted, name="n", data=(number, "\ud800"))
            clock.pass_(1.5)
            run.step("ask", f"k{number}", paid(), at_most=AT_MOST)
            run.record(happened.SourceRead, source=f"s{number}")
            pause_run(store, run_id, clock=clock)
            resume_run(store, run_id, clock=clock)
            clock.pass_(0.25)
            run.commit_iteration()
        run.end(Stop("stopped", "until"))
        assert state_of(store, run_id) == run.state
        assert run.state.elapsed_s == pytest.approx(5.25)


@pytest.mark.parametrize("jump", [timedelta(days=-400), timedelta(days=400)], ids=["back", "forward"])
def test_a_jump_of_the_clock_changes_neither_elapsed_time_nor_the_deadline(jump: timedelta, store: Store):
    clock = SetClock()
    run_id = new_run(store, limits=Limits(deadline_s=100), clock=clock)
    with work_on(store, run_id, clock=clock) as run:
        clock.pass_(60)
        clock.wall += jump
        run.commit_iteration()
        assert run.state.elapsed_s == 60
        assert run.decide() == Continue()
        clock.pass_(39)
        assert run.decide() == Continue()
        assert seconds_left(run.state, run.now()) == 1
    clock.wall += jump
    with work_on(store, run_id, clock=clock) as run:  # between processes no time passes
        assert seconds_left(run.state, run.now()) == 40
        clock.pass_(39)
        clock.wall -= jump
        assert run.decide() == Continue()
        clock.pass_(1)
        assert run.decide() == Stop("stopped", "deadline")


def test_another_process_pauses_resumes_and_stops_a_run(store: Store, place: str, calls: Path):
    run_id = new_run(store)
    with work_on(store, run_id) as run, store_at(place) as other:
        assert run.decide() == Continue()
        assert pause_run(other, run_id).status == "paused"
        assert pause_run(other, run_id).status == "paused"
        run.step("ask", "k", counted_call(calls, ""), at_most=AT_MOST)  # the iteration goes on to its end
        assert run.decide() == Stop("paused")
        assert resume_run(other, run_id).status == "running"
        assert resume_run(other, run_id).status == "running"
        assert run.decide() == Continue()
        assert stop_run(other, run_id).status == "stopped_by_user"
        with pytest.raises(RunEndedError, match=f"^run {run_id} is over: stopped_by_user; start a new run$"):
            run.step("ask", "l", counted_call(calls, ""), at_most=AT_MOST)
        assert run.decide() == Stop("stopped_by_user")
        assert store.spent_on(run.now().date()) == COST
    assert calls_in(calls) == {"k": 1}
    assert types(store, run_id).count("Paused") == types(store, run_id).count("Resumed") == 1
    for control in (pause_run, resume_run, stop_run):
        with pytest.raises(RunEndedError, match=f"^run {run_id} is over: stopped_by_user; start a new run$"):
            control(store, run_id)
        with pytest.raises(RunNotFoundError):
            control(store, "01ARZ3NDEKTSV4RRFFQ69G5FAV")


def test_a_stop_during_a_call_lets_it_be_settled(store: Store):
    run_id = new_run(store)

    def call(_key: str) -> tuple[str, Amount]:
        stop_run(store, run_id)
        return "done", COST

    with work_on(store, run_id) as run:
        assert run.step("ask", "k", call, at_most=AT_MOST) == "done"
        assert (run.state.status, run.state.spent, run.state.reserved) == ("stopped_by_user", COST, NOTHING)
        with pytest.raises(RunEndedError):
            run.record(happened.Progressed)
