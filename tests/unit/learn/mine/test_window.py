"""Many files combined: their days, their rows and their sums."""

from datetime import date
from pathlib import Path
from typing import Any

import pytest

from coreloop.base.date_range import Days
from coreloop.learn.facts.read_lines import FileFacts, MineSettings, facts_of_lines
from coreloop.learn.mine.window import Window, merge
from coreloop.learn.sequences import count_patterns
from coreloop.observe.reading.decode import raw_lines
from logs import call, record, write_log
from samples import rolled

APRIL = Days(date(2026, 4, 1), date(2026, 4, 30))


def _file(path: Path, *records: dict[str, Any]) -> FileFacts:
    return facts_of_lines(raw_lines(write_log(path, records)), MineSettings(min_chunk_len=400), path=path)


def _window(folder: Path, *files: list[dict[str, Any]], days: Days = APRIL) -> Window:
    return merge([_file(folder / f"{index}.jsonl", *rows) for index, rows in enumerate(files)], days)


def _patterns(window: Window) -> list[dict[str, Any]]:
    patterns = count_patterns(window)
    return patterns.sort("category", "n_observed").to_dicts()


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


def test_a_request_of_one_file_says_nothing_about_that_at_the_same_place_of_another():
    settings = MineSettings(replayed=frozenset({"r2"}), handoff=frozenset({"transfer"}))
    asked = [("r0", "transfer"), ("r1", "find"), ("r2", "find")]
    files = [[record(request_id=id, tool_calls=[call(tool)]), record()] for id, tool in asked]
    window = merge([rolled(rows, settings=settings) for rows in files], APRIL)
    found = [(group.file, one.outcome) for group in window.requests for one in group.each()]
    assert sorted(found) == [(0, -1), (0, 1), (1, 1), (1, 1), (2, 1)]


def test_a_mean_length_is_that_of_the_answers_whose_length_is_known(tmp_path: Path):
    (pattern,) = _patterns(
        _window(tmp_path, [record(chunk_len=500), record(chunk_len=None), record(chunk_len=700)])
    )
    assert (pattern["n_success"], pattern["avg_chunk_len"]) == (3, 600)
    (tmp_path / "unknown").mkdir()
    (pattern,) = _patterns(_window(tmp_path / "unknown", [record(chunk_len=None)] * 2))
    assert (pattern["n_success"], pattern["avg_chunk_len"]) == (2, 0)
