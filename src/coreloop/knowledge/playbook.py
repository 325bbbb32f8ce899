"""The playbook: short advice per kind of question, counted as it helps or fails."""

import sqlite3
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from coreloop.errors import UsageError
from coreloop.knowledge.schema import utc_text
from coreloop.knowledge.store import storable
from coreloop.sqlite import transaction

MAX_BULLET_CHARS: Final = 200
PRIOR_SUCCESSES: Final = 1
PRIOR_FAILURES: Final = 1
GOOD_QUALITY: Final = 0.75
GOOD_SUCCESSES: Final = 5
PRUNED_BELOW: Final = 0.5
IS_GOOD: Final = f"quality >= {GOOD_QUALITY} AND success_count >= {GOOD_SUCCESSES}"
IS_PRUNED: Final = f"quality < {PRUNED_BELOW}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Bullet:
    """One row of the playbook.

    Attributes
    ----------
    intent : str
        The kind of question: a category's topic part, ``profitability`` of ``FIN-profitability-KR``.
    sector : str
        "" for every sector.
    bullet : str
        The advice; at most 200 characters.
    success_count, fail_count : int
        How often an answer that followed it succeeded or failed.
    quality : float
        See `quality`.
    source : str
        Who wrote it, ``reflection`` or ``manual`` for example.
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


def quality(successes: int, failures: int) -> float:
    """How well a bullet works: the mean of the Beta posterior of its success rate.

    The prior is Beta(1, 1), the uniform distribution, so the posterior is Beta(1 + successes, 1 + failures)
    with the mean ``(1 + successes) / (2 + successes + failures)``: Laplace's rule of succession.

    Parameters
    ----------
    successes, failures : int
        Counts, at least 0.

    Returns
    -------
    float
        Above 0 and below 1; 0.5 when nothing was counted.

    References
    ----------
    Gelman et al., Bayesian Data Analysis, 3rd edition (2013), section 2.4.
    """
    return (PRIOR_SUCCESSES + successes) / (PRIOR_SUCCESSES + PRIOR_FAILURES + successes + failures)


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
    """Add counts to a bullet; one that is not known yet is inserted.

    Parameters
    ----------
    connection : sqlite3.Connection
        Of `coreloop.knowledge.store.writing`.
    intent, bullet, sector : str
        Which bullet. White space of the text is collapsed; what is longer than 200 characters is cut.
    successes, failures : int
        What to add, at least 0.
    source : str
        Who wrote it; a known bullet keeps its first.
    now : datetime
        With a zone.

    Raises
    ------
    UsageError
        There is no intent or no text, or a count is negative.
    """
    text = " ".join(bullet.split())[:MAX_BULLET_CHARS].rstrip()
    if not (intent.strip() and text):
        raise UsageError("a playbook bullet needs an intent and a text")
    if successes < 0 or failures < 0:
        raise UsageError("a playbook bullet's counts only grow")
    connection.create_function("beta_mean", 2, quality, deterministic=True)
    with transaction(connection):
        connection.execute(
            "INSERT INTO playbook"
            " (intent, sector, bullet, success_count, fail_count, quality, source, created_at, last_used)"
            " VALUES (:intent, :sector, :text, :good, :bad, beta_mean(:good, :bad), :source, :now, :now)"
            " ON CONFLICT (intent, sector, bullet) DO UPDATE SET"
            " success_count = success_count + :good, fail_count = fail_count + :bad,"
            " quality = beta_mean(success_count + :good, fail_count + :bad),"
            " last_used = max(last_used, :now)",
            storable(
                {
                    "intent": intent.strip(),
                    "sector": sector.strip(),
                    "text": text,
                    "good": successes,
                    "bad": failures,
                    "source": source,
                    "now": utc_text(now),
                }
            ),
        )


def bullets(connection: sqlite3.Connection, intent: str | None = None) -> list[Bullet]:
    """The bullets of an intent, or all; the best first."""
    return _select(connection, ":intent IS NULL OR intent = :intent", intent=intent)


def good_bullets(connection: sqlite3.Connection) -> dict[str, tuple[str, ...]]:
    """By intent the bullets with a quality of 0.75 or more and 5 or more successes; the best first."""
    found: dict[str, tuple[str, ...]] = {}
    for one in _select(connection, IS_GOOD):
        found[one.intent] = (*found.get(one.intent, ()), one.bullet)
    return found


def weak_bullets(connection: sqlite3.Connection) -> list[Bullet]:
    """What `prune` would remove."""
    return _select(connection, IS_PRUNED)


def prune(connection: sqlite3.Connection) -> list[Bullet]:
    """Remove the bullets of a quality below 0.5, and return them."""
    with transaction(connection):
        weak = weak_bullets(connection)
        connection.execute(f"DELETE FROM playbook WHERE {IS_PRUNED}")
    return weak


def _select(connection: sqlite3.Connection, where: str, **values: str | None) -> list[Bullet]:
    rows = connection.execute(
        "SELECT intent, sector, bullet, success_count, fail_count, quality, source, created_at, last_used"
        f" FROM playbook WHERE {where} ORDER BY quality DESC, success_count DESC, id",
        values,
    )
    return [Bullet(**dict(row)) for row in rows]
