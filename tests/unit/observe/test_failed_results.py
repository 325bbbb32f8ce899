"""A result that says that its call failed is a failed call, whoever records it."""

import json
from datetime import UTC, datetime

import pytest

from coreloop.observe import observed_tool
from coreloop.observe.importers.traced_request import TracedRequest
from coreloop.observe.record_parts import FAILED_RESULTS, TracedCall, failure_of
from foreign_traces import recorded

FAILED = [
    ({"success": 0, "error": "no room"}, "no room"),
    ({"success": False, "error": {"message": "no room"}}, "no room"),
    ({"isError": True, "content": []}, '{"isError":true,"content":[]}'),
    ({"status": "Error", "message": "no room"}, "no room"),
]
OK = [
    {"error": None, "items": []},
    {"error": "none of the rooms is free"},
    {"success": True},
    {"success": 1.0},
    {"status": "delivered"},
    {"isError": False},
    {"rooms": [{"success": False}]},
    "success: false",
    '{"success": false',
    '["success", false]',
    None,
    [],
    3,
]


@pytest.mark.parametrize("as_text", [False, True], ids=["dict", "JSON text"])
def test_results_say_that_their_call_failed(as_text: bool):
    for result, error in FAILED:
        assert failure_of(json.dumps(result) if as_text else result, FAILED_RESULTS) == error


def test_other_results_do_not():
    for result in OK:
        assert failure_of(result, FAILED_RESULTS) is None, result


def test_the_project_s_rule_replaces_the_default(tmp_path, audit, only_record):
    (tmp_path / "coreloop.yaml").write_text('ok: [{field: code, fails: ["404"]}]\n', encoding="utf-8")
    results = iter([{"code": 404}, {"success": False}])
    book = observed_tool(name="book")(lambda: next(results))

    with audit():
        book(), book()

    assert [call["ok"] for call in only_record()["tool_calls"]] == [False, True]


def test_importers_read_them():
    request = TracedRequest(
        source="openai-chat",
        ids=("1",),
        question="A room?",
        ended=datetime(2026, 5, 1, tzinfo=UTC),
        answer_chars=5,
        calls=tuple(TracedCall(name="book", args={}, result=result) for result in (FAILED[1][0], OK[0])),
    )

    record = recorded(request)

    assert [(call["ok"], call["error"]) for call in record["tool_calls"]] == [
        (False, "no room"),
        (True, None),
    ]
