"""Counts of dropped records since a time."""

import json
import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path

import pytest

from coreloop.base.errors import WorkspaceError
from coreloop.observe.journal import read_dropped

SINCE = datetime(2026, 4, 1, tzinfo=UTC)


def write(path: Path, *lines: object) -> Path:
    path.write_text("".join((line if isinstance(line, str) else json.dumps(line)) + "\n" for line in lines))
    return path


def test_dropped_records_are_summed_by_reason_since_a_time(tmp_path: Path) -> None:
    path = write(
        tmp_path / "dropped.jsonl",
        {"ts": "2026-03-31T23:59:59Z", "reason": "write_EACCES", "n": 5},
        "",
        {"ts": "2026-04-01T00:00:00Z", "reason": "torn_write", "n": 1},
        '{"ts": "2026-04-02T00:00:00Z", "rea',
        "\x00\x00",
        {"ts": "2026-04-02T00:00:00", "reason": "write_ENOSPC", "n": 2},
        {"ts": "2026-04-03T00:00:00+09:00", "reason": "write_ENOSPC", "n": 3, "more": 1},
    )
    assert list(read_dropped(path, since=SINCE).items()) == [("write_ENOSPC", 5), ("torn_write", 1)]


def test_a_missing_file_counts_nothing_and_an_unreadable_file_is_named(tmp_path: Path) -> None:
    assert read_dropped(tmp_path / "gone", since=SINCE) == {}
    with pytest.raises(WorkspaceError, match="cannot be read"):
        read_dropped(tmp_path, since=SINCE)


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
def test_records_dropped_in_another_process_are_counted(tmp_path: Path) -> None:
    records = tmp_path / "audit" / "ai-ask"
    records.mkdir(parents=True)
    (records / "1970-01-01.jsonl").symlink_to("/dev/full")
    script = """
import sys
from coreloop import AuditCollector
AuditCollector("왜?", data_dir=sys.argv[1], clock_ns=lambda: 0).flush(chunk_len=9)
"""
    subprocess.run([sys.executable, "-c", script, str(tmp_path)], check=True)
    assert read_dropped(tmp_path / "audit" / "dropped.jsonl", since=SINCE) == {"write_ENOSPC": 1}
