"""Sampling: which requests of a file are stored call by call, and what is stored of them, for any line."""

import json
from datetime import timedelta
from itertools import pairwise
from typing import Any

import msgspec
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from coreloop.learn.mine.cache import write_tables
from coreloop.learn.mine.rollup import count_lines
from coreloop.learn.mine.sampling import SampledCall, sample_number
from coreloop.learn.mine.tables import MAX_SAMPLED, Tables, merge_tables
from coreloop.learn.mine.values import EDGES, bucket_of, value_hash
from logs import call, failed, line, record
from rows import each_row
from samples import START, mine_settings

_decode = msgspec.json.Decoder(list[SampledCall]).decode


def _lines(count: int) -> list[tuple[int, bytes]]:
    """Small records, a second apart."""
    made = []
    for number in range(count):
        row = {
            "ts": (START + timedelta(seconds=number)).isoformat(),
            "tool_calls": [{"name": "t", "ok": True}],
        }
        made.append((number * 90, json.dumps(row).encode()))
    return made


def _counted(lines: list[tuple[int, bytes]]) -> Tables:
    return count_lines(lines, mine_settings())[0]


def _sample(*parts: Tables) -> pl.DataFrame:
    return merge_tables(parts).sample.collect()


def _kept(*calls: Any, raw: bytes | None = None, **changes: Any) -> dict[str, Any]:
    """The row of one record."""
    made = raw if raw is not None else line(record(tool_calls=list(calls), **changes))
    return _sample(_counted([(0, made)])).row(0, named=True)


def _calls(*calls: Any, **changes: Any) -> list[SampledCall]:
    return _decode(_kept(*calls, **changes)["calls"])


# --- which requests --------------------------------------------------------------------------------


def test_up_to_the_limit_every_request_is_kept():
    assert _sample(_counted(_lines(MAX_SAMPLED))).height == MAX_SAMPLED


def test_a_busy_file_keeps_the_requests_with_the_smallest_numbers():
    lines = _lines(MAX_SAMPLED + 500)
    numbers = sorted(
        sample_number(int((START + timedelta(seconds=n)).timestamp() * 1e6), n * 90)
        for n in range(len(lines))
    )
    assert _sample(_counted(lines))["number"].to_list() == numbers[:MAX_SAMPLED]


@pytest.fixture(scope="module")
def busy() -> list[tuple[int, bytes]]:
    return _lines(2 * MAX_SAMPLED + 100)


@pytest.mark.slow
@given(data=st.data())
def test_the_sample_is_the_same_whatever_the_parts_and_their_order(
    data: st.DataObject, busy: list[tuple[int, bytes]]
):
    lines = data.draw(st.sampled_from((busy[:40], busy)))
    cuts = sorted(data.draw(st.sets(st.integers(1, len(lines) - 1), max_size=3)))
    parts = [_counted(lines[first:last]) for first, last in pairwise([0, *cuts, len(lines)])]
    shuffled = data.draw(st.permutations(parts))
    assert _sample(*shuffled).equals(_sample(_counted(lines)))


@given(data=st.data())
def test_parts_merge_in_any_grouping(data: st.DataObject, busy: list[tuple[int, bytes]]):
    first, second, third = (_counted(busy[start : start + 1500]) for start in (0, 1500, 3000))
    nested = _sample(merge_tables([merge_tables([third, first]), second]))
    assert nested.equals(_sample(first, second, third))


@pytest.mark.slow
@given(cut=st.integers(1, 299))
def test_a_sample_has_the_same_bytes_for_any_split_of_its_lines(
    cut: int, tmp_path_factory: pytest.TempPathFactory
):
    folder, lines = tmp_path_factory.mktemp("rollups"), _lines(300)
    parts = [_counted(lines[cut:]), _counted(lines[:cut])]
    write_tables(merge_tables([_counted(lines)]), folder / "whole")
    write_tables(merge_tables(parts), folder / "parts")
    written = [(folder / name / "sample.parquet").read_bytes() for name in ("whole", "parts")]
    assert written[0] == written[1]


def test_the_draw_favours_no_hour():
    times = _sample(_counted(_lines(4 * MAX_SAMPLED)))["ts_us"].sort()
    begun = int(START.timestamp() * 1e6)
    eighths = [((times - begun) // (MAX_SAMPLED * 500_000) == place).sum() for place in range(8)]
    assert sum(eighths) == MAX_SAMPLED
    assert all(abs(count - MAX_SAMPLED / 8) < 5 * (MAX_SAMPLED / 8) ** 0.5 for count in eighths)


@each_row("step_us", [1, 1000, 1_000_000, 86_400_000_000])
@each_row("step_bytes", [0, 1, 512, 4096])
def test_numbers_are_spread_evenly_whatever_the_rhythm(step_us: int, step_bytes: int):
    numbers = [sample_number(1_777_000_000_000_000 + n * step_us, n * step_bytes) for n in range(4000)]
    lower = sum(number < 1 << 63 for number in numbers)
    assert 1700 < lower < 2300
    assert len(set(numbers)) == 4000


# --- what is stored of a call ------------------------------------------------------------------------


def test_a_call_keeps_its_tool_its_class_of_error_and_hashes_of_values():
    ok, bad = _calls(
        call("refund", {"order_id": "W1", "amount": 150}), failed("refund", error="TimeoutError: no")
    )
    assert (ok.tool, ok.ok, bad.ok, bad.error_class) == ("refund", True, False, "timeout")
    assert ok.arguments["order_id"].value == value_hash("W1")
    assert ok.arguments["amount"].bucket == bucket_of(150)


def test_no_text_of_a_value_is_kept():
    row = _kept(
        call("refund", {"name": "Kim Cheolsu", "deep": {"phone": "010-1234-5678"}}), question="Kim Cheolsu"
    )
    assert "Cheolsu" not in str(row)
    assert "5678" not in row["calls"]


@each_row("value", [None, "", [], {}])
def test_an_empty_argument_counts_as_absent(value: Any):
    (sampled_call,) = _calls(call("t", {"a": value, "b": 1}))
    assert set(sampled_call.arguments) == {"b"}


@each_row(
    ("value", "other"),
    [("W1", " W1 "), ("é", "e\u0301"), (1, 1.0), (7, "7"), (True, "true"), (123456789, 123456789.0)],
)
def test_equivalent_values_have_the_same_hash(value: Any, other: Any):
    assert value_hash(value) == value_hash(other)


def test_long_numbers_that_differ_are_different_values():
    assert value_hash(123456789.0) != value_hash(123456788.0)
    assert value_hash(0.1234567) != value_hash(0.1234568)


@each_row(
    "raw", [b"1e400", b"9" * 5000, b"-" + b"9" * 400, b"[" * 300 + b"]" * 300, b'"' + b"x" * 100_000 + b'"']
)
def test_an_undecodable_value_is_present_and_differs_from_others(raw: bytes):
    made = line(record(tool_calls=[call("t", {"a": "HUGE", "b": "W1"})])).replace(b'"HUGE"', raw)
    row = _sample(_counted([(0, made)]))
    (sampled_call,) = _decode(row["calls"][0])
    assert sampled_call.arguments["a"].value != sampled_call.arguments["b"].value
    assert len(row["calls"][0]) < 300


def test_of_ten_thousand_calls_a_hundred_are_kept():
    calls = _calls(*(call(f"t{n}") for n in range(10_000)))
    assert [sampled_call.tool for sampled_call in calls] == [f"t{n}" for n in range(100)]


def test_of_ten_thousand_arguments_a_hundred_are_kept():
    (sampled_call,) = _calls(call("t", {f"a{n}": 1 for n in range(10_000)}))
    assert len(sampled_call.arguments) == 100


def test_a_name_that_is_too_long_is_not_stored():
    (sampled_call,) = _calls(call("t", {"x" * 65: 1, "b": 1}))
    assert set(sampled_call.arguments) == {"b"}


# --- where values had stood ------------------------------------------------------------------------


def test_sources_are_kept_up_to_four_places():
    (sampled_call,) = _calls(
        call("t", {"a": 1, "b": 2}, args_from={"a": [f"t.f{n}" for n in range(10_000)], "b": []})
    )
    assert sampled_call.arguments["a"].sources == ("t.f0", "t.f1", "t.f2", "t.f3")
    assert sampled_call.arguments["b"].sources == ()


def test_unrecorded_sources_are_none():
    (sampled_call,) = _calls(call("t", {"a": 1}))
    assert sampled_call.arguments["a"].sources is None


@each_row(
    "wrong",
    ["t.x", 7, None, {}, {"t.x": 1}, ["t.x", 7], [["t.x"]], [None], True],
    ids=str,
)
def test_a_source_of_another_shape_is_not_recorded_and_spoils_nothing_else(wrong: Any):
    first, second = _calls(
        call("t", {"a": 1, "b": 2}, args_from={"a": wrong, "b": ["u.y"]}),
        call("u", {"c": 3}, args_from={"c": []}),
    )
    assert first.arguments["a"].sources is None
    assert first.arguments["b"].sources == ("u.y",)
    assert second.arguments["c"].sources == ()


@each_row("wrong", ["t.x", 7, [], ["a"], True])
def test_sources_of_another_shape_leave_the_model_as_it_is(wrong: Any):
    row = _kept(call("t", {"a": 1}, args_from=wrong), model="gpt-9")
    assert row["model"] == "gpt-9"
    assert _decode(row["calls"])[0].arguments["a"].sources is None


@each_row("wrong", [7, None, ["m"], {}])
def test_a_model_that_is_no_text_leaves_the_sources_as_they_are(wrong: Any):
    row = _kept(call("t", {"a": 1}, args_from={"a": ["u.y"]}), model=wrong)
    assert row["model"] == ""
    assert _decode(row["calls"])[0].arguments["a"].sources == ("u.y",)


_json = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=8,
)


@given(args=st.dictionaries(st.text(max_size=10), _json, max_size=4), places=_json, model=_json)
def test_no_line_that_is_mined_breaks_the_sampling(args: dict[str, Any], places: Any, model: Any):
    made = call("t", args, args_from=places)
    tables = _counted([(0, line(record(tool_calls=[made], model=model)))])
    (row,) = _sample(tables).to_dicts()
    (sampled_call,) = _decode(row["calls"])
    assert set(sampled_call.arguments) == {
        name for name, value in args.items() if value not in (None, "", [], {})
    }


# --- buckets ---------------------------------------------------------------------------------------

_numbers = st.integers(-(10**15), 10**15) | st.floats(allow_nan=False, allow_infinity=False)


@given(_numbers, _numbers)
def test_buckets_are_monotone(number: float, other: float):
    lower, higher = sorted((number, other))
    assert bucket_of(lower) <= bucket_of(higher)


@given(st.sampled_from(EDGES))
def test_a_bucket_ends_at_its_edge_which_it_holds(edge: float):
    place = bucket_of(edge)
    assert EDGES[place] == edge
    assert bucket_of(edge * 1.001) == place + 1


def test_zero_and_the_greatest_numbers_have_buckets():
    assert bucket_of(0) == 0
    assert bucket_of(10**400) == len(EDGES)
    assert bucket_of(-(10**400)) == -1 - len(EDGES)
