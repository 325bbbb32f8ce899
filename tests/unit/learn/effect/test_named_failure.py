"""Which failed calls a line names: those that deviate from it, as the records show."""

from pathlib import Path
from typing import Any

import pytest

from coreloop.learn.effect.named_failure import ALL_FAILURES, ToolCalls, WindowCalls, named_failure
from coreloop.learn.effect.tool_days import read_log, read_recorded
from coreloop.learn.facts.counting import MineSettings
from coreloop.learn.mine.folder import read_folder
from logs import call, failed, one_by_one, record, write_log


def _read(folder: Path, *calls: dict[str, Any]) -> ToolCalls:
    write_log(folder / "2026-04-25.jsonl", [record(tool_calls=list(calls))])
    recorded = read_recorded(read_folder(folder, MineSettings()))
    ((_, own),) = WindowCalls(recorded.window, recorded.calls, frozenset({"find", "pay"})).by_tool(["pay"])
    return own


def _counts(folder: Path, line: str, *calls: dict[str, Any]) -> bool:
    read = _read(folder, *calls)
    return (named_failure([line]).against(read) & read.failed).to_list()[-1]


CASES = {
    "missing": ("- Always pass reason", [failed("pay", {"id": "1"})], True),
    "given": ("- Always pass reason", [failed("pay", {"id": "1", "reason": "late"})], False),
    "an empty value counts as missing": ("- Always pass reason", [failed("pay", {"reason": ""})], True),
    "a success": ("- Always pass reason", [call("pay", {"id": "1"})], False),
    "left in": ("- Leave out reason", [failed("pay", {"reason": "late"})], True),
    "empty": ("- ids: never empty", [failed("pay", {"ids": []})], True),
    "absent is not empty": ("- ids: never empty", [failed("pay", {})], False),
    "another value": ("- kind: one of card, cash", [failed("pay", {"kind": "cheque"})], True),
    "a value": ("- kind: one of card, cash", [failed("pay", {"kind": "card"})], False),
    "over": ("- limit over 20 fails", [failed("pay", {"limit": 21})], True),
    "not over": ("- limit over 20 fails", [failed("pay", {"limit": 20})], False),
    "true is no number": ("- limit over 0 fails", [failed("pay", {"limit": True})], False),
    "another class": ("- limit over 20 fails (auth)", [failed("pay", {"limit": 21})], False),
    "both conditions": (
        '- limit over 20 and kind="card" fails',
        [failed("pay", {"limit": 21, "kind": "card"})],
        True,
    ),
    "one of two conditions": (
        '- limit over 20 and kind="card" fails',
        [failed("pay", {"limit": 21, "kind": "cash"})],
        False,
    ),
    "before it": ("- Call after find (same id)", [failed("pay", {"id": "1"})], True),
    "after it": (
        "- Call after find (same id)",
        [call("find", {"id": "1"}), failed("pay", {"id": "1"})],
        False,
    ),
    "after another's": (
        "- Call after find (same id)",
        [call("find", {"id": "2"}), failed("pay", {"id": "1"})],
        True,
    ),
    "from nowhere": (
        "- id: only from an earlier result",
        [failed("pay", {"id": "1"}) | {"args_from": {"id": []}}],
        True,
    ),
    "from another field": (
        "- id: from find().id",
        [failed("pay", {"id": "1"}) | {"args_from": {"id": ["find.name"]}}],
        True,
    ),
    "from its field": (
        "- id: from find().id",
        [failed("pay", {"id": "1"}) | {"args_from": {"id": ["find.name", "find.id"]}}],
        False,
    ),
}


@pytest.mark.parametrize(("line", "calls", "counts"), CASES.values(), ids=CASES)
def test_a_failed_call_against_the_line_is_counted(
    tmp_path: Path, line: str, calls: list[dict[str, Any]], counts: bool
):
    assert _counts(tmp_path, line, *calls) is counts


@pytest.mark.parametrize("line", ["- Use for: refund", "Be careful.", "- When: questions of X."])
def test_a_line_that_no_call_shows_counts_all_failures(line: str):
    assert named_failure([line]) is ALL_FAILURES
    assert named_failure(["- Always pass reason", line]) is ALL_FAILURES


def test_two_lines_count_what_is_against_either(tmp_path: Path):
    failure = named_failure(["- Always pass reason", "- limit over 20 fails"])
    read = _read(tmp_path, failed("pay", {"reason": "x", "limit": 30}), failed("pay", {"reason": "x"}))
    assert failure.against(read).to_list() == [True, False]


def test_a_call_of_a_server_comes_after_those_of_its_session(tmp_path: Path):
    calls = [call("find", {"id": "1"}), failed("pay", {"id": "1"}), failed("pay", {"id": "2"})]
    write_log(tmp_path / "2026-04-25.jsonl", one_by_one(record(tool_calls=calls)))
    recorded = read_recorded(read_folder(tmp_path, MineSettings()))
    ((_, own),) = WindowCalls(recorded.window, recorded.calls, frozenset({"find", "pay"})).by_tool(["pay"])
    against = own.rows.select("call", is_against=named_failure(["- Call after find (same id)"]).against(own))
    assert dict(against.iter_rows()) == {1: False, 2: True}


def test_a_case_is_the_session_else_the_masked_question_else_the_request(tmp_path: Path):
    rows = [
        record(session_hash="session:1"),
        record(question="Refund order 17 today"),
        record(question="refund order 18 today"),
        record(question="", question_hash=None),
        record(question="", question_hash=None),
    ]
    write_log(tmp_path / "2026-04-25.jsonl", rows)
    recorded = read_recorded(read_folder(tmp_path, MineSettings()))
    (log,) = read_log(recorded, {}, names={}, audit_dir=tmp_path).values()
    (day,) = log.calls
    sizes = sorted(counts[0] for counts in log.calls[day].values())
    assert sizes == [1, 1, 1, 2]
