"""Descriptions that an edit of the docstring cannot change: they are told from those that lack a section."""

from coreloop.descriptions.edit import Edited
from coreloop.promote.reach import find_elsewhere
from editing import put_lines
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


@each_row(
    "above",
    ["", '@other(text="Other.")\n'],
    ids=["bare", "decorated"],
)
def test_the_lines_are_given_where_the_description_is_of_elsewhere(above: str) -> None:
    result = find_elsewhere(edited(above), "From a YAML file.", tool="find_orders", missing=LINES)
    told = "so no edit of it reaches the model; paste where it is defined:\n    - company: from show().code"
    assert told in (result or "")


@each_row(
    "description",
    ["Find orders", "find_orders(order_id)\nFind\n  orders of a customer."],
    ids=["cut", "wrapped"],
)
def test_description_with_the_first_line_comes_from_the_docstring(description: str) -> None:
    assert find_elsewhere(edited("@tool\n"), description, tool="find_orders", missing=LINES) is None
