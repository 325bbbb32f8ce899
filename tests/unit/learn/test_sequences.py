"""Which patterns become candidates, their order and their fields."""

import re
import unicodedata
from datetime import UTC, date, datetime
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from coreloop.base.date_range import Days
from coreloop.base.project.settings import Gates
from coreloop.base.records import hash_sequence
from coreloop.learn.facts.counting import MineSettings
from coreloop.learn.line import Step, statement_key, target_step
from coreloop.learn.mine.folder import read_folder
from coreloop.learn.mine.statistics import success_bound
from coreloop.learn.mine.window import Window, merge
from coreloop.learn.proposals.entry import Candidate, Search
from coreloop.learn.sequences import distinct_questions, find_candidates
from logs import call, record, repeated, word, write_log
from rows import each_row

ALWAYS = Days(date(2000, 1, 1), date(2100, 1, 1))
GATE = Gates()
ADVICE = ("영업이익률은 업종 중앙값과 함께 본다",)


def _window(folder: Path, records: list[dict[str, Any]]) -> Window:
    write_log(folder / "2026-04-25.jsonl", records)
    return merge(read_folder(folder, MineSettings()), ALWAYS)


def _search(
    folder: Path, records: list[dict[str, Any]], gate: Gates = GATE, **more: Any
) -> Search[Candidate]:
    return find_candidates(_window(folder, records), gate, **more)


def _calls(*names: str) -> dict[str, Any]:
    return {"tool_calls": [call(name) for name in names]}


def _relaxed(folder: Path, records: list[dict[str, Any]], *gate: Gates, **more: Any) -> Search[Candidate]:
    return _search(folder, records, *gate, **{"playbook": {"profitability": ADVICE}, **more})


def test_a_candidate_has_the_figures_of_its_records(tmp_path: Path):
    rows = repeated(4, provider="openai", session_hash="session:1")
    rows[0] |= {
        "ts": "2026-03-26T00:00:00Z",
        "session_hash": "session:2",
        "provider": "google",
        "chunk_len": 500,
    }
    rows[1] |= {"ts": "2026-05-01T10:00:00.000001Z"}
    (candidate,) = _search(tmp_path, rows).entries
    text = "analysis(axis=수익성)"
    assert candidate.key == sha256(f"FIN-profitability-KR\n{text}\nGuide".encode()).hexdigest()[:16]
    assert candidate.seq_hash == hash_sequence(text)
    assert (candidate.engine, candidate.axis, candidate.cat_hash) == (
        "analysis",
        "수익성",
        "FIN-profitability-KR",
    )
    assert candidate.tool_pattern == (Step("analysis", {"axis": "수익성"}, ("axis",)),)
    assert (candidate.n_observed, candidate.n_unique_questions, candidate.n_sessions) == (4, 4, 2)
    assert (candidate.success_rate, candidate.base_rate, candidate.avg_chunk_len) == (1.0, 1.0, 875)
    assert candidate.success_low == success_bound(4, 4)
    assert candidate.first_seen == datetime(2026, 3, 26, tzinfo=UTC)
    assert candidate.last_seen == datetime(2026, 5, 1, 10, microsecond=1, tzinfo=UTC)
    assert candidate.example_questions[0] == "질문 가 회사가"
    assert candidate.evidence_rank == 1


@pytest.mark.parametrize(
    ("rows", "gate"),
    [
        pytest.param(repeated(2), "min_repeat", id="two requests"),
        pytest.param([*repeated(9), record(error="x")], "min_success_rate", id="one failure"),
        pytest.param([record()] * 9, "min_unique_questions", id="one question nine times"),
        pytest.param(
            [record(question=f"{'수익성 마진 성장 배당 현금'} {sign}") for sign in ("", "가", "나", "다")],
            "min_unique_questions",
            id="near questions",
        ),
        pytest.param(
            repeated(3, tool_sequence_hash="seq:00000000000000aa", tool_calls_omitted=1),
            "steps_not_recorded",
            id="no record holds all the calls",
        ),
    ],
)
def test_a_pattern_is_counted_at_the_first_gate_that_it_fails(
    rows: list[dict[str, Any]], gate: str, tmp_path: Path
):
    search = _search(tmp_path, rows)
    assert (search.entries, search.n_groups) == ((), 1)
    assert {name: n for name, n in search.dropped.items() if n} == {gate: 1}


def test_known_keys_are_not_proposed_again(tmp_path: Path):
    key = statement_key("FIN-profitability-KR", "analysis(axis=수익성)", "Guide")
    search = _search(tmp_path, repeated(3), known=frozenset({key, "another"}))
    assert search.entries == ()
    assert search.dropped["known"] == 1


def test_candidates_are_ranked_by_how_far_the_bound_is_above_the_base_rate(tmp_path: Path):
    hard = {"category_hash": "HARD"}
    rows = [
        *repeated(8, **_calls("easy"), category_hash="EASY"),
        *repeated(5, **_calls("useful"), **hard),
        *repeated(4, **_calls("less"), **hard),
        *repeated(20, **_calls("fails"), **hard, error="x"),
    ]
    search = _search(tmp_path, rows)
    assert [candidate.engine for candidate in search.entries] == ["useful", "less", "easy"]


def test_the_rest_of_a_category_is_its_other_requests_that_count(tmp_path: Path):
    rows = [
        *repeated(5, **_calls("a")),
        *repeated(4, **_calls("b")),
        *repeated(3, **_calls("c"), error="x"),
        *repeated(2, tool_calls=[]),
        *repeated(9, **_calls("d"), error="connection reset"),  # counts neither way
        *repeated(7, **_calls("a"), category_hash="OTHER"),
    ]
    by_category = {
        candidate.cat_hash: candidate
        for candidate in _search(tmp_path, rows).entries
        if candidate.engine == "a"
    }
    first, other = by_category["FIN-profitability-KR"], by_category["OTHER"]
    assert (first.n_succeeded, first.n_observed, first.rest_ok, first.rest_n) == (5, 5, 6, 9)
    assert first.base_rate == 11 / 14
    assert (other.rest_ok, other.rest_n, other.base_rate) == (0, 0, 1.0)


def test_the_most_common_argument_names_are_shown(tmp_path: Path):
    rows = repeated(5, tool_calls=[call("show", {"topic": "a"})])
    for row in rows[:2]:
        row["tool_calls"] = [call("show", {"topic": "a", "years": 3})]
    (candidate,) = _search(tmp_path, rows).entries
    assert candidate.tool_pattern == (Step("show", {}, ("topic",)),)


def test_at_most_five_different_questions_are_shown(tmp_path: Path):
    rows = [*repeated(9), record(question="질문 가, 회사가!")]
    (candidate,) = _search(tmp_path, rows).entries
    assert candidate.example_questions == tuple(f"질문 {word(n)} 회사{word(n)}" for n in range(5))
    assert candidate.n_unique_questions == 9


def test_questions_whose_text_is_not_kept_count_by_their_hash(tmp_path: Path):
    rows = [record(question=None, question_hash=f"sha256:{n:016x}") for n in (1, 2, 3, 3)]
    (candidate,) = _search(tmp_path, rows).entries
    assert (candidate.n_unique_questions, candidate.example_questions) == (3, ())


@pytest.mark.parametrize("change", ["removed", "rewritten"])
def test_a_file_that_changed_since_costs_only_its_texts(change: str, tmp_path: Path):
    window = _window(tmp_path, repeated(3))
    path = tmp_path / "2026-04-25.jsonl"
    if change == "removed":
        path.unlink()
    else:
        write_log(path, repeated(3, ts="x"))
    (candidate,) = find_candidates(window, GATE).entries
    assert (candidate.n_unique_questions, candidate.example_questions) == (3, ())


@each_row(
    ("steps", "target"),
    [
        pytest.param([("a", {}), ("b", {})], "b", id="the last without selectors"),
        pytest.param([("a", {"axis": "x"}), ("b", {})], "a", id="the last with a selector"),
        pytest.param([("a", {"axis": "x"}), ("b", {"axis": "y"}), ("c", {})], "b", id="the last of several"),
    ],
)
def test_the_documented_tool(steps: list[tuple[str, dict[str, str]]], target: str):
    assert target_step(tuple(Step(name, chosen, ()) for name, chosen in steps)).name == target


def test_two_requests_with_two_questions_are_enough_and_the_bullets_are_listed(tmp_path: Path):
    (candidate,) = _relaxed(tmp_path, repeated(2)).entries
    assert (candidate.n_observed, candidate.evidence_rank, candidate.bullets) == (2, 2, ADVICE)


def test_a_pattern_that_passes_the_full_gate_has_no_bullets(tmp_path: Path):
    (candidate,) = _relaxed(tmp_path, repeated(3)).entries
    assert (candidate.evidence_rank, candidate.bullets) == (1, ())


def test_three_requests_with_two_questions_are_relaxed_too(tmp_path: Path):
    (candidate,) = _relaxed(tmp_path, [*repeated(2), *repeated(1)]).entries
    assert (candidate.n_observed, candidate.n_unique_questions, candidate.evidence_rank) == (3, 2, 2)


@pytest.mark.parametrize(
    ("records", "gate"),
    [
        pytest.param(repeated(1), "min_repeat", id="one request"),
        pytest.param([record()] * 5, "min_unique_questions", id="one question"),
        pytest.param(
            [record(question=f"수익성 마진 성장 배당 현금 {word}") for word in ("", "가")],
            "min_unique_questions",
            id="near questions",
        ),
        pytest.param([*repeated(2), record(error="x")], "min_success_rate", id="a failure"),
        pytest.param(repeated(2, category_hash="FIN-growth-KR"), "min_repeat", id="another topic"),
        pytest.param(repeated(2, category_hash="profitability"), "min_repeat", id="no topic part"),
        pytest.param(repeated(2, category_hash="profitability-FIN"), "min_repeat", id="the topic elsewhere"),
        pytest.param(repeated(2, category_hash="a b-profitability"), "min_repeat", id="no label"),
        pytest.param(repeated(2, category_hash=None), "min_repeat", id="no category"),
    ],
)
def test_all_other_conditions_of_the_gate_apply(records: list[dict[str, Any]], gate: str, tmp_path: Path):
    search = _relaxed(tmp_path, records)
    assert search.entries == ()
    assert search.dropped[gate] == 1


WORDS = ["가", "나", "다", "라", "마", "바", "사", "아", "자", "차"]


def _n(count: int) -> str:
    return " ".join(WORDS[:count])


@each_row(
    ("questions", "distinct"),
    [
        pytest.param([], [], id="none"),
        pytest.param(["가 나", "가 나"], [0], id="the same"),
        pytest.param(["가 나", "나 가 가!"], [0], id="order, repeats and signs say nothing"),
        pytest.param(["ROE of X", "ｒｏｅ OF x"], [0], id="case and width say nothing"),
        pytest.param([_n(4), _n(5)], [0], id="four of five is 0.8: near"),
        pytest.param([_n(3), _n(4)], [0, 1], id="three of four is 0.75: different"),
        pytest.param([_n(8), _n(10)], [0], id="eight of ten is 0.8: near"),
        pytest.param([_n(7), _n(9)], [0, 1], id="seven of nine is 0.78: different"),
        pytest.param(["", "!?", " "], [0], id="without a word all are the same"),
        pytest.param(["", "가"], [0, 1], id="without a word is not with one"),
        pytest.param([_n(4), _n(5), _n(6)], [0, 2], id="near to one that was dropped is not near"),
        pytest.param([_n(6), _n(5), _n(4)], [0, 2], id="the order decides"),
        pytest.param(["where is order A1000", "where is order #A1001?"], [0], id="ids say nothing"),
        pytest.param(["A1000은 어디에", "B77은 어디에"], [0], id="an id before a particle says nothing"),
        pytest.param(
            ["up 3.5 % on 2026-04-25", "up 12 % on 2025/1/2"], [0], id="numbers and days say nothing"
        ),
        pytest.param(["2026년 매출", "2025년 매출"], [0], id="a year says nothing"),
        pytest.param(["매출 2026", "매출"], [0, 1], id="that there is a number does"),
    ],
)
def test_near_questions_count_once(questions: list[str], distinct: list[int]):
    assert distinct_questions(questions) == distinct


def _all_pairs(questions: list[str]) -> list[int]:
    distinct: list[int] = []
    for index, question in enumerate(questions):
        words = _words(question)
        if not any(_jaccard(words, _words(questions[other])) >= 0.8 for other in distinct):
            distinct.append(index)
    return distinct


def _words(question: str) -> set[str]:
    folded = unicodedata.normalize("NFKC", question).lower()
    plain = "".join(char for char in folded if char.isalnum() or char.isspace())
    return set(re.sub(r"[0-9a-z]*[0-9][0-9a-z]*", "0", plain).split())


def _jaccard(words: set[str], other: set[str]) -> float:
    return len(words & other) / len(words | other) if words | other else 1.0


QUESTIONS = st.lists(st.sampled_from(WORDS), max_size=10).map(" ".join)
NEAR = st.lists(st.sets(st.integers(0, 11), max_size=2), max_size=25).map(
    lambda gaps: [" ".join(f"w{chr(97 + n)}" for n in range(12) if n not in gap) for gap in gaps]
)


@given(
    questions=st.one_of(st.lists(QUESTIONS, max_size=30), NEAR, st.lists(st.text(max_size=12), max_size=10))
)
def test_the_result_is_the_same_as_comparing_every_pair(questions: list[str]):
    assert distinct_questions(questions) == _all_pairs(questions)


def test_many_questions_that_share_a_word_are_still_told_apart():
    questions = [f"분석 회사{word(number)} 지표{word(number)}" for number in range(5000)]
    assert distinct_questions(questions + questions) == list(range(5000))
