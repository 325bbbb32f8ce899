"""A folder of day files: which files are counted."""

from pathlib import Path

import pytest

from coreloop.base.errors import WorkspaceError
from coreloop.learn.facts.read_lines import MineSettings
from coreloop.learn.mine.folder import read_folder
from logs import record, write_log


def test_every_jsonl_file_counts_in_the_order_of_names(tmp_path: Path):
    for name in ("b.jsonl", "2026-04-25.jsonl", "감사 기록.jsonl", "notes.txt", "c.jsonl.gz", "d.json"):
        write_log(tmp_path / name, [record()])
    write_log(tmp_path / "deeper" / "e.jsonl", [record()])
    files = read_folder(tmp_path, MineSettings())
    assert [file.path.name for file in files] == ["2026-04-25.jsonl", "b.jsonl", "감사 기록.jsonl"]


def test_a_missing_folder_is_named(tmp_path: Path):
    with pytest.raises(WorkspaceError, match=r"missing: no such folder; .*--in-dir"):
        read_folder(tmp_path / "missing", MineSettings())


def test_a_file_that_cannot_be_read_is_named(tmp_path: Path):
    (tmp_path / "a.jsonl").symlink_to(tmp_path / "gone")
    with pytest.raises(WorkspaceError, match=r"a\.jsonl: cannot be read \(No such file"):
        read_folder(tmp_path, MineSettings())
