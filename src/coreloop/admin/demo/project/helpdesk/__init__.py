"""Eight tools of the help desk of Tillwick, an invented maker of a point-of-sale app for small shops.

An agent calls the functions in ``TOOLS`` by name; their docstrings are all that it knows about them.
"""

from collections.abc import Callable

from .articles import search_articles
from .customers import get_customer
from .incidents import list_incidents
from .orders import list_orders, refund_order
from .tickets import escalate, list_tickets, update_ticket

TOOLS: dict[str, Callable[..., object]] = {
    "get_customer": get_customer,
    "list_orders": list_orders,
    "refund_order": refund_order,
    "list_tickets": list_tickets,
    "update_ticket": update_ticket,
    "escalate": escalate,
    "search_articles": search_articles,
    "list_incidents": list_incidents,
}

__all__ = [
    "TOOLS",
    "escalate",
    "get_customer",
    "list_incidents",
    "list_orders",
    "list_tickets",
    "refund_order",
    "search_articles",
    "update_ticket",
]
