"""The calls of facts, counted, against a plain loop over the records; in a single run and in parts."""

import json
from collections.abc import Iterable, Mapping
from datetime import date, timedelta
from itertools import pairwise
from typing import Any

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from coreloop.base.error_classes import error_class
from coreloop.base.records import OTHER
from coreloop.learn.facts.counting import CALL_GROUPS as SCHEMA
from coreloop.learn.facts.counting import MineSettings, group_calls
from coreloop.learn.facts.read_lines import read_facts
from coreloop.learn.facts.schema import Facts, merge_facts
from coreloop.learn.mine.window import moment
from coreloop.observe.reading.decode import RecordLine, decode_line
from coreloop.observe.reading.error_texts import template
from logs import call, failed, line, record
from rows import each_row

SETTINGS = MineSettings(selectors={"gather": ("target",), "bare": ()})
EPOCH = date(1970, 1, 1)
DAYS = ("2026-04-24", "2026-04-25")
_Key = tuple[str, str, str, str, str, str]

ARGS = st.one_of(
    st.none(),
    st.sampled_from(["text", ["a", "list"], 7]),
    st.dictionaries(
        st.sampled_from(["axis", "sub", "target", "company", "years"]),
        st.sampled_from(["수익성", " 수익성 ", "배당", None, 3, True, ["x"], "가" * 81]),
        max_size=4,
    ),
)
CALLS = st.builds(
    lambda name, args, ok, error, wasted: {
        **call(name, ok=ok, error=error, duration_ms=wasted),
        "args": args,
    },
    st.sampled_from(["analysis", "gather", "bare", "a\nb"]),
    ARGS,
    st.sampled_from([True, False, None]),
    st.sampled_from([None, "", "KeyError: 'a'", "KeyError: 'b'", "timed out after 3 s", "boom", {"code": 4}]),
    st.sampled_from([None, 0, 0.5, 1200]),
)
TIMES = st.builds(lambda day, second: f"{day}T00:00:{second:02}Z", st.sampled_from(DAYS), st.integers(0, 5))
RECORDS = st.lists(
    st.builds(
        lambda ts, provider, calls: record(ts=ts, provider=provider, tool_calls=calls),
        TIMES,
        st.sampled_from([None, "openai", "google"]),
        st.lists(st.one_of(CALLS, st.just("only_a_name")), max_size=4),
    ),
    max_size=8,
)


def _lines(records: Iterable[dict[str, Any]]) -> list[tuple[int, bytes]]:
    """The records as lines of one file, each at its offset."""
    lines, offset = [], 0
    for row in records:
        lines.append((offset, line(row)))
        offset += len(line(row))
    return lines


def _read(lines: list[tuple[int, bytes]]) -> Facts:
    return read_facts(lines, SETTINGS)[0]


def _calls(facts: Facts) -> pl.DataFrame:
    return group_calls(facts, SETTINGS).collect()


def _texts(facts: Facts, kind: str) -> dict[int, str]:
    rows = facts.texts.filter(pl.col("kind") == kind).select("hash", "text").collect()
    return dict(rows.iter_rows())


def _counted(facts: Facts) -> dict[_Key, list[Any]]:
    """Rows by what their hashes stand for: n, wasted, first, last, offset of the first."""
    shapes, templates = _texts(facts, "call"), _texts(facts, "template")
    return {
        (
            f"{EPOCH + timedelta(days=row['day'])}",
            row["provider"],
            row["tool"],
            shapes[row["shape"]],
            row["error_class"],
            templates[row["template"]] if row["template"] else "",
        ): [row["n"], row["wasted_us"] / 1000, row["first_us"], row["last_us"], row["offset"]]
        for row in _calls(facts).iter_rows(named=True)
    }


def _plainly(records: list[dict[str, Any]]) -> dict[_Key, list[Any]]:
    """The same counts in the simplest form: sort all calls into lists, then count each list."""
    lists: dict[_Key, list[tuple[int, int, float]]] = {}
    offset = 0
    for row in records:
        decoded = decode_line(line(row))
        assert isinstance(decoded, RecordLine)
        for recorded in row["tool_calls"]:
            made = {"name": recorded} if isinstance(recorded, str) else recorded
            ok = not made.get("error") if made.get("ok") is None else made["ok"]
            text = str(made.get("error"))
            key = (
                row["ts"][:10],
                row["provider"] or "",
                made["name"],
                _shape(made["name"], made.get("args")),
                "" if ok else error_class(text),
                "" if ok else template(text),
            )
            wasted = 0.0 if ok else made.get("duration_ms") or 0.0
            lists.setdefault(key, []).append((decoded.ts_us, offset, wasted))
        offset += len(line(row))
    return {
        key: [
            len(made),
            sum(wasted for _, _, wasted in made),
            *((min(made)[0], max(made)[0], min(made)[1]) if key[4] else (None, None, None)),
        ]
        for key, made in lists.items()
    }


def _shape(name: str, args: Any) -> str:
    args = args if isinstance(args, dict) else {}
    selectors = {"gather": ["target"], "bare": []}.get(name, ["axis", "sub"])
    chosen = {key: _selected(args[key]) for key in selectors if args.get(key) is not None}
    written = {"selectors": chosen, "arg_keys": sorted(args)}
    return json.dumps(written, ensure_ascii=False, separators=(",", ":"))


def _selected(value: Any) -> str:
    if value is True:
        return "true"
    text = str(value).strip()
    return OTHER if isinstance(value, list) or len(text) > 80 else text


@pytest.mark.slow
@given(RECORDS)
def test_counts_are_those_of_a_plain_loop(records: list[dict[str, Any]]) -> None:
    assert _counted(_read(_lines(records))) == _plainly(records)


@pytest.mark.slow
@given(RECORDS, st.lists(st.integers(0, 8), max_size=2).map(sorted))
def test_parts_of_a_log_add_up_to_the_whole(records: list[dict[str, Any]], cuts: list[int]) -> None:
    lines = _lines(records)
    bounds = [0, *cuts, len(lines)]
    parts = [_read(lines[start:end]) for start, end in pairwise(bounds)]
    assert _counted(merge_facts(parts)) == _counted(_read(lines))


@pytest.mark.slow
@given(RECORDS)
def test_every_call_is_counted_once_in_a_frame_of_the_schema(records: list[dict[str, Any]]) -> None:
    calls = _calls(_read(_lines(records)))
    assert calls.schema == pl.Schema(SCHEMA)
    assert calls["n"].sum() == sum(len(row["tool_calls"]) for row in records)


def _rows(*calls: Any, **changes: Any) -> list[dict[str, Any]]:
    rows = _calls(_read(_lines([record(tool_calls=list(calls), **changes)]))).to_dicts()
    return sorted(rows, key=lambda row: -row["n"])


@each_row(
    ("first", "other"),
    [
        pytest.param(failed("a", {"x": 1}), failed("a", {"y": 1}), id="argument names"),
        pytest.param(failed("a", {"axis": "수익성"}), failed("a", {"axis": "배당"}), id="a selector's value"),
        pytest.param(failed("a"), failed("b"), id="tools"),
        pytest.param(failed("a", error="no such page"), failed("a", error="no such book"), id="texts"),
        pytest.param(failed("a"), call("a"), id="ok or not"),
    ],
)
def test_calls_that_differ_in_a_key_are_counted_separately(
    first: Mapping[str, Any], other: Mapping[str, Any]
) -> None:
    assert [row["n"] for row in _rows(first, other, first)] == [2, 1]


@each_row(
    ("first", "other"),
    [
        pytest.param(failed("a", {"x": 1}), failed("a", {"x": 2}), id="an argument's value"),
        pytest.param(failed("a", {"x": 1, "y": 2}), failed("a", {"y": 1, "x": 2}), id="their order"),
        pytest.param(failed("a", error="no page 1"), failed("a", error="no page 22"), id="numbers in texts"),
        pytest.param(failed("a", {}), failed("a", "not an object"), id="no arguments"),
    ],
)
def test_calls_that_differ_only_in_other_fields_are_counted_together(
    first: Mapping[str, Any], other: Mapping[str, Any]
) -> None:
    assert [row["n"] for row in _rows(first, other)] == [2]


def test_only_failed_calls_waste_time() -> None:
    slow = {"duration_ms": 300.0}
    rows = _rows(call("a", **slow), {**failed("a"), **slow}, {**failed("a"), **slow}, failed("a"))
    assert [(row["error_class"], row["n"], row["wasted_us"]) for row in rows] == [
        ("invalid_argument", 3, 600_000),
        ("", 1, 0),
    ]


def test_the_offset_is_that_of_the_earliest_line_in_any_order() -> None:
    times = ["2026-04-25T10:00:00Z", "2026-04-25T08:00:00Z", "2026-04-25T09:00:00Z"]
    lines = _lines([record(ts=ts, tool_calls=[failed("a")]) for ts in times])
    (row,) = _calls(_read(lines)).to_dicts()
    assert row["offset"] == lines[1][0] > 0
    assert f"{moment(row['first_us']):%H} {moment(row['last_us']):%H}" == "08 10"


def test_only_failed_calls_have_templates() -> None:
    file = _read(_lines([record(tool_calls=[failed("a", error="page 3 is gone"), call("b", error="x")])]))
    assert set(_texts(file, "template").values()) == {"page <n> is gone"}


def test_no_calls_give_an_empty_frame_of_the_same_schema() -> None:
    calls = _calls(_read([]))
    assert calls.schema == pl.Schema(SCHEMA)
    assert calls.is_empty()
