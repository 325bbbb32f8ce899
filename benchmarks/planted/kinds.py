"""All kinds of private data that are planted, in the order of kinds.tsv.

A value is a pattern, whose part before ``^`` is public, or the name of a function that returns a `Value`.
"""

from functools import partial
from itertools import groupby
from random import Random

from . import partly_secret, people
from .kind import Kind, Value
from .patterns import table, write

_FUNCTIONS = {**vars(partly_secret), **vars(people)}


def _value(pattern: str, chance: Random) -> Value:
    if "^" not in pattern:
        return Value(write(pattern, chance))
    prefix, _, secret = write(pattern, chance).partition("^")
    return Value(prefix + secret, (secret,))


def _kind(row: dict[str, str]) -> Kind:
    return Kind(
        row["name"],
        partial(_value, row["value"]) if "{" in row["value"] else _FUNCTIONS[row["value"]],
        beside=tuple(row["beside"].split(" | ")) if row["beside"] else (),
        bare=row["bare"] == "yes",
        keys=tuple(row["keys"].split()),
        disguises=row["disguises"],
        is_number=row["number"] == "yes",
    )


SECTIONS: tuple[tuple[str, tuple[Kind, ...]], ...] = tuple(
    (section, tuple(map(_kind, rows)))
    for section, rows in groupby(table("kinds.tsv"), key=lambda row: row["section"])
)
KINDS: tuple[Kind, ...] = tuple(kind for _, kinds in SECTIONS for kind in kinds)
