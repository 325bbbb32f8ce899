"""Which failures become counterexamples, with which figures, and their order."""

from collections.abc import Iterable
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any

import pytest

from coreloop.base.date_range import Days
from coreloop.learn.facts.read_lines import MineSettings
from coreloop.learn.failures import find_counterexamples
from coreloop.learn.line import Step
from coreloop.learn.mine.folder import read_folder
from coreloop.learn.mine.window import Window, merge
from coreloop.learn.proposals.entry import Counterexample, Search
from coreloop.learn.statistics import wilson_interval
from logs import call, failed, record, write_log

ALWAYS = Days(date(2000, 1, 1), date(2100, 1, 1))
CATEGORY = "FIN-profitability-KR"


def _window(folder: Path, *days: Iterable[dict[str, Any]], within: Days = ALWAYS) -> Window:
    for number, records in enumerate(days, 1):
        write_log(folder / f"2026-04-{number:02}.jsonl", records)
    return merge(read_folder(folder, MineSettings(min_chunk_len=400)), within)


def _search(
    folder: Path, records: Iterable[dict[str, Any]], min_failures: int = 1, **choices: Any
) -> Search[Counterexample]:
    return find_counterexamples(_window(folder, records), min_failures=min_failures, **choices)


def _calls(*calls: Any, **changes: Any) -> dict[str, Any]:
    """A successful record with these calls."""
    return record(tool_calls=[*calls, call("finish")], **changes)


def test_a_failing_call_has_the_figures_of_its_records(tmp_path: Path) -> None:
    bad = {**failed("analysis", {"axis": "수익성"}, "필수 인자 company 누락 (3)"), "duration_ms": 1500.0}
    good = call("analysis", {"axis": "수익성", "company": "x"})
    rows = [
        _calls(bad, bad, good, ts="2026-04-24T23:00:00Z", question="둘째"),
        _calls(bad, ts="2026-04-23T01:00:00.000001Z", question="첫째", provider="google"),
    ]
    (example,) = _search(tmp_path, rows).entries
    called = "analysis", {"axis": "수익성"}, ("axis",)
    assert (example.kind, example.tool, example.selectors, example.arg_keys) == ("call", *called)
    assert (example.labels, example.error_class) == (("tool_error",), "invalid_argument")
    assert example.error_template == "필수 인자 company 누락 (<n>)"
    assert (example.n_failures, example.n_calls, example.wasted_ms) == (3, 3, 4500)
    assert (example.n_other_failures, example.n_other_calls) == (0, 1)
    assert example.harm_low == wilson_interval(3, 3)[0]
    assert example.first_seen == datetime(2026, 4, 23, 1, microsecond=1, tzinfo=UTC)
    assert example.last_seen == datetime(2026, 4, 24, 23, tzinfo=UTC)
    assert example.example_questions == ("첫째", "둘째")
    assert (example.steps, example.cat_hash, example.suggested_append) == ((), None, None)


def test_the_other_calls_of_the_tool_are_those_of_other_arguments(tmp_path: Path) -> None:
    here, there = {"id": "1"}, {"name": "x"}
    bad = [failed("a", here, "KeyError: x"), failed("a", here, "timed out"), failed("a", there, "no")]
    search = _search(tmp_path, [_calls(*bad, call("a", there))])
    others = sorted((example.n_other_failures, example.n_other_calls) for example in search.entries)
    assert others == [(1, 2), (1, 2), (2, 2)]


def test_a_failing_sequence_has_the_figures_of_its_records(tmp_path: Path) -> None:
    calls = [call("analysis", {"axis": "수익성"}), call("show", {"topic": "a"})]
    rows = [
        record(tool_calls=calls, error="timed out", provider="google", question=f"q{n}") for n in range(7)
    ]
    rows += [record(tool_calls=calls), record(tool_calls=calls, violation="x", provider=None)]
    (example,) = _search(tmp_path, rows).entries
    assert (example.kind, example.cat_hash) == ("sequence", CATEGORY)
    assert example.steps == (Step("analysis", {"axis": "수익성"}, ("axis",)), Step("show", {}, ("topic",)))
    assert (example.tool, example.selectors, example.arg_keys) == ("analysis", {"axis": "수익성"}, ("axis",))
    assert (example.n_failures, example.n_calls, example.n_other_calls) == (8, 9, 0)
    assert (example.labels, example.error_class) == (("error", "violation"), "timeout")
    assert example.error_template is None
    assert example.example_questions == tuple(f"q{n}" for n in range(5))
    assert example.harm_low == wilson_interval(8, 9)[0]


def test_a_request_in_which_only_a_call_failed_counts_with_that_call_s_tool(tmp_path: Path) -> None:
    found = _search(tmp_path, [record(tool_calls=[call("a"), failed("b")])] * 3).entries
    assert [(example.kind, example.tool) for example in found] == [("call", "b")]


def test_a_sequence_without_a_complete_record_is_left_out(tmp_path: Path) -> None:
    cut = {"tool_sequence_hash": "seq:00000000000000aa", "tool_calls_omitted": 2, "error": "boom"}
    found = _search(tmp_path, [record(**cut)] * 3).entries
    assert "sequence" not in {example.kind for example in found}


def test_known_keys_are_not_proposed_again(tmp_path: Path) -> None:
    rows = [_calls(failed("a"), failed("b")), record(tool_calls=[call("c")], error="boom")]
    everything = _search(tmp_path, rows).entries
    assert len(everything) == 3
    for example in everything:
        search = _search(tmp_path, rows, known=frozenset({example.key, "another"}))
        others = [other.key for other in everything if other is not example]
        assert [other.key for other in search.entries] == others
        assert search.dropped == {"min_failures": 0, "known": 1}


@pytest.mark.parametrize(
    ("excluded", "tools"),
    [
        pytest.param(set(), {"late", "slow", "steps"}, id="nothing"),
        pytest.param({"rate_limit"}, {"slow", "steps"}, id="a class"),
        pytest.param({"tool_error"}, {"steps"}, id="the label of all failing calls"),
        pytest.param({"error"}, {"late", "slow"}, id="the label of the requests"),
        pytest.param({"not_found", "timeout"}, {"late"}, id="two classes"),
        pytest.param({"violation"}, {"late", "slow", "steps"}, id="what is not there"),
    ],
)
def test_excluded_types_are_labels_and_classes(excluded: set[str], tools: set[str], tmp_path: Path) -> None:
    rows = [
        _calls(failed("late", error="429"), failed("slow", error="timed out")),
        record(tool_calls=[call("steps")], error="no such page"),
    ]
    search = _search(tmp_path, rows, excluded=excluded)
    assert {example.tool for example in search.entries} == tools


COMPLETE = "ValueError in gather number: the page of the company was asked for too often, rate limit reached"


@pytest.mark.parametrize(
    ("torn", "n_groups"),
    [
        pytest.param(COMPLETE[:60], 1, id="cut off"),
        pytest.param(COMPLETE[:19], 1, id="cut off early"),
        pytest.param(COMPLETE[:43] + "…", 1, id="cut off with a sign"),
        pytest.param(COMPLETE[:20], 2, id="whole words may be a text of their own"),
        pytest.param(COMPLETE[:40] + "!", 2, id="another end"),
        pytest.param(COMPLETE[1:], 2, id="another beginning"),
    ],
)
def test_torn_error_texts_count_with_the_complete_text(torn: str, n_groups: int, tmp_path: Path) -> None:
    early = _calls(
        {**failed("g", error=torn), "duration_ms": 5}, ts="2026-04-20T00:00:00Z", provider="google"
    )
    complete = _calls(*[{**failed("g", error=COMPLETE), "duration_ms": 2}] * 3)
    search = _search(tmp_path, [early, complete])
    assert len(search.entries) == n_groups
    (example,) = [example for example in search.entries if example.error_template == COMPLETE]
    if n_groups == 1:
        assert (example.error_class, example.wasted_ms) == ("rate_limit", 11)
        assert (example.n_failures, example.n_calls) == (4, 4)
        assert (example.first_seen.day, example.last_seen.day) == (20, 25)


def test_worst_first_then_time_wasted_then_number_then_key(tmp_path: Path) -> None:
    slow = {"duration_ms": 900.0}
    rows = [
        _calls(*[failed("half")] * 9, *[call("half")] * 9),
        _calls(*[failed("often")] * 6),
        _calls(*[failed("seldom")] * 3),
        _calls(*[{**failed("slow"), **slow}] * 3),
        _calls(*[failed("tie_a")] * 2),
        _calls(*[failed("tie_b")] * 2),
        record(tool_calls=[call("steps")] * 4, error="boom"),
    ]
    examples = _search(tmp_path, rows).entries
    tools = [example.tool for example in examples]
    ties = sorted((example.key, example.tool) for example in examples if example.tool.startswith("tie"))
    assert tools == ["often", "slow", "seldom", *(tool for _, tool in ties), "half", "steps"]


def test_at_most_five_examples_are_read_the_earliest_first(tmp_path: Path) -> None:
    days = [[_calls(failed("a"), ts=f"2026-04-{n:02}T00:00:00Z", question=f"q{n}")] for n in range(1, 8)]
    (example,) = find_counterexamples(_window(tmp_path, *days), min_failures=1).entries
    assert example.example_questions == ("q1", "q2", "q3", "q4", "q5")


def test_of_requests_of_one_moment_the_same_one_names_the_steps_in_each_run(tmp_path: Path) -> None:
    rows = [record(tool_calls=[call("steps", {f"a{n}": 1})], error="boom") for n in range(39, 9, -1)]
    (example,) = _search(tmp_path, rows).entries
    assert example.arg_keys == ("a10",)
