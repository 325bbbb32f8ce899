"""The folder of the log is removed while records are written: a second later, records are there again."""

import json
import shutil
from functools import partial
from pathlib import Path

from coreloop.observe.collector import AuditCollector
from coreloop.observe.drops import dropped


def test_records_of_the_second_after_the_removal_are_there(tmp_path: Path):
    lost = dropped()
    for second in range(3):
        AuditCollector(
            request_id=f"r{second}", data_dir=tmp_path, clock_ns=partial(int, second * 10**9)
        ).flush()
        if second == 1:
            shutil.rmtree(tmp_path / "audit")
    [day] = (tmp_path / "audit" / "ai-ask").glob("*.jsonl")
    assert [json.loads(line)["request_id"] for line in day.read_bytes().splitlines()] == ["r2"]
    assert dropped() == lost
