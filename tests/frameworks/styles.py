"""Ten ways to write a docstring: without new lines, with them in the first block, with a section at the end.

A template is the source of one function; its mark ``«end»`` is where a section at the end goes. The lines in
the first block are put there by the edit that promotion makes.
"""

from typing import Final

from coreloop.descriptions.edit import Edited
from editing import put_lines

LINES: Final = (
    "- order_id: from get_user_details().orders[]",
    "- First: get_user_details",
    "- Call before modify_pending_order_items (same order_id)",
)
NUMPYDOC, GOOGLE, MARKDOWN = "Guide\n    -----\n    ", "Guide:\n        ", "## Guide\n    "
VARIANTS: Final = ("before", "first", "end")

ONE_LINE = '''
def NAME(order_id: str, limit: int = 5) -> str:
    """Find orders of a customer.«end»"""
    return order_id
'''

PARAGRAPHS = '''
def NAME(order_id: str, limit: int = 5) -> str:
    """Find orders of a customer.

    The newest ones come first. Cancelled orders are left out, and so are those
    that were returned.

    A customer without orders gets an empty list.«end»
    """
    return order_id
'''

NUMPYDOC_SECTIONS = '''
def NAME(order_id: str, limit: int = 5) -> str:
    """Find orders of a customer.

    The newest ones come first.

    Parameters
    ----------
    order_id : str
        The order.
    limit : int
        How many at most.

    Returns
    -------
    str
        The orders as JSON.«end»
    """
    return order_id
'''

GOOGLE_SECTIONS = '''
def NAME(order_id: str, limit: int = 5) -> str:
    """Find orders of a customer.

    The newest ones come first.

    Args:
        order_id: The order.
        limit: How many at most.

    Returns:
        The orders as JSON.«end»
    """
    return order_id
'''

FIELD_LIST = '''
def NAME(order_id: str, limit: int = 5) -> str:
    """Find orders of a customer.

    The newest ones come first.

    :param order_id: The order.
    :param limit: How many at most.
    :returns: The orders as JSON.«end»
    """
    return order_id
'''

MARKDOWN_HEADINGS = '''
def NAME(order_id: str, limit: int = 5) -> str:
    """Find orders of a customer.

    The newest ones come first.

    ## Args

    - `order_id`: The order.
    - `limit`: How many at most.

    ## Returns

    The orders as JSON.«end»
    """
    return order_id
'''

GOOGLE_WITH_GUIDE = '''
def NAME(order_id: str, limit: int = 5) -> str:
    """Find orders of a customer.

    Args:
        order_id: The order.
        limit: How many at most.

    Returns:
        The orders as JSON.

    Guide:
        - Use for: orders, returns«end»
    """
    return order_id
'''

NINE_SECTIONS = '''
def NAME(order_id: str, limit: int = 5) -> str:
    """Find orders of a customer.

    The newest ones come first.

    Parameters
    ----------
    order_id : str
        The order.
    limit : int
        How many at most.

    Returns
    -------
    str
        The orders as JSON.

    Raises
    ------
    ValueError
        There is no such order.

    Examples
    --------
    >>> find_orders("W1")
    'W1'

    Notes
    -----
    Cancelled orders are left out.

    Guide
    -----
    - Use for: orders, returns«end»

    See Also
    --------
    get_user_details : The customer.
    """
    return order_id
'''

KOREAN = '''
def NAME(order_id: str, limit: int = 5) -> str:
    """고객의 주문을 찾는다.

    최신 주문이 먼저 나온다. 취소된 주문은 제외한다.

    Args:
        order_id: 주문 번호.
        limit: 최대 개수.

    Returns:
        주문 목록 (JSON).«end»
    """
    return order_id
'''

EPYTEXT = '''
def NAME(order_id: str, limit: int = 5) -> str:
    """Find orders of a customer.

    The newest ones come first.

    @param order_id: The order.
    @param limit: How many at most.
    @return: The orders as JSON.«end»
    """
    return order_id
'''

STYLES: Final = {
    "one_line": (ONE_LINE, NUMPYDOC),
    "paragraphs": (PARAGRAPHS, NUMPYDOC),
    "numpydoc": (NUMPYDOC_SECTIONS, NUMPYDOC),
    "google": (GOOGLE_SECTIONS, GOOGLE),
    "field_list": (FIELD_LIST, NUMPYDOC),
    "markdown": (MARKDOWN_HEADINGS, MARKDOWN),
    "google_guide": (GOOGLE_WITH_GUIDE, ""),
    "nine_sections": (NINE_SECTIONS, ""),
    "korean": (KOREAN, GOOGLE),
    "epytext": (EPYTEXT, NUMPYDOC),
}
"""Name -> template, and the heading of a new section with the indentation of what stands below it."""


def with_lines(style: str) -> dict[str, str]:
    """The function of a style in each variant; its name is that of style and variant."""
    template, heading = STYLES[style]
    indent = heading.rpartition("\n")[2] or {"google_guide": "        "}.get(style, "    ")
    section = (f"\n\n    {heading}" if heading else f"\n{indent}") + f"\n{indent}".join(LINES)
    sources = {
        variant: template.replace("NAME", f"{style}_{variant}").replace(
            "«end»", section if variant == "end" else ""
        )
        for variant in VARIANTS
    }
    return {**sources, "first": promoted(sources["first"], f"{style}_first").source.decode()}


def promoted(source: str, name: str) -> Edited:
    """The edit that promotion makes."""
    edited = put_lines(source.encode(), name, LINES)
    assert isinstance(edited, Edited), edited
    return edited


def tools_module() -> str:
    """A module with every style in every variant, and all of them as ``TOOLS``."""
    sources = [with_lines(style) for style in STYLES]
    names = [f"{style}_{variant}" for style in STYLES for variant in VARIANTS]
    functions = "".join(text for variants in sources for text in variants.values())
    return f"{functions}\n\nTOOLS = [{', '.join(names)}]\n"
