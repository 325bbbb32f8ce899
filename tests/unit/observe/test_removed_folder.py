"""The folder of the log is removed while records are written: none that ends later is missing."""

import json
import shutil
from pathlib import Path

import pytest

from coreloop.observe.collector import AuditCollector
from coreloop.observe.drops import dropped
from coreloop.observe.journal import Journal

DAY = "2026-04-25"


def ids(folder: Path) -> list[str]:
    return [
        json.loads(line)["request_id"]
        for path in folder.glob("*.jsonl")
        for line in path.read_bytes().splitlines()
    ]


@pytest.mark.parametrize("is_folder", [True, False], ids=["folder", "file"])
def test_a_line_whose_file_was_just_removed_is_written_again(tmp_path: Path, is_folder: bool):
    folder = tmp_path / "audit" / "ai-ask"
    journal = Journal(folder)
    journal.append(b"1\n", day=DAY, second=1)
    if is_folder:
        shutil.rmtree(tmp_path / "audit")
    else:
        (folder / f"{DAY}.jsonl").unlink()
    journal.append(b"2\n", day=DAY, second=1)
    journal.append(b"3\n", day=DAY, second=1)
    assert (folder / f"{DAY}.jsonl").read_bytes() == b"2\n3\n"
    journal.close()


def test_of_3000_records_those_after_the_removal_are_there(tmp_path: Path):
    lost = dropped()
    for number in range(3_000):
        if number in {700, 701, 2_000}:
            shutil.rmtree(tmp_path / "audit")
        AuditCollector(question="q", request_id=f"r{number}", data_dir=tmp_path).flush()
    assert ids(tmp_path / "audit" / "ai-ask") == [f"r{number}" for number in range(2_000, 3_000)]
    assert dropped() == lost
