"""A folder of day files: which files are counted, and which have expired."""

from datetime import date
from pathlib import Path

import pytest

from coreloop.base.errors import WorkspaceError
from coreloop.learn.facts.read_lines import MineSettings
from coreloop.learn.mine.folder import read_folder, remove_expired
from logs import record, write_log


def _names(folder: Path) -> list[str]:
    return [file.path.name for file in read_folder(folder, MineSettings())]


def test_every_jsonl_file_counts_in_the_order_of_names(tmp_path: Path):
    for name in ("b.jsonl", "2026-04-25.jsonl", "감사 기록.jsonl", "notes.txt", "c.jsonl.gz", "d.json"):
        write_log(tmp_path / name, [record()])
    write_log(tmp_path / "deeper" / "e.jsonl", [record()])
    assert _names(tmp_path) == ["2026-04-25.jsonl", "b.jsonl", "감사 기록.jsonl"]


def test_a_missing_folder_is_named(tmp_path: Path):
    with pytest.raises(WorkspaceError, match=r"missing: no such folder; .*--in-dir"):
        read_folder(tmp_path / "missing", MineSettings())


def test_a_file_that_cannot_be_read_is_named(tmp_path: Path):
    (tmp_path / "a.jsonl").symlink_to(tmp_path / "gone")
    with pytest.raises(WorkspaceError, match=r"a\.jsonl: cannot be read \(No such file"):
        read_folder(tmp_path, MineSettings())


def test_only_files_whose_newest_record_is_old_expire(tmp_path: Path):
    write_log(
        tmp_path / "2026-04-24.jsonl", [record(ts="2026-04-01T00:00:00Z"), record(ts="2026-04-24T23:59:59Z")]
    )
    write_log(
        tmp_path / "mixed.jsonl", [record(ts="2026-04-01T00:00:00Z"), record(ts="2026-04-25T00:00:00Z")]
    )
    write_log(tmp_path / "neutral.jsonl", [record(ts="2026-04-25T00:00:00Z", chunk_len=300)])
    write_log(tmp_path / "empty.jsonl", [])
    (tmp_path / "torn.jsonl").write_bytes(b'{"ts": "2026-01-01')
    files = read_folder(tmp_path, MineSettings())
    assert remove_expired(files, before=date(2026, 4, 25)) == [tmp_path / "2026-04-24.jsonl"]
    write_log(tmp_path / "notes.jsonl", [record(ts="2026-04-01T00:00:00Z")])
    assert tmp_path / "notes.jsonl" not in remove_expired(
        read_folder(tmp_path, MineSettings()), before=date(2026, 4, 25)
    )
    assert remove_expired([], before=date(2026, 4, 25)) == []
