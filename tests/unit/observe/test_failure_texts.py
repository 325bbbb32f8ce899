"""A result that says that its call failed is a failed call, whoever records it."""

import json

import pytest

from coreloop.base.records import READS_FAILED, REFUSED
from coreloop.observe import observed_tool
from coreloop.observe.calls import recorded_call
from coreloop.observe.failure_texts import Row, judge, rows
from coreloop.observe.log_settings import log_settings
from coreloop.observe.record_parts import TracedCall

FAILED = [
    ({"success": 0, "error": "no room"}, "no room"),
    ({"success": False, "error": {"message": "no room"}}, "no room"),
    ({"isError": True, "content": []}, '{"isError":true,"content":[]}'),
    ({"status": "Error", "message": "no room"}, "no room"),
    ({"error": "none of the rooms is free"}, "none of the rooms is free"),
    ({"content": [{"type": "text", "text": "**Error**: no room"}]}, "**Error**: no room"),
    ({"statusCode": 400, "message": ["limit is too large"], "error": "Bad Request"}, "Bad Request"),
    ({"detail": [{"loc": ["query", "limit"], "msg": "Field required"}]}, "Field required"),
    ({"output": "boom", "metadata": {"exit_code": 2}}, "boom"),
    ("Traceback (most recent call last):\n  File 'a.py'\nKeyError: 'x'", "KeyError: 'x'"),
    ("<tool_use_error>no room</tool_use_error>", "no room"),
]
OK = [
    {"error": None, "items": []},
    {"error": "", "response": "Error: of the log"},
    {"success": True, "error": "a field of the form"},
    {"success": 1.0},
    {"status": "delivered"},
    {"status": "failed", "build": 12, "branch": "main"},
    {"isError": False},
    {"rooms": [{"success": False}]},
    {"code": "--5", "message": "hello"},
    [{"id": 1, "text": "Error: of a ticket"}, {"id": 2, "text": "thanks"}],
    "success: false",
    '{"success": false',
    '["success", false]',
    "2026-01-01 ERROR db: connection lost",
    "",
    None,
    [],
    3,
    ...,
]
TABLE = [pytest.param(row, id=f"{row.framework}: {row.writer}") for row in rows()]


@pytest.mark.parametrize("as_text", [False, True], ids=["as it is", "JSON text"])
def test_results_say_that_their_call_failed(as_text: bool):
    for result, error in FAILED:
        verdict = judge(json.dumps(result) if as_text and isinstance(result, dict) else result, None, {})
        assert verdict is not None, result
        assert verdict.error == error


def test_other_results_do_not():
    for result in OK:
        assert judge(result, None, {}) is None, result


@pytest.mark.parametrize("row", TABLE)
def test_a_row_tells_a_failure_from_what_looks_like_one(row: Row):
    fails, works = row.fails.replace("\\n", "\n"), row.works.replace("\\n", "\n")
    expected = {"guess": READS_FAILED, "refused": REFUSED}.get(row.kind)
    verdict = judge(fails, None, {})
    assert verdict is not None
    assert row.kind == "fields" or verdict.unknown == expected
    assert judge(works, None, {}) is None


@pytest.mark.parametrize("error", ["exec command rejected by user", "User rejected the tool call for `a`"])
def test_a_person_s_refusal_is_no_error_though_the_framework_says_so(error: str):
    call = recorded_call(TracedCall(name="a", args={}, error=error), log_settings("", False, "own"), print)
    assert (call.call["ok"], call.call["error"], call.call["unknown"]) == (None, None, REFUSED)


def test_the_project_s_rule_replaces_the_default(tmp_path, audit, only_record):
    (tmp_path / "coreloop.yaml").write_text('ok: [{field: code, fails: ["404"]}]\n', encoding="utf-8")
    results = iter([{"code": 404}, {"success": False}])
    book = observed_tool(name="book")(lambda: next(results))

    with audit():
        book(), book()

    assert [call["ok"] for call in only_record()["tool_calls"]] == [False, True]
