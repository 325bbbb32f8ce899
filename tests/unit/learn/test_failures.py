"""Which failures become counterexamples, and their order, compared with a slow miner in plain Python."""

import json
from collections import Counter, defaultdict
from collections.abc import Iterable
from datetime import date
from hashlib import sha256
from itertools import groupby
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from coreloop.base.date_range import Days
from coreloop.base.error_classes import CLASSES, LABELS, error_class
from coreloop.learn.facts.counting import MineSettings
from coreloop.learn.failures import find_counterexamples
from coreloop.learn.mine.folder import read_folder
from coreloop.learn.mine.window import Window, merge
from coreloop.learn.proposals.entry import Counterexample, Search
from coreloop.observe.reading.error_texts import template
from logs import call, failed, record, write_log
from weekly import WEEKLY

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


def _of_kind(search: Search[Counterexample], kind: str) -> list[Counterexample]:
    return [example for example in search.entries if example.kind == kind]


def _calls(*calls: Any, **changes: Any) -> dict[str, Any]:
    """A successful record with these calls."""
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
    """Failing calls: key -> `_figures`."""
    made = [(request, made_call) for request in records for made_call in request["tool_calls"]]
    failing = {}
    for _, bad in made:
        if _ok(bad) or error_class(str(bad["error"])) in excluded or "tool_error" in excluded:
            continue
        named, text = error_class(str(bad["error"])), template(str(bad["error"]))
        same_tool = [(request, made_call) for request, made_call in made if made_call["name"] == bad["name"]]
        same_shape = [
            (request, made_call) for request, made_call in same_tool if _shape(made_call) == _shape(bad)
        ]
        others = [made_call for _, made_call in same_tool if _shape(made_call) != _shape(bad)]
        failures = [
            (request, made_call)
            for request, made_call in same_shape
            if not _ok(made_call) and template(str(made_call["error"])) == text
        ]
        failing[_key("call", bad["name"], _shape(bad), named, text)] = (
            len(failures),
            len(same_shape),
            (sum(not _ok(made_call) for made_call in others), len(others)),
            sum(made_call["duration_ms"] or 0 for _, made_call in failures),
            min(request["ts"] for request, _ in failures),
            max(request["ts"] for request, _ in failures),
            dict(Counter(request["provider"] for request, _ in failures if request["provider"])),
            {*bad["args"]},
        )
    return failing


def _sequence(request: dict[str, Any]) -> str:
    steps = []
    for made in filter(_ok, request["tool_calls"]):
        axis = made["args"].get("axis")
        steps.append(f"{made['name']}({'' if axis is None else f'axis={axis}'})")
    return ">".join(step for step, _ in groupby(steps))


def _labels(request: dict[str, Any]) -> set[str]:
    """Failure labels and error classes of a record of this test."""
    bad = [made for made in request["tool_calls"] if not _ok(made)]
    errors = [
        str(error) for error in (request["error"], *(made["error"] for made in bad)) if error is not None
    ]
    return {
        *(["error"] if request["error"] is not None else []),
        *(["chunk_len_low"] if request["chunk_len"] < 200 else []),
        *(["tool_error"] if bad else []),
        *map(error_class, errors),
    }


def _failed(request: dict[str, Any]) -> bool | None:
    """Whether a record of this test failed, or None if it is neutral."""
    reasons = [] if request["error"] is None else [request["error"]]
    if request["tool_calls"] and not _ok(request["tool_calls"][-1]):
        reasons.append(str(request["tool_calls"][-1]["error"]))
    if reasons:
        return None if all(error_class(text) in {"rate_limit"} for text in reasons) else True
    return True if request["chunk_len"] < 200 else None if request["chunk_len"] < 400 else False


def _plain_sequences(records: list[dict[str, Any]], excluded: set[str]) -> dict[str, tuple[Any, ...]]:
    """Failing sequences: key -> `_figures`."""
    groups = defaultdict(list)
    for request in records:
        if (
            _sequence(request)
            and _failed(request) is not None
            and not (_failed(request) and _labels(request) & excluded)
        ):
            groups[request["category_hash"], _sequence(request)].append(request)
    failing = {}
    for (category, sequence), group in groups.items():
        bad = [request for request in group if _failed(request)]
        signs = [_labels(request) & {*LABELS} - {"tool_error"} for request in bad]
        if any(signs) or 2 * len(bad) > len(group):
            failing[_key("sequence", category, sequence)] = (
                len(bad),
                len(group),
                {label for request in bad for label in _labels(request)} & {*LABELS},
                min(request["ts"] for request in bad),
                max(request["ts"] for request in bad),
                dict(Counter(request["provider"] for request in bad if request["provider"])),
            )
    return failing


def _figures(example: Counterexample) -> tuple[Any, ...]:
    times = [f"{moment:%Y-%m-%dT%H:%M:%SZ}" for moment in (example.first_seen, example.last_seen)]
    if example.kind == "sequence":
        return (example.n_failures, example.n_calls, {*example.labels}, *times, example.providers)
    without = (example.n_without.n_failures, example.n_without.n_calls)
    return (
        example.n_failures,
        example.n_calls,
        without,
        example.wasted_ms,
        *times,
        example.providers,
        {*example.arg_keys},
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
@settings(max_examples=60 if WEEKLY else 30)
@given(RECORDS, EXCLUDED, st.integers(0, 12))
def test_calls_and_sequences_are_those_of_a_plain_miner(
    records: list[dict[str, Any]], excluded: set[str], cut: int
) -> None:
    with TemporaryDirectory() as folder:
        window = _window(Path(folder), records[:cut], records[cut:])
        search = find_counterexamples(window, min_failures=1, excluded=excluded)
    figures = {example.key: _figures(example) for example in search.entries}
    assert figures == {**_plain_calls(records, excluded), **_plain_sequences(records, excluded)}
    assert len(figures) == len(search.entries) == search.n_groups


# --- one fact each ---------------------------------------------------------------------------------


@pytest.mark.parametrize(("n_failed", "n_good", "kinds"), [(2, 1, ["call", "sequence"]), (2, 2, ["call"])])
def test_a_sequence_with_only_failed_calls_is_included_if_most_requests_fail(
    n_failed: int, n_good: int, kinds: list[str], tmp_path: Path
) -> None:
    """With a smaller share, the failing call is the only counterexample."""
    rows = [record(tool_calls=[call("a"), failed("b")])] * n_failed + [
        record(tool_calls=[call("a")])
    ] * n_good
    assert sorted(example.kind for example in _search(tmp_path, rows).entries) == kinds


def test_a_sequence_without_a_complete_record_is_left_out(tmp_path: Path) -> None:
    cut = {"tool_sequence_hash": "seq:00000000000000aa", "tool_calls_omitted": 2, "error": "boom"}
    assert _of_kind(_search(tmp_path, [record(**cut)] * 3), "sequence") == []


def test_known_keys_are_not_proposed_again(tmp_path: Path) -> None:
    rows = [_calls(failed("a"), failed("b")), record(tool_calls=[call("c")], error="boom")]
    everything = _search(tmp_path, rows).entries
    assert len(everything) == 3
    for example in everything:
        search = _search(tmp_path, rows, known=frozenset({example.key, "another"}))
        assert [other.key for other in search.entries] == [
            other.key for other in everything if other is not example
        ]
        assert search.dropped == {"min_failures": 0, "known": 1}


COMPLETE = "Error executing tool gather: the page of the company was asked for too often, rate limit reached"


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
        assert (example.error_class, example.n_failures, example.n_calls, example.wasted_ms) == (
            "rate_limit",
            4,
            4,
            11,
        )
        assert (example.first_seen.day, example.last_seen.day) == (20, 25)
        assert example.providers == {"openai": 3, "google": 1}


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
    ties = sorted(
        (example for example in examples if example.tool.startswith("tie")), key=lambda example: example.key
    )
    assert [example.tool for example in examples] == [
        "often",
        "slow",
        "seldom",
        *(example.tool for example in ties),
        "half",
        "steps",
    ]


def test_at_most_five_examples_are_read_the_earliest_first(tmp_path: Path) -> None:
    days = [[_calls(failed("a"), ts=f"2026-04-{n:02}T00:00:00Z", question=f"q{n}")] for n in range(1, 8)]
    (example,) = find_counterexamples(_window(tmp_path, *days), min_failures=1).entries
    assert [place.question for place in example.examples] == ["q1", "q2", "q3", "q4", "q5"]


# --- real requests ---------------------------------------------------------------------------------
