"""What a store keeps beside the events, against the events themselves."""

import tempfile
from collections import Counter
from contextlib import nullcontext
from datetime import timedelta
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from coreloop.base.errors import BudgetError
from coreloop.runs import events as happened
from coreloop.runs.events import Event
from coreloop.runs.stores.store import store_at
from running import MOMENT, new_run

CALL = st.tuples(
    st.sampled_from(["reserve", "settle", "commit", "fail", "unreserved"]),
    st.integers(0, 1),  # the run
    st.integers(0, 2),  # the reservation
    st.integers(0, 60),  # millionths
    st.integers(0, 2),  # days later
)


@pytest.mark.slow
@given(st.lists(CALL, max_size=25))
def test_days_and_runs_have_what_their_calls_spent_and_no_reservation_passes_the_limit(calls):
    """The model: a reservation's day gains its amount, and later what its call cost more or less."""
    days: Counter[int] = Counter()
    spent: Counter[int] = Counter()
    open_calls: dict[tuple[int, int], tuple[int, int]] = {}
    with tempfile.TemporaryDirectory() as folder, store_at(Path(folder, "runs.db")) as store:
        ids = [new_run(store), new_run(store)]
        newest = [1, 1]
        for what, run, name, amount, day in calls:
            call = (run, -1 if what == "unreserved" else name)
            if what == "reserve" and call in open_calls:
                continue
            is_over = what == "reserve" and amount > 0 and days[day] + amount > 100
            with pytest.raises(BudgetError) if is_over else nullcontext():
                store.append(ids[run], [event_of(what, name, amount, day)], after=newest[run], per_day=100)
            if is_over:
                continue
            newest[run] += 1
            if what == "reserve":
                open_calls[call] = (day, amount)
                days[day] += amount
            else:
                counted, reserved = open_calls.pop(call, (day, 0))
                days[counted] += amount - reserved
                spent[run] += amount
        today = [store.spent_on(MOMENT.date() + timedelta(days=day)).microusd for day in range(3)]
        assert today == [days[day] for day in range(3)]
        assert {row.run_id: row.spent.microusd for row in store.runs()} == {
            run_id: spent[run] for run, run_id in enumerate(ids)
        }


def event_of(what: str, name: int, amount: int, day: int) -> Event:
    at, reservation = MOMENT + timedelta(days=day), "" if what == "unreserved" else f"r{name}"
    if what == "reserve":
        return happened.Reserved(at=at, reservation=reservation, microusd=amount)
    if what == "fail":
        return happened.StepFailed(
            at=at, name="n", key="k", attempt=1, error="x", reservation=reservation, microusd=amount
        )
    return happened.Settled(at=at, reservation=reservation, microusd=amount)
