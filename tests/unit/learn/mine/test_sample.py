"""The sample of a window: its requests, their order, and the held-out days."""

from datetime import UTC, date, datetime, timedelta
from typing import Any

import polars as pl
import pytest

from coreloop.base.date_range import Days
from coreloop.learn.facts.values import bucket_of
from coreloop.learn.mine import sample as sample_module
from coreloop.learn.mine.sample import Sample, SampledCall, count_providers, draw_number, read_sample
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


def test_of_too_many_requests_the_same_are_taken_again(monkeypatch: pytest.MonkeyPatch):
    requests = [asked(number) for number in range(60)]
    everything = {request.ts_us for request in sample_of(requests).requests}
    monkeypatch.setattr(sample_module, "MAX_REQUESTS", 25)
    few = sample_of(requests)
    assert {request.ts_us for request in few.requests} < everything
    assert (len(few.requests), few.n_requests) == (25, 60)
    assert few.requests == sample_of(requests).requests


@each_row("step_us", [1, 1000, 1_000_000, 86_400_000_000])
@each_row("step_bytes", [0, 1, 512, 4096])
def test_the_draw_favours_no_rhythm(step_us: int, step_bytes: int):
    rows = pl.DataFrame({"n": range(4000)}).select(
        ts_us=1_777_000_000_000_000 + pl.col("n") * step_us,
        offset=(pl.col("n") * step_bytes).cast(pl.UInt64),
    )
    numbers = rows.select(draw_number()).to_series()
    assert 1700 < (numbers < 1 << 63).sum() < 2300
    assert numbers.n_unique() == 4000


def test_a_time_before_1970_has_a_number_too():
    rows = pl.DataFrame({"ts_us": [-5], "offset": [7]}, schema={"ts_us": pl.Int64, "offset": pl.UInt64})
    assert rows.select(draw_number()).item() >= 0


# --- what is read of a call --------------------------------------------------------------------------


def _calls(*calls: Any, **changes: Any) -> tuple[SampledCall, ...]:
    (request,) = sample_of([record(tool_calls=list(calls), **changes)]).requests
    return request.calls


def test_calls_come_in_their_order_with_the_class_of_their_error():
    ok, bad = _calls(call("refund", {"amount": 150}), failed("refund", error="TimeoutError: no"))
    assert (ok.tool, ok.ok, bad.ok, bad.error_class) == ("refund", True, False, "timeout")
    assert ok.arguments["amount"].bucket == bucket_of(150)


def test_no_text_of_a_value_or_a_question_is_in_facts():
    made = call("refund", {"name": "Kim Cheolsu", "deep": {"phone": "010-1234-5678"}})
    facts = rolled([record(tool_calls=[made], question="Kim Cheolsu")]).facts
    written = f"{[table.collect().to_dicts() for table in (facts.requests, facts.calls, facts.texts)]}"
    assert "refund" in written
    assert "Cheolsu" not in written
    assert "5678" not in written


@each_row("value", ["", [], {}])
def test_an_empty_argument_is_named_as_empty(value: Any):
    (made,) = _calls(call("t", {"a": value, "b": 1, "c": None}))
    assert (set(made.arguments), made.empty) == ({"b"}, ("a",))


def test_of_ten_thousand_calls_a_hundred_are_read():
    assert [made.tool for made in _calls(*(call(f"t{n}") for n in range(10_000)))] == [
        f"t{n}" for n in range(100)
    ]


def test_of_ten_thousand_arguments_a_hundred_are_read():
    (made,) = _calls(call("t", {f"a{n}": 1 for n in range(10_000)}))
    assert len(made.arguments) == 100


def test_a_name_that_is_too_long_is_not_read():
    (made,) = _calls(call("t", {"x" * 65: 1, "b": 1}))
    assert set(made.arguments) == {"b"}


# --- where values had stood --------------------------------------------------------------------------


def test_sources_are_kept_up_to_four_places():
    places = {"a": [f"t.f{n}" for n in range(10_000)], "b": []}
    (made,) = _calls(call("t", {"a": 1, "b": 2}, args_from=places))
    assert made.arguments["a"].sources == ("t.f0", "t.f1", "t.f2", "t.f3")
    assert made.arguments["b"].sources == ()


def test_unrecorded_sources_are_none():
    (made,) = _calls(call("t", {"a": 1}))
    assert made.arguments["a"].sources is None


@each_row("wrong", ["t.x", 7, None, {}, {"t.x": 1}, ["t.x", 7], [["t.x"]], [None], True], ids=str)
def test_a_source_of_another_shape_is_not_recorded_and_spoils_nothing_else(wrong: Any):
    first, second = _calls(
        call("t", {"a": 1, "b": 2}, args_from={"a": wrong, "b": ["u.y"]}),
        call("u", {"c": 3}, args_from={"c": []}),
    )
    assert first.arguments["a"].sources is None
    assert first.arguments["b"].sources == ("u.y",)
    assert second.arguments["c"].sources == ()


@each_row("wrong", ["t.x", 7, [], ["a"], True])
@each_row("odd", [{}, {"overrides_used": {"a": 1}}], ids=["plain", "read loosely"])
def test_sources_of_another_shape_leave_the_model_as_it_is(wrong: Any, odd: dict[str, Any]):
    made = call("t", {"a": 1}, args_from=wrong, **odd)
    (request,) = sample_of([record(tool_calls=[made], model="gpt-9")]).requests
    assert request.model == "gpt-9"
    assert request.calls[0].arguments["a"].sources is None


@each_row("wrong", [7, None, ["m"], {}, 10**30])
@each_row("odd", [{}, {"overrides_used": {"a": 1}}], ids=["plain", "read loosely"])
def test_a_model_that_is_no_text_leaves_the_sources_as_they_are(wrong: Any, odd: dict[str, Any]):
    made = call("t", {"a": 1}, args_from={"a": ["u.y"]}, **odd)
    file = rolled([record(tool_calls=[made], model=wrong)])
    (request,) = read_sample(merge([file], ALWAYS)).requests
    assert (request.model, request.calls[0].arguments["a"].sources) == ("", ("u.y",))
    assert "model" not in file.oddities.absent


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
