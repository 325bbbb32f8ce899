"""The help desk's tools: their tables and their errors."""

import json

import pytest

from coreloop.admin.demo.script import customers
from rows import each_row
from scripted import tools_of_the_demo

TOOLS = tools_of_the_demo()
CUSTOMERS = customers()


def _order(customer, *, above):
    orders = TOOLS["list_orders"](customer)
    return next(order for order in orders if (order["total"] > 100) == above)


def _ticket():
    return TOOLS["list_tickets"](CUSTOMERS[0])[0]["id"]


@each_row("customer", CUSTOMERS)
def test_every_customer_has_what_every_recipe_needs(customer):
    newest, larger, *_ = TOOLS["list_orders"](customer)
    assert newest["total"] <= 100 < larger["total"]
    assert TOOLS["list_tickets"](customer)
    assert TOOLS["get_customer"](customer)["name"] == customer


@each_row("tool", ["list_orders", "list_tickets"])
@each_row("customer", CUSTOMERS)
def test_the_newest_is_listed_first(tool, customer):
    days = [row.get("placed", row.get("opened")) for row in TOOLS[tool](customer)]
    assert days == sorted(days, reverse=True)


def test_a_customer_is_known_by_name_and_by_id():
    account = TOOLS["get_customer"]("quillfern bakery")
    assert TOOLS["get_customer"](account["id"]) == account


def test_results_are_plain_json():
    ticket, order = _ticket(), _order("C-207", above=False)
    for result in (
        TOOLS["get_customer"]("C-207"),
        TOOLS["list_orders"]("C-207"),
        TOOLS["refund_order"](order["id"], order["total"], reason="test"),
        TOOLS["list_tickets"]("C-207", status="solved"),
        TOOLS["update_ticket"](ticket, status="pending"),
        TOOLS["escalate"]("billing", "test"),
        TOOLS["search_articles"]("gift cards"),
        TOOLS["list_incidents"](),
    ):
        assert json.loads(json.dumps(result)) == result


@each_row(
    ("name", "args", "error", "words"),
    [
        pytest.param("list_orders", {"customer": "Quillfern"}, LookupError, "full name", id="customer"),
        pytest.param(
            "refund_order",
            {"order_id": "T-1071", "amount": 1, "reason": "test"},
            LookupError,
            "order 'T-1071' not found",
            id="order",
        ),
        pytest.param(
            "refund_order",
            {"order_id": "ORD-48219", "amount": 0, "reason": "test"},
            ValueError,
            "above 0",
            id="amount",
        ),
        pytest.param(
            "list_tickets", {"customer": "C-207", "status": "closed"}, ValueError, "pending", id="status"
        ),
        pytest.param("search_articles", {"query": "to do"}, ValueError, "three letters", id="query"),
        pytest.param("search_articles", {"query": "tax", "limit": 0}, ValueError, "from 1", id="limit"),
        pytest.param("escalate", {"team": "legal", "summary": "x"}, ValueError, "billing", id="team"),
        pytest.param("list_incidents", {"service": "email"}, ValueError, "payments", id="service"),
    ],
)
def test_bad_input_is_refused_by_name(name, args, error, words):
    with pytest.raises(error, match=words) as caught:
        TOOLS[name](**args)
    assert type(caught.value) is error


def test_articles_are_ranked_and_cut():
    found = TOOLS["search_articles"]("export the customer list", limit=2)
    assert found[0]["id"] == "A-12"
    assert len(found) == 2
    assert TOOLS["search_articles"]("quantum") == []


def test_a_change_is_answered_and_forgotten():
    ticket = _ticket()
    assert TOOLS["update_ticket"](ticket, status="solved")["status"] == "solved"
    assert ticket in {row["id"] for row in TOOLS["list_tickets"](CUSTOMERS[0], status="open")}
