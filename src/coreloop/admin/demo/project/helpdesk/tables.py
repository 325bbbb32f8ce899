"""The bundled tables, read once.

The tools do not store changes, so the same call always has the same result.
"""

import csv
from functools import cache
from pathlib import Path

Row = dict[str, str]


@cache
def read_table(name: str) -> tuple[Row, ...]:
    """All rows of a table, in its order."""
    path = Path(__file__).with_name(f"{name}.csv")
    with path.open(encoding="utf-8", newline="") as table:
        return tuple(csv.DictReader(table))


def find_row(name: str, key: str) -> Row:
    """The row of a table with an id; ``LookupError`` if it is absent."""
    row = next((row for row in read_table(name) if row["id"] == key), None)
    if row is None:
        raise LookupError(f"{name.removesuffix('s')} {key!r} not found")
    return row


def find_customer(customer: str) -> Row:
    """A customer by name or id; ``LookupError`` if no customer has either."""
    wanted = customer.casefold()
    for row in read_table("customers"):
        if wanted in (row["id"].casefold(), row["name"].casefold()):
            return row
    raise LookupError(f"customer {customer!r} not found; give the full name or the id")
