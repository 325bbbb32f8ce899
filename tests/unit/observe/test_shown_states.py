"""`saw`: in which state an object was last shown, in the words of the tool's own source."""

import json
from pathlib import Path
from typing import Any

import pytest

from coreloop.observe import AuditCollector
from coreloop.observe.adapters.requests import AdaptedRequest
from coreloop.observe.source_comparisons import reader_of

SHOP = """
from shop.states import CLOSED, Payment

def cancel_order(order_id: str) -> str:
    order = find(order_id)
    if order["status"] != "pending":
        raise ValueError("only pending orders")
    if order["locked"]:
        raise ValueError("locked")

def return_order(order_id: str) -> str:
    order = find(order_id)
    match order.status:
        case "delivered" | "received":
            pass
    if order.payment in CLOSED or order.gift:
        raise ValueError

def plain(order_id: str, payment: Payment) -> str:
    return order_id
"""
STATES = """
from enum import StrEnum, auto

CLOSED = frozenset({"settled", "void"})

class Payment(StrEnum):
    CARD = "card"
    GIFT_CARD = auto()
"""
ORDER = {"order_id": "#W2378156", "status": "pending", "locked": False, "note": "call Kim", "city": "pending"}
CALL = {"order_id": "#W2378156"}


@pytest.fixture
def shop(tmp_path: Path) -> Path:
    (tmp_path / "coreloop.yaml").write_text("tools:\n  refund:\n    target: shop/refunds.py::make_refund\n")
    (tmp_path / "shop").mkdir()
    (tmp_path / "shop" / "orders.py").write_text(SHOP)
    (tmp_path / "shop" / "states.py").write_text(STATES)
    refund = 'def make_refund(order_id):\n    return order_id if order_id.state == "refundable" else None\n'
    (tmp_path / "shop" / "refunds.py").write_text(refund)
    reader_of.cache_clear()
    return tmp_path


def recorded(shop: Path, *calls: tuple[str, dict[str, Any], Any]) -> list[dict[str, Any]]:
    with AuditCollector(question="x", data_dir=shop / "data") as audit:
        for tool, args, result in calls:
            audit.observe_tool_call(tool, args, result=result)
    (day,) = (shop / "data" / "audit" / "ai-ask").glob("*.jsonl")
    calls_of: list[dict[str, Any]] = json.loads(day.read_text().splitlines()[-1])["tool_calls"]
    return calls_of


def saw_after(shop: Path, result: Any, *, tool: str = "cancel_order", args: Any = CALL) -> Any:
    return recorded(shop, ("get_order", CALL, result), (tool, args, "done"))[-1].get("saw")


def test_literal_of_the_tool_s_source_is_recorded_and_no_other_value(shop: Path) -> None:
    assert saw_after(shop, ORDER) == {"order_id": {"status": "pending", "locked": False}}
    assert "Kim" not in next((shop / "data" / "audit" / "ai-ask").glob("*.jsonl")).read_text()


def test_boolean_counts_only_where_the_source_tests_its_field(shop: Path) -> None:
    result = {"order_id": "#W2378156", "status": "pending", "locked": True, "gift": True}
    assert saw_after(shop, result) == {"order_id": {"status": "pending", "locked": True, "gift": True}}
    unknown = {"order_id": "#W2378156", "status": "pending", "express": True}
    assert saw_after(shop, unknown) == {"order_id": {"status": "pending"}}


@pytest.mark.parametrize(
    ("field", "value"),
    [("status", "received"), ("payment", "void"), ("payment", "gift_card"), ("payment", "card")],
    ids=["match", "in a named set", "an Enum's auto()", "an Enum's member, imported"],
)
def test_literals_come_from_match_sets_and_enums_across_imports(shop: Path, field: str, value: str) -> None:
    result = {"order_id": "#W2378156", field: value}
    assert saw_after(shop, result, tool="return_order") == {"order_id": {field: value}}


@pytest.mark.parametrize(
    "comparison",
    [
        'order.status != "pending"',
        'order["status"] != "pending"',
        'order.get("status") != "pending"',
        'order["status"] not in ("processed", "pending")',
        'any(map(lambda one: one.status == "pending", [order]))',
        'allowed and order["status"] not in allowed',
        '"held" < order.status != "pending"',
        'str(order["status"]) != "pending"',
    ],
)
def test_every_form_of_a_comparison_is_read(tmp_path: Path, comparison: str) -> None:
    (tmp_path / "coreloop.yaml").write_text("{}\n")
    (tmp_path / "shop.py").write_text(
        "class Shop:\n    async def ship(self, order):\n        allowed = ['pending', 'held']\n"
        f"        if {comparison}:\n            raise ValueError\n"
    )
    reader_of.cache_clear()
    assert saw_after(tmp_path, ORDER, tool="ship") == {"order_id": {"status": "pending"}}
    assert saw_after(tmp_path, {**ORDER, "status": "x"}, tool="ship") == {"order_id": {"status": None}}


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
def test_object_is_found_wherever_a_result_shows_it(shop: Path, result: Any) -> None:
    assert saw_after(shop, result) == {"order_id": {"status": "pending"}}


def test_argument_that_is_a_state_is_no_object(shop: Path) -> None:
    assert saw_after(shop, [{"id": "pending", "status": "pending"}], args={"status": "pending"}) is None


def test_calls_asked_for_together_have_not_seen_each_other_s_result(shop: Path) -> None:
    request = AdaptedRequest("x", data_dir=shop / "data")
    for id, tool in (("1", "get_order"), ("2", "cancel_order")):
        request.asked(id, tool, CALL)
    request.answered("1", ORDER)
    request.answered("2", "done")
    request.asked("3", "cancel_order", CALL)
    request.answered("3", "done")
    request.end(answer="ok")
    (day,) = (shop / "data" / "audit" / "ai-ask").glob("*.jsonl")
    (record,) = map(json.loads, day.read_text().splitlines())
    assert [call.get("saw") for call in record["tool_calls"]] == [
        None, None, {"order_id": {"status": "pending", "locked": False}},
    ]  # fmt: skip
    assert len(record["case"]) == 1


def test_without_coreloop_yaml_no_source_is_read(tmp_path: Path) -> None:
    (tmp_path / "orders.py").write_text(SHOP)
    assert saw_after(tmp_path, ORDER) is None
