"""Descriptions that an edit of the docstring cannot change: they are told from those that lack a section."""

import pytest

from coreloop.descriptions.edit import Edited, put_lines
from coreloop.promote.reach import find_elsewhere
from rows import each_row

LINES = ("- company: from show().code",)
BODY = """(order_id: str) -> str:
    {quotes}Find   orders
    of a customer.

    Args:
        order_id: The order.
    {quotes}
    return order_id
"""


def edited(above: str, below: str = "", definition: str = "def find_orders") -> Edited:
    source = above + definition + BODY.format(quotes='"""') + below
    outcome = put_lines(source.encode(), "find_orders", LINES, section="Guide")
    assert isinstance(outcome, Edited)
    return outcome


PLACES = [
    pytest.param('@tool(description="Other.")\n', "", "description= of tool(…), line 1", id="decorator"),
    pytest.param(
        "",
        'TOOL = Tool(name="x", func=find_orders, description=TEXT)\n',
        "description= of Tool(…), line 9",
        id="call",
    ),
]


@each_row(("above", "below", "place"), PLACES)
def test_the_place_is_named_with_its_line_before_the_edit(above: str, below: str, place: str) -> None:
    told = (
        f"does not come from its docstring, but set by {place}; paste there:\n    - company: from show().code"
    )
    result = find_elsewhere(edited(above, below), "Other.", tool="find_orders", missing=LINES)
    assert result == f"the description of find_orders {told}"


@each_row(
    "above",
    ["", "@tool\n", '@tool("name")\n', '@other(text="Other.")\n', 'OTHER = Tool(f, description="x")\n\n\n'],
    ids=["bare", "decorated", "named", "another keyword", "of another tool"],
)
def test_without_a_place_the_lines_are_still_given(above: str) -> None:
    result = find_elsewhere(edited(above), "From a YAML file.", tool="find_orders", missing=LINES)
    told = "so no edit of it reaches the model; paste where it is defined:\n    - company: from show().code"
    assert told in (result or "")


@each_row(
    "description",
    ["Find orders", "find_orders(order_id)\nFind\n  orders of a customer."],
    ids=["cut", "wrapped"],
)
def test_description_with_the_first_line_comes_from_the_docstring(description: str) -> None:
    decorated = edited('@tool(description="Other.")\n')
    assert find_elsewhere(decorated, description, tool="find_orders", missing=LINES) is None
