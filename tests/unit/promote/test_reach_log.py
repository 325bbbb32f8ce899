"""Outcomes of reach checks: the newest counts."""

from datetime import UTC, datetime
from pathlib import Path

import pytest

from coreloop.base.errors import WorkspaceError
from coreloop.promote.reach import ReachOutcome, append_reach, read_reaches

SINCE = datetime(2026, 4, 1, tzinfo=UTC)


def test_the_newest_check_of_a_candidate_counts(tmp_path: Path) -> None:
    path = tmp_path / "audit" / "reach.jsonl"
    old = datetime(2026, 3, 1, tzinfo=UTC)
    for ts, key, ok in [(old, "old", False), (SINCE, "aa", False), (SINCE, "bb", True), (SINCE, "aa", True)]:
        append_reach(path, ReachOutcome(ts, key, ok))
    assert read_reaches(path, since=SINCE) == {"aa": True, "bb": True}
    assert path.stat().st_mode & 0o777 == 0o600


def test_a_missing_file_says_nothing_and_an_unreadable_one_is_named(tmp_path: Path) -> None:
    assert read_reaches(tmp_path / "gone", since=SINCE) == {}
    with pytest.raises(WorkspaceError, match="cannot be read"):
        read_reaches(tmp_path, since=SINCE)


def test_lines_that_cannot_be_read_are_skipped_and_a_time_without_a_zone_is_utc(tmp_path: Path) -> None:
    path = tmp_path / "reach.jsonl"
    path.write_text('{"ts": "2026-04-01T00:00:00", "key": "aa", "ok": true}\n{"ts": "2026-04-02T0')
    append_reach(path, ReachOutcome(SINCE, "bb", False))
    assert read_reaches(path, since=SINCE) == {"aa": True, "bb": False}
