"""A collector in a folder of its own, its records, and counts that start at zero."""

import functools
import json

import pytest

from coreloop.observe import AuditCollector, drops
from coreloop.observe.reading.decode import raw_lines
from observing import MOMENT, ns


@pytest.fixture(autouse=True)
def _no_drops(monkeypatch):
    monkeypatch.setattr(drops, "_counts", {})


@pytest.fixture
def audit(tmp_path):
    return functools.partial(AuditCollector, data_dir=tmp_path, clock_ns=lambda: ns(MOMENT))


@pytest.fixture
def records(tmp_path):
    def read(data_dir=tmp_path):
        days = sorted((data_dir / "audit" / "ai-ask").glob("*.jsonl"))
        return [json.loads(raw) for day in days for _, raw in raw_lines(day)]

    return read


@pytest.fixture
def only_record(records):
    def read():
        (record,) = records()
        return record

    return read
