"""`saw`: in which state an object was last shown, whatever the settings and the tool's source."""

import json
from pathlib import Path
from typing import Any

import pytest

from coreloop.observe import AuditCollector
from coreloop.observe.adapters.requests import AdaptedRequest
from coreloop.observe.case_keys import known_case_key
from coreloop.observe.shown_states import hash_state

ORDER = {"order_id": "#W2378156", "status": "pending", "locked": False}
CALL = {"order_id": "#W2378156"}


def recorded(folder: Path, *calls: tuple[str, dict[str, Any], Any]) -> list[dict[str, Any]]:
    with AuditCollector(question="x", data_dir=folder) as audit:
        for tool, args, result in calls:
            audit.observe_tool_call(tool, args, result=result)
    (day,) = (folder / "audit" / "ai-ask").glob("*.jsonl")
    calls_of: list[dict[str, Any]] = json.loads(day.read_text().splitlines()[-1])["tool_calls"]
    return calls_of


def saw_after(folder: Path, result: Any, *, args: Any = CALL) -> Any:
    return recorded(folder, ("get_order", CALL, result), ("cancel_order", args, "done"))[-1].get("saw")


def hashed(folder: Path, word: str) -> str:
    return hash_state(word, known_case_key(folder / "audit"))


@pytest.mark.parametrize(
    ("field", "value", "state"),
    [
        ("status", "on_hold", "hash"),
        ("status", "Gift-Card", "hash"),
        ("status", "대기", "hash"),
        ("status", "pending (items modified)", None),
        ("status", "x" * 41, ...),
        ("full_name", "Kim", ...),
        ("code", "AB12345", ...),
        ("day", "2026-04-25", ...),
        ("size", "12", ...),
        ("e_mail", "kim@example.com", ...),
        ("locked", True, True),
        ("total", 12, ...),
    ],
)
def test_words_are_hashed_and_no_text_is_recorded(tmp_path: Path, field: str, value: Any, state: Any) -> None:
    saw = saw_after(tmp_path, {"order_id": "#W2378156", field: value})
    expected = hashed(tmp_path, value) if state == "hash" else state
    assert saw == (None if state is ... else {"order_id": {field: expected}})
    assert saw is None or state != "hash" or len(saw["order_id"][field]) == 9


@pytest.mark.parametrize(
    "result",
    [
        pytest.param({"status": "pending", "total": 12}, id="an answer that does not repeat the id"),
        pytest.param({"orders": [{"order_id": "#W2378156", "status": "pending"}]}, id="in a list"),
        pytest.param({"orders": {"#W2378156": {"status": "pending"}}}, id="under its id"),
        pytest.param('{"order_id": "#W2378156", "status": "pending"}', id="JSON text"),
        pytest.param([{"type": "text", "text": '{"status": "pending"}'}], id="MCP's parts"),
    ],
)
def test_object_is_found_wherever_a_result_shows_it(tmp_path: Path, result: Any) -> None:
    assert saw_after(tmp_path, result) == {"order_id": {"status": hashed(tmp_path, "pending")}}


def test_argument_that_is_a_state_is_no_object(tmp_path: Path) -> None:
    assert saw_after(tmp_path, [{"id": "pending", "status": "pending"}], args={"status": "pending"}) is None


def test_states_are_the_first_that_a_long_call_loses(tmp_path: Path) -> None:
    args = {**CALL, **{f"text_{n}": "x" * 480 for n in range(7)}}
    wide = {"order_id": "#W2378156", **{f"state_{n:02}_of_the_order": "pending" for n in range(20)}}
    call = recorded(tmp_path, ("get_order", CALL, wide), ("cancel_order", args, "done"))[-1]
    assert "saw" not in call
    assert call["args"] == args


def test_calls_asked_for_together_have_not_seen_each_other_s_result(tmp_path: Path) -> None:
    request = AdaptedRequest("x", data_dir=tmp_path)
    for id, tool in (("1", "get_order"), ("2", "cancel_order")):
        request.asked(id, tool, CALL)
    request.answered("1", ORDER)
    request.answered("2", "done")
    request.asked("3", "cancel_order", CALL)
    request.answered("3", "done")
    request.end(answer="ok")
    (day,) = (tmp_path / "audit" / "ai-ask").glob("*.jsonl")
    (record,) = map(json.loads, day.read_text().splitlines())
    assert [call.get("saw") for call in record["tool_calls"]] == [
        None, None, {"order_id": {"locked": False, "status": hashed(tmp_path, "pending")}},
    ]  # fmt: skip
    assert len(record["case"]) == 1
