"""Which failed calls a line names: those that deviate from it, as the records show."""

from pathlib import Path
from typing import Any

import polars as pl
import pytest

from coreloop.learn.effect.named_failure import named_failure
from coreloop.learn.effect.units import read_log
from coreloop.learn.facts.read_lines import MineSettings
from coreloop.learn.mine.folder import read_folder
from coreloop.learn.mine.window import EVERY_DAY, Window, merge
from logs import call, failed, record, write_log


def _window(folder: Path, *records: dict[str, Any]) -> Window:
    write_log(folder / "2026-04-25.jsonl", records)
    return merge(read_folder(folder, MineSettings()), EVERY_DAY)


def _against(window: Window, *lines: str) -> list[bool]:
    """Of each unit of pay that is against some lines, whether it failed."""
    log = read_log(window, {"pay": {"sha": named_failure(lines)}}, names={}, audit_dir=Path())
    units = log.units.filter(pl.col("row").is_in(list(log.against["sha", "pay"])), tool="pay")
    return list(units["failed"])


ID, FROM = {"id": "1"}, "- id: from find().id"
CASES = {
    "missing": ("- Always pass reason", [failed("pay", {"id": "1"})], True),
    "a success": ("- Always pass reason", [call("pay", {"id": "1"})], False),
    "empty": ("- ids: never empty", [failed("pay", {"ids": []})], True),
    "absent is not empty": ("- ids: never empty", [failed("pay", {})], False),
    "another value": ("- kind: one of card, cash", [failed("pay", {"kind": "cheque"})], True),
    "none of two": ("- Pass exactly one of a and b", [failed("pay", {"id": "1"})], True),
    "one of two": ("- Pass exactly one of a and b", [failed("pay", {"a": "1"})], False),
    "an item": ("- kinds: each one of card, cash", [failed("pay", {"kinds": ["cash", "cheque"]})], True),
    "outside": ("- path: below /srv/in", [failed("pay", {"path": "/srv/out/a.csv"})], True),
    "over": ("- limit: at most 20", [failed("pay", {"limit": 21})], True),
    "before it": ("- Call find first (same id)", [failed("pay", {"id": "1"})], True),
    "after it": ("- Call find first (same id)", [call("find", ID), failed("pay", ID)], False),
    "elsewhere": (FROM, [failed("pay", ID) | {"args_from": {"id": ["find.name"]}}], True),
    "from its field": (FROM, [failed("pay", ID) | {"args_from": {"id": ["find.name", "find.id"]}}], False),
}


@pytest.mark.parametrize(("line", "calls", "counts"), CASES.values(), ids=CASES)
def test_a_failed_call_against_the_line_is_counted(
    tmp_path: Path, line: str, calls: list[dict[str, Any]], counts: bool
):
    assert (True in _against(_window(tmp_path, record(tool_calls=calls)), line)) is counts


@pytest.mark.parametrize("line", ["- First: refund", "Be careful.", "- When: questions of X."])
def test_a_line_that_no_call_shows_counts_all_failures(line: str):
    assert named_failure([line]) == ()
    assert named_failure(["- Always pass reason", line]) == ()


def test_a_value_may_come_from_an_earlier_request_of_the_session(tmp_path: Path):
    earlier = record(tool_calls=[call("find", {"id": "1"})])
    later = record(tool_calls=[failed("pay", {"id": "7"}) | {"args_from": {"id": ["find.id"]}}])
    window = _window(tmp_path, earlier, later)
    assert _against(window, "- id: from find().id") == []
    assert _against(window, "- id: from find().name") == [True]


def test_a_case_is_the_session_else_the_masked_question_else_the_request(tmp_path: Path):
    rows = [
        record(session_hash="session:1"),
        record(question="Refund order 17 today"),
        record(question="refund order 18 today"),
        record(question="", question_hash=None),
        record(question="", question_hash=None),
    ]
    units = read_log(_window(tmp_path, *rows), {}, names={}, audit_dir=tmp_path).units
    assert sorted(units["case"].value_counts()["count"]) == [1, 1, 1, 2]


SLOW = "TimeoutError: slow"
UNITS = {
    "of a tool only the first call": ([[call("pay"), call("pay")]], ["pay"]),
    "no call after a failed one": ([[failed("find", {}), call("pay")]], ["find"]),
    "nor after one that timed out, which is none itself": (
        [[failed("find", {}, error=SLOW), call("pay")]],
        [],
    ),
    "sent again is the same": ([[failed("pay", {})], [call("pay")]], ["pay"]),
}


@pytest.mark.parametrize(("requests", "tools"), UNITS.values(), ids=UNITS)
def test_a_unit_is_a_tool_in_a_question(
    tmp_path: Path, requests: list[list[dict[str, Any]]], tools: list[str]
):
    rows = [record(tool_calls=calls, session_hash="session:1", question="Pay it") for calls in requests]
    units = read_log(_window(tmp_path, *rows), {}, names={}, audit_dir=tmp_path).units
    assert list(units["tool"]) == tools
