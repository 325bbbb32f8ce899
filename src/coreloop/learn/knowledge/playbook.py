"""The playbook: short advice per kind of question, with counts of success and failure."""

import sqlite3
from dataclasses import dataclass
from typing import Final

GOOD_QUALITY: Final = 0.75  # as the specification has it, with five successes
GOOD_SUCCESSES: Final = 5  # as the specification has it, with the quality
PRUNED_BELOW: Final = 0.5  # as the specification has it: worse than one that nobody used
IS_GOOD: Final = f"quality >= {GOOD_QUALITY} AND success_count >= {GOOD_SUCCESSES}"
_IS_PRUNED: Final = f"quality < {PRUNED_BELOW}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Bullet:
    """One row of the playbook.

    Attributes
    ----------
    intent : str
        The kind of question: a category's topic part, ``profitability`` of ``FIN-profitability-KR``.
    sector : str
        "" if it applies to every sector.
    bullet : str
        The advice.
    success_count, fail_count : int
        How often an answer that followed it succeeded or failed.
    quality : float
        0 to 1; of dartlab ``(1 + successes) / (2 + successes + failures)``.
    source : str
        Its author, for example ``reflection`` or ``manual``.
    created_at, last_used : str
        UTC, ISO 8601.
    """

    intent: str
    sector: str
    bullet: str
    success_count: int
    fail_count: int
    quality: float
    source: str
    created_at: str
    last_used: str


def good_bullets(connection: sqlite3.Connection) -> dict[str, tuple[str, ...]]:
    """Return the bullets with a quality of at least 0.75 and at least 5 successes by intent, best first."""
    by_intent: dict[str, tuple[str, ...]] = {}
    for row in _select(connection, IS_GOOD):
        by_intent[row.intent] = (*by_intent.get(row.intent, ()), row.bullet)
    return by_intent


def weak_bullets(connection: sqlite3.Connection) -> list[Bullet]:
    """Return the bullets that `prune` would remove."""
    return _select(connection, _IS_PRUNED)


def prune(connection: sqlite3.Connection) -> None:
    """Remove the bullets with a quality below 0.5."""
    connection.execute(f"DELETE FROM playbook WHERE {_IS_PRUNED}")


def _select(connection: sqlite3.Connection, where: str) -> list[Bullet]:
    rows = connection.execute(
        f"SELECT * FROM playbook WHERE {where} ORDER BY quality DESC, success_count DESC, id"
    )
    return [Bullet(**{name: row[name] for name in Bullet.__slots__}) for row in rows]
