"""The playbook: short advice per kind of question, with counts of success and failure."""

import sqlite3
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from coreloop.base.errors import UsageError
from coreloop.base.sqlite import transaction
from coreloop.learn.knowledge.store import storable, utc_text

MAX_BULLET_CHARS: Final = 200
GOOD_QUALITY: Final = 0.75  # as the specification has it, with five successes
GOOD_SUCCESSES: Final = 5  # as the specification has it, with the quality
PRUNED_BELOW: Final = 0.5  # as the specification has it: worse than one that nobody used
IS_GOOD: Final = f"quality >= {GOOD_QUALITY} AND success_count >= {GOOD_SUCCESSES}"
_IS_PRUNED: Final = f"quality < {PRUNED_BELOW}"
_QUALITY: Final = "(1.0 + {good}) / (2 + {good} + {bad})"
"""The mean of the Beta posterior of its success rate, with a uniform prior: Laplace's rule of succession."""


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
        The advice; at most 200 characters.
    success_count, fail_count : int
        How often an answer that followed it succeeded or failed.
    quality : float
        ``(1 + successes) / (2 + successes + failures)``.
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


def merge_bullet(
    connection: sqlite3.Connection,
    intent: str,
    bullet: str,
    *,
    sector: str = "",
    successes: int = 0,
    failures: int = 0,
    source: str,
    now: datetime,
) -> None:
    """Add counts to a bullet, inserting it if absent.

    Parameters
    ----------
    connection : sqlite3.Connection
        Of `coreloop.learn.knowledge.store.writing`.
    intent, bullet, sector : str
        Key of the bullet. White space in the text is collapsed; text beyond 200 characters is cut.
    successes, failures : int
        Counts to add, at least 0.
    source : str
        Its author; an existing bullet keeps its first source.

    Raises
    ------
    UsageError
        The intent or the text is empty, or a count is negative.
    """
    text = " ".join(bullet.split())[:MAX_BULLET_CHARS].rstrip()
    if not (intent.strip() and text) or min(successes, failures) < 0:
        raise UsageError("a playbook bullet needs an intent, a text and counts of at least 0")
    row = {"intent": intent.strip(), "sector": sector.strip(), "text": text, "source": source}
    counts = {"good": successes, "bad": failures, "now": utc_text(now)}
    total = _QUALITY.format(good="(success_count + :good)", bad="(fail_count + :bad)")
    with transaction(connection):
        connection.execute(
            "INSERT INTO playbook"
            " (intent, sector, bullet, success_count, fail_count, quality, source, created_at, last_used)"
            " VALUES (:intent, :sector, :text, :good, :bad,"
            f" {_QUALITY.format(good=':good', bad=':bad')}, :source, :now, :now)"
            " ON CONFLICT (intent, sector, bullet) DO UPDATE SET"
            f" success_count = success_count + :good, fail_count = fail_count + :bad, quality = {total},"
            " last_used = max(last_used, :now)",
            storable({**row, **counts}),
        )


def bullets(connection: sqlite3.Connection, intent: str) -> list[Bullet]:
    """Return the bullets of an intent, best first."""
    return _select(connection, "intent = :intent", intent=intent)


def good_bullets(connection: sqlite3.Connection) -> dict[str, tuple[str, ...]]:
    """Return the bullets with a quality of at least 0.75 and at least 5 successes by intent, best first."""
    by_intent: dict[str, tuple[str, ...]] = {}
    for row in _select(connection, IS_GOOD):
        by_intent[row.intent] = (*by_intent.get(row.intent, ()), row.bullet)
    return by_intent


def weak_bullets(connection: sqlite3.Connection) -> list[Bullet]:
    """Return the bullets that `prune` would remove."""
    return _select(connection, _IS_PRUNED)


def prune(connection: sqlite3.Connection) -> list[Bullet]:
    """Remove the bullets with a quality below 0.5 and return them."""
    with transaction(connection):
        weak = weak_bullets(connection)
        connection.execute(f"DELETE FROM playbook WHERE {_IS_PRUNED}")
    return weak


def _select(connection: sqlite3.Connection, where: str, **values: str) -> list[Bullet]:
    rows = connection.execute(
        "SELECT intent, sector, bullet, success_count, fail_count, quality, source, created_at, last_used"
        f" FROM playbook WHERE {where} ORDER BY quality DESC, success_count DESC, id",
        values,
    )
    return [Bullet(**dict(row)) for row in rows]
