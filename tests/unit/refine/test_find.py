"""Which failures become counterexamples, against a slow miner in plain Python, and in which order."""

import json
from collections import Counter, defaultdict
from collections.abc import Iterable
from datetime import UTC, date, datetime
from hashlib import sha256
from itertools import groupby
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from coreloop.days import Days
from coreloop.failures import CLASSES, LABELS, error_class
from coreloop.mine.folder import roll_up_folder
from coreloop.mine.rollup import MineSettings
from coreloop.mine.signals import template
from coreloop.mine.statistics import success_bound
from coreloop.mine.window import Window, merge
from coreloop.proposals.counterexamples import Counterexample, Without
from coreloop.proposals.step import Step
from coreloop.refine.find import CounterexampleSearch, find_counterexamples
from logs import call, failed, override, record, write_log

ALWAYS = Days(date(2000, 1, 1), date(2100, 1, 1))
CATEGORY = "FIN-profitability-KR"


def _window(folder: Path, *days: Iterable[dict[str, Any]], within: Days = ALWAYS) -> Window:
    for number, records in enumerate(days, 1):
        write_log(folder / f"2026-04-{number:02}.jsonl", records)
    return merge(roll_up_folder(folder, MineSettings(min_chunk_len=400)), within)


def _found(
    folder: Path, records: Iterable[dict[str, Any]], min_failures: int = 1, **choices: Any
) -> CounterexampleSearch:
    return find_counterexamples(_window(folder, records), min_failures=min_failures, **choices)


def _of_kind(found: CounterexampleSearch, kind: str) -> list[Counterexample]:
    return [one for one in found.counterexamples if one.kind == kind]


def _calls(*calls: Any, **changes: Any) -> dict[str, Any]:
    """A record that ends well, whatever its calls did before."""
    return record(tool_calls=[*calls, call("finish")], **changes)


# --- a slow, obvious miner -------------------------------------------------------------------------


def _ok(made: dict[str, Any]) -> bool:
    return made["error"] is None if made["ok"] is None else made["ok"]


def _shape(made: dict[str, Any]) -> str:
    chosen = {key: made["args"][key] for key in ("axis", "sub") if made["args"].get(key) is not None}
    return json.dumps(
        {"selectors": chosen, "arg_keys": sorted(made["args"])}, ensure_ascii=False, separators=(",", ":")
    )


def _key(*parts: str) -> str:
    return sha256("\n".join([*parts, "Caveats"]).encode()).hexdigest()[:16]


def _plain_calls(records: list[dict[str, Any]], excluded: set[str]) -> dict[str, tuple[Any, ...]]:
    """Failing calls: key -> what `_told` says of one."""
    made = [(one, each) for one in records for each in one["tool_calls"]]
    found = {}
    for _, bad in made:
        if _ok(bad) or error_class(str(bad["error"])) in excluded or "tool_error" in excluded:
            continue
        named, text = error_class(str(bad["error"])), template(str(bad["error"]))
        same_tool = [(one, each) for one, each in made if each["name"] == bad["name"]]
        alike = [(one, each) for one, each in same_tool if _shape(each) == _shape(bad)]
        others = [each for _, each in same_tool if _shape(each) != _shape(bad)]
        failures = [
            (one, each) for one, each in alike if not _ok(each) and template(str(each["error"])) == text
        ]
        found[_key("call", bad["name"], _shape(bad), named, text)] = (
            len(failures),
            len(alike),
            (sum(not _ok(each) for each in others), len(others)),
            sum(each["duration_ms"] or 0 for _, each in failures),
            min(one["ts"] for one, _ in failures),
            max(one["ts"] for one, _ in failures),
            dict(Counter(one["provider"] for one, _ in failures if one["provider"])),
            {*bad["args"]},
        )
    return found


def _sequence(one: dict[str, Any]) -> str:
    steps = []
    for made in filter(_ok, one["tool_calls"]):
        axis = made["args"].get("axis")
        steps.append(f"{made['name']}({'' if axis is None else f'axis={axis}'})")
    return ">".join(step for step, _ in groupby(steps))


def _labels(one: dict[str, Any]) -> set[str]:
    """What speaks against a record of this test: its error, its length, its calls."""
    bad = [made for made in one["tool_calls"] if not _ok(made)]
    errors = [str(error) for error in (one["error"], *(made["error"] for made in bad)) if error is not None]
    return {
        *(["error"] if one["error"] is not None else []),
        *(["chunk_len_low"] if one["chunk_len"] < 200 else []),
        *(["tool_error"] if bad else []),
        *map(error_class, errors),
    }


def _failed(one: dict[str, Any]) -> bool | None:
    """Whether a record of this test failed; None when it counts neither way."""
    reasons = [] if one["error"] is None else [one["error"]]
    if one["tool_calls"] and not _ok(one["tool_calls"][-1]):
        reasons.append(str(one["tool_calls"][-1]["error"]))
    if reasons:
        return None if all(error_class(text) in {"rate_limit"} for text in reasons) else True
    return True if one["chunk_len"] < 200 else None if one["chunk_len"] < 400 else False


def _plain_sequences(records: list[dict[str, Any]], excluded: set[str]) -> dict[str, tuple[Any, ...]]:
    """Failing sequences: key -> what `_told` says of one."""
    groups = defaultdict(list)
    for one in records:
        if _sequence(one) and _failed(one) is not None and not (_failed(one) and _labels(one) & excluded):
            groups[one["category_hash"], _sequence(one)].append(one)
    found = {}
    for (category, sequence), group in groups.items():
        bad = [one for one in group if _failed(one)]
        signs = [_labels(one) & {*LABELS} - {"tool_error"} for one in bad]
        if any(signs) or 2 * len(bad) > len(group):
            found[_key("sequence", category, sequence)] = (
                len(bad),
                len(group),
                {label for one in bad for label in _labels(one)} & {*LABELS},
                min(one["ts"] for one in bad),
                max(one["ts"] for one in bad),
                dict(Counter(one["provider"] for one in bad if one["provider"])),
            )
    return found


def _told(one: Counterexample) -> tuple[Any, ...]:
    times = [f"{moment:%Y-%m-%dT%H:%M:%SZ}" for moment in (one.first_seen, one.last_seen)]
    if one.kind == "sequence":
        return (one.n_failures, one.n_calls, {*one.labels}, *times, one.providers)
    without = (one.n_without.n_failures, one.n_without.n_calls)
    return (
        one.n_failures,
        one.n_calls,
        without,
        one.wasted_ms,
        *times,
        one.providers,
        {*one.arg_keys},
    )


ERRORS = st.sampled_from(
    ["KeyError: 'a'", "KeyError: 'b'", "page 3 not found", "page 4 not found", "429 rate limit", "timed out"]
)
ARGS = st.dictionaries(st.sampled_from(["axis", "company", "years"]), st.sampled_from(["수익성", "배당"]))
CALLS = st.one_of(
    st.builds(call, st.sampled_from("ab"), ARGS),
    st.builds(
        lambda name, args, error, wasted: {**failed(name, args, error), "duration_ms": wasted},
        st.sampled_from("ab"),
        ARGS,
        ERRORS,
        st.sampled_from([None, 0, 250]),
    ),
)
RECORDS = st.lists(
    st.builds(
        lambda second, category, provider, calls, length, error: record(
            ts=f"2026-04-25T00:00:{second:02}Z",
            category_hash=category,
            provider=provider,
            tool_calls=calls,
            chunk_len=length,
            error=error,
        ),
        st.integers(0, 59),
        st.sampled_from([CATEGORY, "OTHER"]),
        st.sampled_from(["openai", "google", None]),
        st.lists(CALLS, max_size=3),
        st.sampled_from([10, 300, 1000, 1000, 1000]),
        st.one_of(st.none(), st.none(), ERRORS),
    ),
    max_size=12,
)
EXCLUDED = st.sets(st.sampled_from([*LABELS, *CLASSES]), max_size=2)


@pytest.mark.slow
@settings(max_examples=60)
@given(RECORDS, EXCLUDED, st.integers(0, 12))
def test_calls_and_sequences_are_those_of_a_plain_miner(
    records: list[dict[str, Any]], excluded: set[str], cut: int
) -> None:
    with TemporaryDirectory() as folder:
        window = _window(Path(folder), records[:cut], records[cut:])
        found = find_counterexamples(window, min_failures=1, excluded=excluded)
    told = {one.key: _told(one) for one in found.counterexamples}
    assert told == {**_plain_calls(records, excluded), **_plain_sequences(records, excluded)}
    assert len(told) == len(found.counterexamples) == found.n_groups


# --- one fact each ---------------------------------------------------------------------------------


def test_nothing_gives_nothing(tmp_path: Path) -> None:
    found = _found(tmp_path, [])
    assert (found.counterexamples, found.n_groups, sum(found.dropped.values())) == ((), 0, 0)


def test_a_failing_call_says_what_was_seen(tmp_path: Path) -> None:
    bad = {**failed("analysis", {"axis": "수익성"}, "필수 인자 company 누락 (3)"), "duration_ms": 1500.0}
    good = call("analysis", {"axis": "수익성", "company": "x"})
    rows = [
        _calls(bad, bad, good, ts="2026-04-24T23:00:00Z", question="둘째"),
        _calls(bad, ts="2026-04-23T01:00:00.000001Z", question="첫째", provider="google"),
    ]
    (one,) = _found(tmp_path, rows).counterexamples
    assert (one.kind, one.tool, one.selectors, one.arg_keys) == (
        "call",
        "analysis",
        {"axis": "수익성"},
        ("axis",),
    )
    assert (one.labels, one.error_class) == (("tool_error",), "invalid_argument")
    assert one.error_template == "필수 인자 company 누락 (<n>)"
    assert (one.n_failures, one.n_calls, one.wasted_ms) == (3, 3, 4500)
    assert one.n_without == Without(0, 1, ("axis", "company"), ("axis", "company"))
    assert one.harm_low == success_bound(3, 3)
    assert one.first_seen == datetime(2026, 4, 23, 1, microsecond=1, tzinfo=UTC)
    assert one.last_seen == datetime(2026, 4, 24, 23, tzinfo=UTC)
    assert one.providers == {"openai": 2, "google": 1}
    assert [(each.file, each.question) for each in one.examples] == [
        ("2026-04-01.jsonl", "첫째"),
        ("2026-04-01.jsonl", "둘째"),
    ]
    assert (one.steps, one.cat_hash, one.suggested_append, one.refused) == ((), None, None, None)


def test_a_failing_sequence_says_what_was_seen(tmp_path: Path) -> None:
    way = [call("analysis", {"axis": "수익성"}), call("show", {"topic": "a"})]
    rows = [record(tool_calls=way, error="timed out", provider="google", question=f"q{n}") for n in range(7)]
    rows += [record(tool_calls=way), record(tool_calls=way, violation="x", provider=None)]
    (one,) = _found(tmp_path, rows).counterexamples
    assert (one.kind, one.cat_hash) == ("sequence", CATEGORY)
    assert one.steps == (Step("analysis", {"axis": "수익성"}, ("axis",)), Step("show", {}, ("topic",)))
    assert (one.tool, one.selectors, one.arg_keys) == ("analysis", {"axis": "수익성"}, ("axis",))
    assert (one.n_failures, one.n_calls, one.n_without) == (8, 9, Without(0, 0, ()))
    assert (one.labels, one.error_class, one.error_template) == (("error", "violation"), "timeout", None)
    assert one.providers == {"google": 7}
    assert [each.question for each in one.examples] == [f"q{n}" for n in range(5)]
    assert one.harm_low == success_bound(8, 9)


@pytest.mark.parametrize(
    ("changes", "label"),
    [
        pytest.param({"error": "boom"}, "error", id="an error"),
        pytest.param({"violation": "advice"}, "violation", id="a violation"),
        pytest.param({"chunk_len": 10}, "chunk_len_low", id="a short answer"),
        pytest.param({"tool_calls": [call("a", extreme_flags=["x"])]}, "extreme_flags", id="an extreme flag"),
        pytest.param({"override_calls": [override(succeeded=False)]}, "override_failed", id="an override"),
    ],
)
@pytest.mark.parametrize(("n_failed", "n_good"), [(49, 51), (2, 98), (3, 1)])
def test_a_sequence_is_taken_in_whatever_share_of_it_fails(
    changes: dict[str, Any], label: str, n_failed: int, n_good: int, tmp_path: Path
) -> None:
    rows = [record(**{"tool_calls": [call("a")], **changes})] * n_failed + [
        record(tool_calls=[call("a")])
    ] * n_good
    (one,) = _found(tmp_path, rows, min_failures=2).counterexamples
    assert (one.kind, one.n_failures, one.n_calls, one.labels) == (
        "sequence",
        n_failed,
        n_failed + n_good,
        (label,),
    )
    assert one.harm_low == success_bound(n_failed, n_failed + n_good)


def test_a_sequence_with_a_request_that_was_judged_a_failure_is_taken_in(tmp_path: Path) -> None:
    rows = [record(judgment={"verdict": "V"}), record(), record()]
    assert [one.n_failures for one in _found(tmp_path, rows).counterexamples] == [1]


@pytest.mark.parametrize(("n_failed", "n_good", "kinds"), [(2, 1, ["call", "sequence"]), (2, 2, ["call"])])
def test_a_sequence_that_only_failed_calls_speak_against_is_taken_in_where_most_requests_fail(
    n_failed: int, n_good: int, kinds: list[str], tmp_path: Path
) -> None:
    """Below, the failing call says it all."""
    rows = [record(tool_calls=[call("a"), failed("b")])] * n_failed + [
        record(tool_calls=[call("a")])
    ] * n_good
    assert sorted(one.kind for one in _found(tmp_path, rows).counterexamples) == kinds


def test_a_sequence_of_which_no_record_holds_every_call_is_left_out(tmp_path: Path) -> None:
    cut = {"tool_sequence_hash": "seq:00000000000000aa", "tool_calls_omitted": 2, "error": "boom"}
    assert _of_kind(_found(tmp_path, [record(**cut)] * 3), "sequence") == []


def test_arguments_of_all_other_calls_and_of_any_are_told_apart(tmp_path: Path) -> None:
    shapes = [{"a": 1, "b": 1}, {"a": 1, "c": 1}, {"a": 1}]
    rows = [_calls(failed("t"), *(call("t", args) for args in shapes))]
    (one,) = _found(tmp_path, rows).counterexamples
    assert one.n_without == Without(0, 3, ("a",), ("a", "b", "c"))


@pytest.mark.parametrize("least", [1, 2, 3, 4])
def test_groups_with_fewer_failures_fall(least: int, tmp_path: Path) -> None:
    rows = [_calls(*[failed(name)] * n) for n, name in ((1, "a"), (2, "b"), (3, "c"))]
    found = _found(tmp_path, rows, min_failures=least)
    assert sorted(one.tool for one in found.counterexamples) == ["a", "b", "c"][least - 1 :]
    assert (found.n_groups, found.dropped["min_failures"]) == (3, least - 1)


def test_known_keys_are_not_proposed_again(tmp_path: Path) -> None:
    rows = [_calls(failed("a"), failed("b")), record(tool_calls=[call("c")], error="boom")]
    everything = _found(tmp_path, rows).counterexamples
    assert len(everything) == 3
    for one in everything:
        found = _found(tmp_path, rows, known=frozenset({one.key, "another"}))
        assert [each.key for each in found.counterexamples] == [
            each.key for each in everything if each is not one
        ]
        assert found.dropped == {"min_failures": 0, "known": 1}


def test_a_known_group_with_too_few_failures_counts_at_the_first_gate(tmp_path: Path) -> None:
    (one,) = _found(tmp_path, [_calls(failed("a"))]).counterexamples
    found = _found(tmp_path, [_calls(failed("a"))], min_failures=2, known=frozenset({one.key}))
    assert found.dropped == {"min_failures": 1, "known": 0}


@pytest.mark.parametrize(
    ("excluded", "kept"),
    [
        pytest.param(set(), {"late", "slow", "way"}, id="nothing"),
        pytest.param({"rate_limit"}, {"slow", "way"}, id="a class"),
        pytest.param({"tool_error"}, {"way"}, id="the label of all failing calls"),
        pytest.param({"error"}, {"late", "slow"}, id="the label of the requests"),
        pytest.param({"not_found", "timeout"}, {"late"}, id="two classes"),
        pytest.param({"violation"}, {"late", "slow", "way"}, id="what is not there"),
    ],
)
def test_excluded_types_are_labels_and_classes(excluded: set[str], kept: set[str], tmp_path: Path) -> None:
    rows = [
        _calls(failed("late", error="429"), failed("slow", error="timed out")),
        record(tool_calls=[call("way")], error="no such page"),
    ]
    found = _found(tmp_path, rows, excluded=excluded)
    assert {one.tool for one in found.counterexamples} == kept


def test_excluded_failures_of_a_sequence_are_no_requests_of_it(tmp_path: Path) -> None:
    rows = [record(error="timed out")] * 5 + [record(violation="x")] * 3 + [record()] * 2
    (one,) = _found(tmp_path, rows, excluded={"timeout"}).counterexamples
    assert (one.n_failures, one.n_calls, one.labels) == (3, 5, ("violation",))


WHOLE = "Error executing tool gather: the page of the company was asked for too often, rate limit reached"


@pytest.mark.parametrize(
    ("torn", "n_groups"),
    [
        pytest.param(WHOLE[:60], 1, id="cut off"),
        pytest.param(WHOLE[:20], 1, id="cut off early"),
        pytest.param(WHOLE[:19], 2, id="too short to tell"),
        pytest.param(WHOLE[:40] + "!", 2, id="another end"),
        pytest.param(WHOLE[1:], 2, id="another beginning"),
    ],
)
def test_torn_error_texts_are_the_whole_one(torn: str, n_groups: int, tmp_path: Path) -> None:
    early = _calls(
        {**failed("g", error=torn), "duration_ms": 5}, ts="2026-04-20T00:00:00Z", provider="google"
    )
    whole = _calls(*[{**failed("g", error=WHOLE), "duration_ms": 2}] * 3)
    found = _found(tmp_path, [early, whole])
    assert len(found.counterexamples) == n_groups
    (one,) = [each for each in found.counterexamples if each.error_template == WHOLE]
    if n_groups == 1:
        assert (one.error_class, one.n_failures, one.n_calls, one.wasted_ms) == ("rate_limit", 4, 4, 11)
        assert (one.first_seen.day, one.last_seen.day) == (20, 25)
        assert one.providers == {"openai": 3, "google": 1}


def test_torn_texts_of_another_tool_or_shape_stay_apart(tmp_path: Path) -> None:
    rows = [
        _calls(
            failed("g", error=WHOLE), failed("h", error=WHOLE[:60]), failed("g", {"x": 1}, error=WHOLE[:60])
        )
    ]
    assert [one.n_failures for one in _found(tmp_path, rows).counterexamples] == [1, 1, 1]


def test_a_torn_text_is_excluded_with_the_whole_one(tmp_path: Path) -> None:
    rows = [_calls(failed("g", error=WHOLE), failed("g", error=WHOLE[:60]))]
    assert _found(tmp_path, rows, excluded={"rate_limit"}).counterexamples == ()
    (one,) = _found(tmp_path, rows, excluded={"other"}).counterexamples
    assert one.n_failures == 2


def test_worst_first_then_time_wasted_then_number_then_key(tmp_path: Path) -> None:
    slow = {"duration_ms": 900.0}
    rows = [
        _calls(*[failed("half")] * 9, *[call("half")] * 9),
        _calls(*[failed("often")] * 6),
        _calls(*[failed("seldom")] * 3),
        _calls(*[{**failed("slow"), **slow}] * 3),
        _calls(*[failed("tie_a")] * 2),
        _calls(*[failed("tie_b")] * 2),
        record(tool_calls=[call("way")] * 4, error="boom"),
    ]
    found = _found(tmp_path, rows).counterexamples
    ties = sorted((one for one in found if one.tool.startswith("tie")), key=lambda one: one.key)
    assert [one.tool for one in found] == [
        "often",
        "slow",
        "seldom",
        *(one.tool for one in ties),
        "half",
        "way",
    ]


def test_of_equally_harmful_calls_those_that_wasted_more_time_come_first(tmp_path: Path) -> None:
    rows = [_calls({**failed(name), "duration_ms": n}) for n, name in enumerate("fbdace")]
    assert [one.tool for one in _found(tmp_path, rows).counterexamples] == list("ecadbf")


def test_order_and_keys_are_the_same_for_records_in_any_order(tmp_path: Path) -> None:
    rows = [_calls(failed(name), ts=f"2026-04-25T00:00:0{n}Z") for n, name in enumerate("abcdef")]
    runs = [
        _found(tmp_path / str(number), order).counterexamples
        for number, order in enumerate((rows, rows[::-1]))
    ]
    assert [(one.key, one.tool) for one in runs[0]] == [(one.key, one.tool) for one in runs[1]]


def test_keys_are_the_same_every_night(tmp_path: Path) -> None:
    night = [_calls(failed("a", {"axis": "배당"}, "no page 3")), record(error="boom")]
    later = [
        *[_calls(failed("a", {"axis": "배당"}, "no page 44"), ts="2026-05-01T00:00:00Z")] * 3,
        *[record(error="timed out", ts="2026-05-02T00:00:00Z", provider="google")] * 2,
    ]
    first, second = (
        {one.kind: one.key for one in _found(tmp_path / name, rows).counterexamples}
        for name, rows in (("one", night), ("two", [*later, *night]))
    )
    assert first == second
    assert first == {
        "call": _key(
            "call", "a", '{"selectors":{"axis":"배당"},"arg_keys":["axis"]}', "other", "no page <n>"
        ),
        "sequence": _key("sequence", CATEGORY, "analysis(axis=수익성)"),
    }


def test_days_outside_the_window_do_not_count(tmp_path: Path) -> None:
    rows = [_calls(failed("a"), ts=f"2026-04-{day}T00:00:00Z") for day in (20, 21, 22, 23)]
    window = _window(tmp_path, rows, within=Days(date(2026, 4, 21), date(2026, 4, 22)))
    (one,) = find_counterexamples(window, min_failures=1).counterexamples
    assert (one.n_failures, one.n_calls, one.first_seen.day, one.last_seen.day) == (2, 2, 21, 22)


def test_at_most_five_examples_are_read_the_earliest_first(tmp_path: Path) -> None:
    days = [[_calls(failed("a"), ts=f"2026-04-{n:02}T00:00:00Z", question=f"q{n}")] for n in range(1, 8)]
    (one,) = find_counterexamples(_window(tmp_path, *days), min_failures=1).counterexamples
    assert [each.question for each in one.examples] == ["q1", "q2", "q3", "q4", "q5"]


def test_a_file_that_is_gone_costs_only_its_questions(tmp_path: Path) -> None:
    window = _window(tmp_path, [_calls(failed("a"), question="안녕")])
    (tmp_path / "2026-04-01.jsonl").unlink()
    (one,) = find_counterexamples(window, min_failures=1).counterexamples
    assert (one.n_failures, [each.question for each in one.examples]) == (1, [""])


# --- real requests ---------------------------------------------------------------------------------


def test_real_requests_first_show_a_tool_that_fails_without_arguments(tau_log: Path) -> None:
    rollups = roll_up_folder(tau_log.parent, MineSettings(min_chunk_len=400))
    found = find_counterexamples(merge(rollups, ALWAYS), min_failures=2).counterexamples
    first = found[0]
    assert (first.kind, first.tool, first.arg_keys) == ("call", "get_return_refund_options", ())
    assert (first.n_failures, first.n_calls, first.error_class) == (57, 57, "invalid_argument")
    assert first.n_without == Without(0, 70, ("item_ids", "order_id"), ("item_ids", "order_id"))
    assert sum(first.providers.values()) == 57


def test_real_requests_are_counted_as_by_the_plain_miner(tau_log: Path) -> None:
    records = [json.loads(text) for text in tau_log.read_text(encoding="utf-8").splitlines()]
    rollups = roll_up_folder(tau_log.parent, MineSettings(min_chunk_len=400))
    found = find_counterexamples(merge(rollups, ALWAYS), min_failures=1).counterexamples
    made = Counter((each["name"], frozenset(each["args"])) for one in records for each in one["tool_calls"])
    bad = Counter(
        (each["name"], frozenset(each["args"]))
        for one in records
        for each in one["tool_calls"]
        if not _ok(each)
    )
    calls = [one for one in found if one.kind == "call"]
    by_shape: Counter[tuple[str, frozenset[str]]] = Counter()
    for one in calls:
        by_shape[one.tool, frozenset(one.arg_keys)] += one.n_failures
        assert one.n_calls == made[one.tool, frozenset(one.arg_keys)]
    assert by_shape == bad
    assert sum(bad.values()) == 412


def test_gates_that_let_nothing_through_name_the_groups_with_the_most_failures(tmp_path: Path):
    rows = [
        record(tool_calls=[failed("a"), call("b")]),
        *[record(tool_calls=[failed("b", error="timeout"), call("a")])] * 2,
    ]
    found = _found(tmp_path, rows, 3)
    assert found.counterexamples == ()
    assert [(miss.tool, miss.n_failures, miss.n_calls) for miss in found.nearest] == [
        ("b", 2, 3),
        ("a", 1, 3),
    ]
    assert _found(tmp_path, rows, 2).nearest == ()
