"""The sample of a window: its requests, their order, and the held-out days."""

from datetime import UTC, date, datetime, timedelta
from typing import Any

import pytest

from coreloop.base.date_range import Days
from coreloop.learn.mine import sample as sample_module
from coreloop.learn.mine.sample import Sample, count_providers, read_sample
from coreloop.learn.mine.window import merge
from logs import call, failed, record
from rows import each_row
from samples import ALWAYS, START, asked, rolled, sample_of


def _on_days(*days: int) -> Sample:
    return sample_of(record(ts=(START + timedelta(days=day)).isoformat()) for day in days)


def test_an_empty_window_gives_an_empty_sample():
    sample = read_sample(merge([], ALWAYS))
    assert (sample.requests, sample.n_requests, sample.held_from_us, sample.tools) == (
        (),
        0,
        None,
        frozenset(),
    )


def test_requests_come_in_the_order_of_time_though_the_clock_jumps_back():
    sample = sample_of(record(ts=(START + timedelta(hours=hour)).isoformat()) for hour in (5, 1, 9, 3))
    assert [request.ts_us for request in sample.requests] == sorted(
        request.ts_us for request in sample.requests
    )
    assert sample.n_requests == 4


def test_the_order_of_the_files_changes_nothing_but_their_numbers():
    first, second = rolled([asked(1), asked(3)], "a"), rolled([asked(2), asked(4)], "b")
    questions = [
        [request.question for request in read_sample(merge(files, ALWAYS)).requests]
        for files in ([first, second], [second, first])
    ]
    assert questions[0] == questions[1]


def test_requests_of_other_days_are_left_out():
    window = merge([rolled([asked(0), asked(5)])], Days(date(2026, 4, 6), date(2026, 4, 6)))
    assert len(read_sample(window).requests) == 1


def test_of_too_many_requests_the_smallest_numbers_are_taken(monkeypatch: pytest.MonkeyPatch):
    files = [
        rolled([asked(number) for number in range(start, start + 20)], f"{start}") for start in (0, 20, 40)
    ]
    everything = {request.ts_us for request in read_sample(merge(files, ALWAYS)).requests}
    monkeypatch.setattr(sample_module, "MAX_REQUESTS", 25)
    few = read_sample(merge(files, ALWAYS))
    numbers = sorted(number for rollup in files for number in rollup.tables.sample.collect()["number"])[:25]
    taken = {
        ts
        for rollup in files
        for number, ts in rollup.tables.sample.collect().select("number", "ts_us").rows()
        if number in numbers
    }
    assert {request.ts_us for request in few.requests} == taken < everything
    assert few.n_requests == 60


# --- the last days ---------------------------------------------------------------------------------


@each_row(
    ("days", "held"),
    [
        ((0, 1), {1}),
        ((0, 1, 2), {2}),
        (tuple(range(10)), {7, 8, 9}),
        ((0, 1, 2, 3, 4, 20, 21, 22, 23, 100), {22, 23, 100}),
    ],
    ids=["two days", "three", "ten", "only days with records count"],
)
def test_the_last_30_percent_of_the_days_are_held_out(days: tuple[int, ...], held: set[int]):
    sample = _on_days(*days)
    held_days = {
        (datetime.fromtimestamp(request.ts_us / 1e6, UTC) - START).days
        for request in sample.requests
        if sample.is_held(request)
    }
    assert held_days == held


def test_a_log_of_a_single_day_has_no_held_out_days():
    sample = _on_days(3, 3, 3)
    assert sample.held_from_us is None
    assert not any(map(sample.is_held, sample.requests))


# --- what a request is -----------------------------------------------------------------------------


@each_row(
    ("changes", "succeeded", "counts"),
    [
        ({}, True, True),
        ({"chunk_len": 0}, False, True),
        ({"tool_calls": [failed("t", error="RateLimitError: 429 Too Many Requests")]}, False, False),
    ],
)
def test_a_request_succeeds_fails_or_is_neutral(changes: dict[str, Any], succeeded: bool, counts: bool):
    (request,) = sample_of([record(**changes)]).requests
    assert (request.succeeded, request.counts) == (succeeded, counts)


def test_a_request_without_a_provider_counts_for_none():
    made = [asked(n, provider=provider) for n, provider in enumerate(["b", "a", "b", None, "c", "a"])]
    assert list(count_providers(sample_of(made).requests).items()) == [("a", 2), ("b", 2), ("c", 1)]


def test_places_are_of_the_earliest_success_of_each_question():
    made = [
        asked(0, call("t"), ok=False),
        asked(1, failed("t"), call("u")),
        asked(2, call("t"), question="a"),
        asked(3, call("t"), question="a"),
        asked(4, call("t"), question="b"),
        asked(5, call("t"), question="c"),
    ]
    sample = sample_of(made)
    by_time = [request.offset for request in sample.requests]
    assert sample.places("t", limit=2) == [(0, by_time[2]), (0, by_time[4])]


def test_tools_are_all_that_were_called():
    assert sample_of([asked(0, call("a"), failed("b.c")), asked(1)]).tools == {"a", "b.c"}
