"""The folder of the log is removed while records are written: none that ends later is missing."""

import json
import shutil
from pathlib import Path

from coreloop.observe.collector import AuditCollector
from coreloop.observe.drops import dropped


def ids(folder: Path) -> list[str]:
    return [
        json.loads(line)["request_id"]
        for path in folder.glob("*.jsonl")
        for line in path.read_bytes().splitlines()
    ]


def test_of_3000_records_those_after_the_removal_are_there(tmp_path: Path):
    lost = dropped()
    for number in range(3_000):
        if number in {700, 701, 2_000}:
            shutil.rmtree(tmp_path / "audit")
        AuditCollector(question="q", request_id=f"r{number}", data_dir=tmp_path).flush()
    assert ids(tmp_path / "audit" / "ai-ask") == [f"r{number}" for number in range(2_000, 3_000)]
    assert dropped() == lost
