"""Which patterns become candidates, their order and their fields."""

from datetime import date
from pathlib import Path
from typing import Any

import pytest

from coreloop.base.date_range import Days
from coreloop.learn.facts.read_lines import MineSettings
from coreloop.learn.line import statement_key
from coreloop.learn.mine.folder import read_folder
from coreloop.learn.mine.window import Window, merge
from coreloop.learn.proposals.entry import Candidate, Search
from coreloop.learn.sequences import distinct_questions, find_candidates, with_q_values
from logs import call, record, repeated, word, write_log
from rows import each_row

ALWAYS = Days(date(2000, 1, 1), date(2100, 1, 1))
ADVICE = ("영업이익률은 업종 중앙값과 함께 본다",)


def _window(folder: Path, records: list[dict[str, Any]]) -> Window:
    write_log(folder / "2026-04-25.jsonl", records)
    return merge(read_folder(folder, MineSettings()), ALWAYS)


def _search(folder: Path, records: list[dict[str, Any]], **more: Any) -> Search[Candidate]:
    return find_candidates(_window(folder, records), **more)


def _calls(*names: str) -> dict[str, Any]:
    return {"tool_calls": [call(name) for name in names]}


def _relaxed(folder: Path, records: list[dict[str, Any]], **more: Any) -> Search[Candidate]:
    return _search(folder, records, **{"playbook": {"profitability": ADVICE}, **more})


@pytest.mark.parametrize(
    ("rows", "gate"),
    [
        (repeated(2), "min_repeat"),
        ([*repeated(9), record(error="x")], "min_success_rate"),
        ([record()] * 9, "min_unique_questions"),
        (
            [record(question=f"{'수익성 마진 성장 배당 현금'} {sign}") for sign in ("", "가", "나", "다")],
            "min_unique_questions",
        ),
        (repeated(3, tool_sequence_hash="seq:00000000000000aa", tool_calls_omitted=1), "steps_not_recorded"),
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
        *repeated(3, **_calls("a", "c"), error="x"),
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
    assert (first.n_succeeded, first.n_begun, first.rest_ok, first.rest_n) == (5, 8, 6, 6)
    assert first.base_rate == 11 / 14
    assert (other.rest_ok, other.rest_n, other.base_rate) == (0, 0, 1.0)


def test_requests_without_a_question_are_one_case_if_their_calls_are_the_same(tmp_path: Path):
    for n_ways, is_sure in ((20, True), (1, False)):
        others = (record(question="", error="x", **_calls(f"guess{n % n_ways}")) for n in range(20))
        window = _window(tmp_path, [*repeated(9), *others])
        (found,) = with_q_values(window, find_candidates(window).entries)
        assert ((found.q_value or 0) < 0.01) is is_sure


def test_at_most_five_different_questions_are_shown(tmp_path: Path):
    rows = [*repeated(9), record(question="질문 가, 회사가!")]
    (candidate,) = _search(tmp_path, rows).entries
    assert candidate.example_questions == tuple(f"질문 {word(n)} 회사{word(n)}" for n in range(5))
    assert candidate.n_unique_questions == 9


@pytest.mark.parametrize("change", ["removed", "rewritten"])
def test_a_file_that_changed_since_costs_only_its_texts(change: str, tmp_path: Path):
    window = _window(tmp_path, repeated(3))
    path = tmp_path / "2026-04-25.jsonl"
    if change == "removed":
        path.unlink()
    else:
        path.write_bytes(b"torn\n" * 999)
    (candidate,) = find_candidates(window).entries
    assert (candidate.n_unique_questions, candidate.example_questions) == (3, ())


def test_three_requests_with_two_questions_are_relaxed_too(tmp_path: Path):
    (candidate,) = _relaxed(tmp_path, [*repeated(2), *repeated(1)]).entries
    assert (candidate.n_observed, candidate.n_unique_questions) == (3, 2)


@pytest.mark.parametrize(
    ("records", "gate"),
    [
        ([record()] * 5, "min_unique_questions"),
        (
            [record(question=f"수익성 마진 성장 배당 현금 {word}") for word in ("", "가")],
            "min_unique_questions",
        ),
        ([*repeated(2), record(error="x")], "min_success_rate"),
        (repeated(2, category_hash="FIN-growth-KR"), "min_repeat"),
        (repeated(2, category_hash=None), "min_repeat"),
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
        pytest.param(["", "!?", " "], [0], id="without a word all are the same"),
        pytest.param(["", "가"], [0, 1], id="without a word is not with one"),
        pytest.param([_n(4), _n(5), _n(6)], [0, 2], id="near to one that was dropped is not near"),
        pytest.param(["where is order A1000", "where is order #A1001?"], [0], id="ids say nothing"),
        pytest.param(
            ["up 3.5 % on 2026-04-25", "up 12 % on 2025/1/2"], [0], id="numbers and days say nothing"
        ),
        pytest.param(["매출 2026", "매출"], [0, 1], id="that there is a number does"),
    ],
)
def test_near_questions_count_once(questions: list[str], distinct: list[int]):
    assert distinct_questions(questions) == [questions[index] for index in distinct]


def test_many_questions_that_share_a_word_are_still_told_apart():
    questions = [f"분석 회사{word(number)} 지표{word(number)}" for number in range(200)]
    assert distinct_questions(questions + questions) == questions
