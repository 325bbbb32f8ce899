"""What every store of runs does, in SQLite and in Postgres."""

import threading
from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Any

import pytest

from coreloop.base.errors import BudgetError, RunBusyError, RunError, RunNotFoundError
from coreloop.runs import events as happened
from coreloop.runs.amounts import NOTHING, Amount
from coreloop.runs.events import Event, as_stored
from coreloop.runs.stores.store import Store
from happenings import fold
from running import MOMENT, SetClock, new_run, python, store_at

DAY = MOMENT.date()
HOSTILE = "a\0b \ud800 가\u202e '; DROP TABLE runs; --\n" + "x" * 10_000


def noted(n: int) -> Event:
    return happened.Noted(at=MOMENT, name="n", data=n)


def reserved(name: str, microusd: int, at: datetime = MOMENT) -> happened.Reserved:
    return happened.Reserved(at=at, reservation=name, microusd=microusd, tokens=microusd)


def settled(name: str, microusd: int, at: datetime = MOMENT) -> happened.Settled:
    return happened.Settled(at=at, reservation=name, microusd=microusd, tokens=microusd)


def committed(key: str, **fields: Any) -> happened.StepCommitted:
    return happened.StepCommitted(at=MOMENT, name="ask", key=key, **fields)


def numbers(store: Store, run_id: str) -> list[int]:
    return [seq for seq, _event in store.read(run_id)]


def test_events_are_read_in_the_order_in_which_they_were_appended(store: Store):
    run_id = new_run(store, question=HOSTILE)
    added = [noted(n) for n in range(2500)]
    assert store.append(run_id, added[:1], after=1) == []
    assert store.append(run_id, added[1:], after=2) == []
    (first, created), *rest = store.read(run_id)
    assert (first, created.question) == (1, HOSTILE.replace("\ud800", "?"))
    assert rest == list(enumerate(added, start=2))
    assert list(store.read(run_id, after=2499)) == rest[-2:]
    assert list(store.read(run_id, after=2501)) == []


def test_who_does_not_know_the_newest_event_gets_those_that_came_between(store: Store):
    run_id = new_run(store)
    pause = happened.Paused(at=MOMENT)
    assert store.append(run_id, [pause], after=1) == []
    assert store.append(run_id, [reserved("a", 5)], after=1) == [(2, pause)]
    assert numbers(store, run_id) == [1, 2]
    assert store.spent_on(DAY) == NOTHING


def test_all_events_are_appended_or_none(store: Store):
    run_id = new_run(store)
    with pytest.raises(BudgetError):
        store.append(run_id, [noted(1), reserved("a", 5), reserved("b", 6)], after=1, per_day=10)
    assert numbers(store, run_id) == [1]
    assert store.spent_on(DAY) == NOTHING
    assert store.append(run_id, [reserved("a", 5), reserved("b", 5)], after=1, per_day=10) == []


@pytest.mark.parametrize("key", ["k", "a\0b", "\ud800", "k" * 100_000, ""], ids=len)
def test_a_committed_step_is_found_by_its_key(key: str, store: Store):
    run_id, other = new_run(store), new_run(store)
    step = committed(key, result={"text": HOSTILE, "list": [1, None, 2.5]})
    assert store.step(run_id, key) is None
    store.append(run_id, [step], after=1)
    assert store.step(run_id, key) == as_stored(step)
    assert store.step(other, key) is None


@pytest.mark.parametrize(
    "call",
    [
        lambda store, run_id: list(store.read(run_id)),
        lambda store, run_id: store.append(run_id, [noted(1)], after=0),
        lambda store, run_id: store.hold(run_id).__enter__(),
        lambda store, run_id: store.forget(run_id),
        lambda store, run_id: store.step(run_id, "k"),
    ],
    ids=["read", "append", "hold", "forget", "step"],
)
@pytest.mark.parametrize("run_id", ["01ARZ3NDEKTSV4RRFFQ69G5FAV", "../../x", "a\0b\n", "", "\ud800"])
def test_an_unknown_run_is_one_line(run_id: str, call: Callable[[Store, str], object], store: Store):
    new_run(store)
    with pytest.raises(RunNotFoundError, match=r"^no run .*; `dartlab-coreloop runs list` shows") as failed:
        call(store, run_id)
    assert str(failed.value).isprintable()


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ('event = \'{"type":"beamed"}\'', r"an event that cannot be read \(Invalid value 'beamed'"),
        ("event = '{'", r"an event that cannot be read \(.*\); upgrade coreloop, or restore the store"),
    ],
)
def test_an_event_that_cannot_be_read_is_refused_with_its_run_and_hides_no_other(
    change: str, message: str, store: Store
):
    run_id = new_run(store)
    assert isinstance(store, Store)
    with store._database.writing():
        store._database.rows(f"UPDATE events SET {change}")
    other = new_run(store)
    with pytest.raises(RunError, match=f"^{run_id}: the run has {message}"):
        list(store.read(run_id))
    listed = {row.run_id: row.question for row in store.runs()}
    assert listed == {run_id: "why?", other: "why?"}


def test_a_reservation_counts_until_its_call_is_settled(store: Store):
    run_id = new_run(store)
    store.append(run_id, [reserved("a", 30), reserved("b", 40)], after=1)
    assert store.spent_on(DAY) == Amount(70, 70)
    store.append(run_id, [committed("k", reservation="a", microusd=10, tokens=20)], after=3)
    assert store.spent_on(DAY) == Amount(50, 60)
    failed = happened.StepFailed(
        at=MOMENT, name="n", key="k", attempt=1, error="x", reservation="b", microusd=1
    )
    store.append(run_id, [failed], after=4)
    assert store.spent_on(DAY) == Amount(11, 20)
    assert [row.spent for row in store.runs()] == [Amount(11, 20)]


def test_a_call_across_midnight_counts_for_the_day_of_its_reservation(store: Store):
    run_id = new_run(store)
    later = MOMENT + timedelta(days=1)
    store.append(run_id, [reserved("a", 30)], after=1)
    store.append(run_id, [settled("a", 10, later), committed("free"), reserved("b", 7, later)], after=2)
    assert [store.spent_on(DAY + timedelta(days=n)).microusd for n in (-1, 0, 1)] == [0, 10, 7]


def test_a_reservation_over_the_daily_limit_is_refused_and_what_is_under_it_is_not(store: Store):
    first, second = new_run(store), new_run(store)
    store.append(first, [reserved("a", 600_000)], after=1, per_day=1_000_000)
    line = "a call for up to 0.5000 USD would exceed the limit usd_per_day of 1.0000 USD: 0.6000 USD are used"
    with pytest.raises(BudgetError, match=line) as refused:
        store.append(second, [reserved("a", 500_000)], after=1, per_day=1_000_000)
    assert refused.value.reason == "usd_per_day"
    assert store.append(second, [reserved("a", 400_000)], after=1, per_day=1_000_000) == []


def test_a_forgotten_run_still_counts_for_its_day(store: Store):
    run_id = new_run(store)
    store.append(run_id, [reserved("a", 5), reserved("b", 6), settled("a", 4)], after=1)
    store.forget(run_id)
    assert store.spent_on(DAY) == Amount(10, 10)


ENDS: dict[str, list[Event]] = {
    "new": [],
    "paused": [happened.Paused(at=MOMENT)],
    "resumed": [happened.Paused(at=MOMENT), happened.Resumed(at=MOMENT)],
    "resumed in vain": [happened.Resumed(at=MOMENT)],
    "stopped while paused": [happened.Paused(at=MOMENT), happened.StopRequested(at=MOMENT)],
    "stopped": [happened.StopRequested(at=MOMENT), happened.Ended(at=MOMENT, status="completed")],
    "ended": [
        happened.IterationCommitted(at=MOMENT, iteration=7),
        happened.Ended(at=MOMENT, status="stopped", reason="tokens"),
        happened.Paused(at=MOMENT),
        happened.StopRequested(at=MOMENT),
    ],
}


@pytest.mark.parametrize("events", ENDS.values(), ids=ENDS)
@pytest.mark.parametrize("at_once", [True, False])
def test_a_list_shows_a_run_as_its_events_do(events: list[Event], at_once: bool, store: Store):
    run_id = new_run(store, mode="exhaust", clock=SetClock())
    for seq, part in enumerate([events] if at_once else [[event] for event in events], start=1):
        assert not part or store.append(run_id, part, after=seq) == []
    state = fold(event for _seq, event in store.read(run_id))
    (row,) = store.runs()
    assert (row.status, row.stop_reason, row.iteration) == (state.status, state.stop_reason, state.iteration)
    assert (row.run_id, row.kind, row.mode, row.question) == (run_id, "research", "exhaust", "why?")
    assert (row.created_at, row.updated_at) == (MOMENT, MOMENT)


def test_a_list_is_of_a_kind_and_a_status_with_the_newest_first(store: Store):
    clock = SetClock()
    ids = []
    for _ in range(4):
        ids.append(new_run(store, clock=clock))
        clock.pass_(1)
    store.append(ids[1], [happened.Paused(at=MOMENT)], after=1)
    assert [row.run_id for row in store.runs()] == ids[::-1]
    assert [row.run_id for row in store.runs(limit=2)] == ids[:1:-1]
    assert [row.run_id for row in store.runs(status="paused", kind="research")] == [ids[1]]
    assert store.runs(kind="repair") == []


def test_one_handle_holds_a_run_and_another_run_can_be_held_beside_it(store: Store, place: str):
    run_id, other = new_run(store), new_run(store)
    with store_at(place) as second:
        with store.hold(run_id), store.hold(other):
            for handle in (store, second):
                with pytest.raises(
                    RunBusyError, match=rf"^another process works on run {run_id}; wait until"
                ):
                    handle.hold(run_id).__enter__()
        with second.hold(run_id), pytest.raises(RunBusyError):
            store.hold(run_id).__enter__()
    with store.hold(run_id):
        pass


HOLD = """
import sys
from running import store_at
with store_at(sys.argv[1]) as store, store.hold(sys.argv[2]):
    print("held", flush=True)
    sys.stdin.read()
"""


@pytest.mark.slow
def test_a_killed_process_holds_nothing(store: Store, place: str):
    run_id = new_run(store)
    with python(HOLD, place, run_id) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "held\n"
        with pytest.raises(RunBusyError):
            store.hold(run_id).__enter__()
        process.kill()
    for _ in range(1000):  # a server notices a little later
        try:
            store.hold(run_id).__enter__()
        except RunBusyError:
            threading.Event().wait(0.01)
        else:
            return
    pytest.fail("still held")


def test_a_forgotten_run_is_gone_and_others_are_not(store: Store):
    run_id, other = new_run(store), new_run(store)
    store.append(run_id, [committed("k"), reserved("a", 1)], after=1)
    with store.hold(run_id), pytest.raises(RunBusyError):
        store.forget(run_id)
    store.forget(run_id)
    assert [row.run_id for row in store.runs()] == [other]
    with pytest.raises(RunNotFoundError):
        numbers(store, run_id)


def test_what_a_kind_learnt_outlives_its_runs(store: Store):
    assert store.reflexion("research") is None
    run_id = new_run(store)
    assert store.change_reflexion("research", lambda before: repr(before).encode()) == b"None"
    store.forget(run_id)
    assert store.reflexion("research") == b"None"
    assert store.reflexion("repair") is None
    with pytest.raises(ZeroDivisionError):
        store.change_reflexion("research", lambda before: b"%d" % (1 // 0))
    assert store.change_reflexion("research", lambda before: (before or b"") + b"\0!") == b"None\0!"


ADD = """
import sys
from running import store_at
with store_at(sys.argv[1]) as store:
    for _ in range(50):
        store.change_reflexion("research", lambda before: b"%d" % (int(before or 0) + 1))
"""


@pytest.mark.slow
def test_no_process_overwrites_what_another_has_learnt(place: str):
    processes = [python(ADD, place) for _ in range(4)]
    assert [process.communicate()[1] for process in processes] == [""] * 4
    with store_at(place) as store:
        assert store.reflexion("research") == b"200"


def test_threads_take_turns(store: Store):
    ids = [new_run(store) for _ in range(4)]

    def work(run_id: str) -> None:
        for seq in range(1, 26):
            assert store.append(run_id, [committed(f"k{seq}", microusd=1)], after=seq) == []
            assert store.step(run_id, f"k{seq}") is not None

    threads = [threading.Thread(target=work, args=(run_id,)) for run_id in ids]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [len(numbers(store, run_id)) for run_id in ids] == [26] * 4
    assert store.spent_on(DAY).microusd == 100
