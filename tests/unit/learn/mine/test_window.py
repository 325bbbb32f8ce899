"""Many files combined: their days, their rows and their sums."""

from datetime import date, datetime
from pathlib import Path
from typing import Any

import pytest

from coreloop.base.date_range import Days
from coreloop.learn.facts.counting import MineSettings
from coreloop.learn.facts.file import FileFacts, facts_of_lines
from coreloop.learn.mine.window import Window, merge
from coreloop.learn.sequences import (
    MAX_QUESTIONS,
    count_distinct,
    count_patterns,
    find_questions,
)
from coreloop.observe.reading.decode import raw_lines
from logs import call, record, repeated, write_log

APRIL = Days(date(2026, 4, 1), date(2026, 4, 30))


def _file(path: Path, *records: dict[str, Any]) -> FileFacts:
    return facts_of_lines(raw_lines(write_log(path, records)), MineSettings(min_chunk_len=400), path=path)


def _window(folder: Path, *files: list[dict[str, Any]], days: Days = APRIL) -> Window:
    return merge([_file(folder / f"{index}.jsonl", *rows) for index, rows in enumerate(files)], days)


def _patterns(window: Window) -> list[dict[str, Any]]:
    patterns = count_distinct(window, count_patterns(window))
    return patterns.sort("category", "n_observed").to_dicts()


def _questions(window: Window) -> list[dict[str, Any]]:
    return find_questions(window, count_patterns(window)).to_dicts()


def test_the_recorded_days_are_those_of_the_records_in_the_window(tmp_path: Path):
    rows = [record(ts=f"2026-{day}T09:00:00Z") for day in ("03-31", "04-12", "04-03", "04-07")]
    assert _window(tmp_path, rows[:2], rows[2:]).recorded() == Days(date(2026, 4, 3), date(2026, 4, 12))
    assert merge([], APRIL).recorded() == APRIL


@pytest.mark.parametrize(
    ("ts", "inside"),
    [
        ("2026-04-01T00:00:00Z", True),
        ("2026-03-31T23:59:59.999999Z", False),
        ("2026-04-30T23:59:59.999999Z", True),
        ("2026-05-01T00:00:00Z", False),
        ("2026-04-01T08:59:59+09:00", False),
        ("2026-05-01T08:59:59+09:00", True),
    ],
)
def test_a_window_is_whole_utc_days(ts: str, inside: bool, tmp_path: Path):
    window = _window(tmp_path, [record(ts=ts)])
    assert window.n_records() == inside


def test_neutral_records_are_counted_but_belong_to_no_pattern(tmp_path: Path):
    window = _window(tmp_path, [record(), record(chunk_len=300), record(error="429")])
    assert window.n_records() == 3
    assert [row["n_observed"] for row in _patterns(window)] == [1]


def test_a_mean_length_is_that_of_the_answers_whose_length_is_known(tmp_path: Path):
    (pattern,) = _patterns(
        _window(tmp_path, [record(chunk_len=500), record(chunk_len=None), record(chunk_len=700)])
    )
    assert (pattern["n_success"], pattern["avg_chunk_len"]) == (3, 600)
    (tmp_path / "unknown").mkdir()
    (pattern,) = _patterns(_window(tmp_path / "unknown", [record(chunk_len=None)] * 2))
    assert (pattern["n_success"], pattern["avg_chunk_len"]) == (2, 0)


def test_neutral_records_move_no_date(tmp_path: Path):
    rows = [
        record(ts=f"2026-04-{day:02}T00:00:00Z", chunk_len=n) for day, n in ((3, 300), (4, 900), (5, 300))
    ]
    (pattern,) = _patterns(_window(tmp_path, rows))
    (question,) = _questions(_window(tmp_path, rows))
    assert pattern["first_us"] == pattern["last_us"] == question["first_us"]


def test_the_sums_of_a_pattern(tmp_path: Path):
    first = [record(session_hash="session:1"), record(session_hash="session:2", chunk_len=500)]
    second = [record(session_hash="session:1", chunk_len=0), record(question="배당")]
    (pattern,) = _patterns(_window(tmp_path, first, second))
    assert (pattern["n_observed"], pattern["n_success"], pattern["n_sessions"]) == (4, 3, 2)
    assert pattern["n_question_hashes"] == 2
    assert pattern["success_rate"] == 0.75
    assert pattern["avg_chunk_len"] == 625


def test_texts_of_all_files_are_combined(tmp_path: Path):
    other = record(tool_calls=[call("show")])
    window = _window(tmp_path, [record(), record(origin="replay")], [other, record(origin="replay")])
    hashes = window.groups.select("sequence").collect()["sequence"]
    assert set(window.texts_of("sequence", hashes).values()) == {"analysis(axis=수익성)", "show()"}
    assert window.texts_of("shape", hashes) == window.texts_of("sequence", [7]) == {}
    assert [path.name for path in window.paths] == ["0.jsonl", "1.jsonl"]


def test_questions_come_by_time_then_file_then_place(tmp_path: Path):
    late, early, tied = (record(question=text, ts=ts) for text, ts in _ASKED)
    questions = _questions(_window(tmp_path, [late, early], [tied, early]))
    assert [(row["file"], row["offset"] > 0) for row in questions] == [(0, True), (1, False), (0, False)]


_ASKED = [
    ("late", "2026-04-09T00:00:00Z"),
    ("early", "2026-04-02T00:00:00Z"),
    ("tied", "2026-04-02T00:00:00Z"),
]


def test_of_a_pattern_with_many_questions_the_earliest_are_compared(tmp_path: Path):
    asked = [
        record(question=f"질문{number}", ts=f"2026-04-01T00:{59 - number // 60:02}:{59 - number % 60:02}Z")
        for number in range(MAX_QUESTIONS + 50)
    ]
    window = _window(tmp_path, asked)
    (pattern,) = _patterns(window)
    questions = _questions(window)
    assert (pattern["n_question_hashes"], len(questions)) == (MAX_QUESTIONS + 50, MAX_QUESTIONS)
    assert max(row["first_us"] for row in questions) < min(_us(row) for row in asked[:50])


def _us(row: dict[str, Any]) -> int:
    return int(datetime.fromisoformat(row["ts"]).timestamp()) * 1_000_000


def test_patterns_are_counted_a_part_at_a_time_with_the_same_result(tmp_path, monkeypatch):
    rows = [row for axis in "abcdefgh" for row in repeated(5, tool_calls=[call("a", {"axis": axis})])]
    window = _window(tmp_path, rows)
    expected = _patterns(window), sorted(_questions(window), key=str)
    monkeypatch.setattr("coreloop.learn.sequences._ROWS_AT_ONCE", 7)
    assert (_patterns(window), sorted(_questions(window), key=str)) == expected
