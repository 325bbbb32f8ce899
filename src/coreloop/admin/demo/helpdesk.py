"""The English demo: the help desk of a small software company."""

import csv
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from random import Random
from typing import Final

from coreloop.admin.demo.plan import Subject
from coreloop.admin.demo.prose import Label, Result
from coreloop.admin.demo.recipes import Recipe
from coreloop.admin.demo.scenario import Scenario

_LINES: Final[Mapping[str, str]] = {
    "get_customer": "- {name} ({id}): {plan} plan, seats: {seats}, customer since {since}",
    "list_orders": "- {id}, {item}: ${total:.2f}, placed on {placed}, {status}",
    "refund_order": "- ${amount:.2f} refunded for {order_id} ({reason}): credit note {reference}, "
    "on the card within {days} business days",
    "list_tickets": "- {id}, {subject}: {status}, opened on {opened}",
    "update_ticket": "- {id}, {subject}: now {status}, priority {priority}",
    "escalate": "- The {team} team has the case ({summary}). Business days until it answers: {days}",
    "search_articles": "- {title}: {text}",
    "list_incidents": "- {service}, since {started}, {state}: {summary}",
}


def choose_subject(recipe: Recipe, rng: Random) -> Subject:
    """Draw a customer; every customer fits every recipe."""
    return Subject({"customer": rng.choice(customers())})


@cache
def customers() -> tuple[str, ...]:
    """Return the names of all customers in the order of the table."""
    path = Path(__file__).parent / "projects" / "helpdesk" / "helpdesk" / "customers.csv"
    with path.open(encoding="utf-8", newline="") as table:
        return tuple(row["name"] for row in csv.DictReader(table))


def render(tool: str, result: Result, label: Label) -> list[str]:
    """Format a tool's result as text, a line per row."""
    rows = result if isinstance(result, list) else [result]
    return [_LINES[tool].format_map(row) for row in rows]


HELPDESK: Final = Scenario(
    name="helpdesk", summary="a small help desk", choose_subject=choose_subject, render=render
)
