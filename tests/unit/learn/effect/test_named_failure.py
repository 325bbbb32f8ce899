"""Which failed calls a line names: those that deviate from it, as the records show."""

from pathlib import Path
from typing import Any

import pytest

from coreloop.learn.effect.count_calls import calls_against, read_log
from coreloop.learn.effect.tool_days import named_failure
from coreloop.learn.facts.read_lines import MineSettings
from coreloop.learn.mine.folder import read_folder
from coreloop.learn.mine.window import EVERY_DAY, Window, merge
from logs import call, failed, record, write_log


def _window(folder: Path, *records: dict[str, Any]) -> Window:
    write_log(folder / "2026-04-25.jsonl", records)
    return merge(read_folder(folder, MineSettings()), EVERY_DAY)


def _against(window: Window, *lines: str) -> list[bool]:
    """Of each call of pay that is against some lines, whether it failed."""
    (against,) = calls_against([named_failure(lines)], "pay", window.requests, window)
    return [has_failed for _, has_failed in against]


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
    (log,) = read_log(_window(tmp_path, *rows), {}, names={}, audit_dir=tmp_path).values()
    (day,) = log.calls
    sizes = sorted(n for n, _ in log.calls[day].values())
    assert sizes == [1, 1, 1, 2]
