"""Every line that the demo proposes is true of its tools, and none is in the docstring already."""

import inspect
import re

import pytest

from coreloop.admin.demo.run import make_project, propose_candidates, record_requests, refine_failures
from coreloop.admin.demo.script import customers
from rows import each_row, slow_after
from scripted import NOW, tools_of_the_demo

TOOLS = tools_of_the_demo()


def _order(*, above):
    return next(order for order in TOOLS["list_orders"]("C-207") if (order["total"] > 100) == above)


def _ticket():
    return TOOLS["list_tickets"]("C-207")[0]["id"]


def _fails(error, name, **args):
    with pytest.raises(error):
        TOOLS[name](**args)


def _check_priority():
    for priority in ("high", "low", "normal", "urgent"):
        assert TOOLS["update_ticket"](_ticket(), priority=priority)["priority"] == priority
    for priority in ("critical", "P1", "highest", "medium", "Urgent"):
        _fails(ValueError, "update_ticket", ticket_id=_ticket(), priority=priority)


def _check_limit():
    assert TOOLS["search_articles"]("sales", limit=20)
    _fails(ValueError, "search_articles", query="sales", limit=21)


def _check_amount():
    dear, cheap = _order(above=True), _order(above=False)
    assert TOOLS["refund_order"](cheap["id"], 100, reason="test")["amount"] == cheap["total"] == 100
    _fails(PermissionError, "refund_order", order_id=dear["id"], amount=100.01, reason="test")
    assert TOOLS["escalate"](team="billing", summary="test")["team"] == "billing"


def _check_reason():
    order = _order(above=False)
    for args in ({}, {"reason": ""}, {"reason": " "}):
        _fails(ValueError, "refund_order", order_id=order["id"], amount=1, **args)


def _check_ticket_id():
    for customer in customers():
        for ticket in TOOLS["list_tickets"](customer):
            assert TOOLS["update_ticket"](ticket["id"])["id"] == ticket["id"]
        for order in TOOLS["list_orders"](customer):
            _fails(LookupError, "update_ticket", ticket_id=order["id"])


TRUE_LINES = {
    ("update_ticket", "- priority: one of high, low, normal, urgent"): _check_priority,
    ("update_ticket", "- ticket_id: from list_tickets()[].id"): _check_ticket_id,
    ("search_articles", "- limit: at most 20"): _check_limit,
    ("refund_order", "- amount: at most 100"): _check_amount,
    ("refund_order", "- Always pass reason"): _check_reason,
}
"""Every line that the help desk may propose, with a check against the tools."""


@pytest.mark.slow
@pytest.mark.parametrize("seed", slow_after(1, [7, 8, 9]))
def test_every_proposed_line_is_true_of_the_code(seed, tmp_path):
    make_project(tmp_path)
    record_requests(tmp_path, seed=seed, now=NOW)
    documents = (propose_candidates(tmp_path, now=NOW).document, refine_failures(tmp_path, now=NOW).document)
    proposed = {
        (statement.tool, statement.suggested_append.body)
        for document in documents
        for statement in document.statements
        if statement.suggested_append is not None
    }
    assert proposed == TRUE_LINES.keys()
    for line in proposed:
        TRUE_LINES[line]()


@each_row(("tool", "line"), TRUE_LINES)
def test_no_docstring_says_a_proposed_line_already(tool, line):
    """A line is worth proposing only if the docstring does not have it in other words."""
    docstring = inspect.getdoc(TOOLS[tool])
    told = {
        "update_ticket": r"urgent|list_tickets",
        "search_articles": r"\b20\b",
    }
    pattern = told.get(tool, r"\b100\b|always|must|required")
    assert not re.search(pattern, docstring.split("Examples\n")[0]), line
