"""The figures of a log, in any order and with any dates of its records."""

from collections.abc import Sequence
from datetime import date, timedelta
from pathlib import Path
from typing import Any

import pytest

from coreloop.admin.status.log_figures import Log, read_log
from coreloop.learn.facts.read_lines import FileFacts, MineSettings
from coreloop.learn.mine.folder import read_folder
from logs import record, write_log

TODAY = date(2026, 4, 25)


def at(day: date | str, **changes: Any) -> dict[str, Any]:
    return record(ts=f"{day}T09:30:00Z", **changes)


def files_of(folder: Path, files: dict[str, Sequence[dict[str, Any]]]) -> list[FileFacts]:
    for name, records in files.items():
        write_log(folder / name, records)
    return read_folder(folder, MineSettings())


def log_of(folder: Path, files: dict[str, Sequence[dict[str, Any]]]) -> Log:
    return read_log(files_of(folder, files), today=TODAY)


@pytest.mark.slow
def test_a_year_of_day_files_is_counted_whole_and_mined_by_the_window(tmp_path: Path) -> None:
    days = [TODAY - timedelta(days=n) for n in range(365)]
    files = {f"{day}.jsonl": [at(day, question=f"질문{day} 회사{day}")] for day in days}
    log = log_of(tmp_path, files)
    assert (log.n_records, log.n_days, log.first, log.newest) == (365, 365, days[-1], TODAY)
    assert (log.n_in_window, log.n_patterns) == (31, 1)
    assert (log.days.since, log.days.until) == (date(2026, 3, 26), TODAY)
    assert (log.n_future, log.last, log.skipped) == (0, None, {})


def test_the_newest_is_by_date_whatever_the_order_of_lines_and_files(tmp_path: Path) -> None:
    """A clock that went backwards leaves older records below newer ones, and in younger files."""
    files = {
        "2026-04-20.jsonl": [at("2026-04-20"), at("1970-01-01"), at("2026-04-19")],
        "2026-04-21.jsonl": [at("2026-03-01")],
    }
    log = log_of(tmp_path, files)
    assert (log.first, log.newest, log.n_days) == (date(1970, 1, 1), date(2026, 4, 20), 4)


def test_records_of_the_future_are_counted_apart(tmp_path: Path) -> None:
    files = {"a.jsonl": [at("2026-04-24"), at("2026-04-26"), at("9999-12-31"), at("2031-01-01")]}
    log = log_of(tmp_path, files)
    assert (log.newest, log.n_future, log.last) == (date(2026, 4, 24), 3, date(9999, 12, 31))
    assert (log.n_records, log.n_in_window) == (4, 1)
