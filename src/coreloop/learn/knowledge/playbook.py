"""The playbook: short advice per kind of question, with counts of success and failure."""

import sqlite3
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from coreloop.base.errors import UsageError
from coreloop.base.sqlite import transaction
from coreloop.learn.knowledge.schema import utc_text
from coreloop.learn.knowledge.store import storable

MAX_BULLET_CHARS: Final = 200
PRIOR_SUCCESSES: Final = 1  # Laplace's rule: a bullet that nobody used is worth a half
PRIOR_FAILURES: Final = 1  # of Laplace's rule, too
GOOD_QUALITY: Final = 0.75  # as the specification has it, with five successes
GOOD_SUCCESSES: Final = 5  # as the specification has it, with the quality
PRUNED_BELOW: Final = 0.5  # as the specification has it: worse than one that nobody used
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
        "" if it applies to every sector.
    bullet : str
        The advice; at most 200 characters.
    success_count, fail_count : int
        How often an answer that followed it succeeded or failed.
    quality : float
        See `quality`.
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


def quality(successes: int, failures: int) -> float:
    """Estimate how well a bullet works: the mean of the Beta posterior of its success rate.

    The prior is Beta(1, 1), the uniform distribution, so the posterior is Beta(1 + successes, 1 + failures)
    with the mean ``(1 + successes) / (2 + successes + failures)``: Laplace's rule of succession.

    Parameters
    ----------
    successes, failures : int
        Counts, at least 0.

    Returns
    -------
    float
        Above 0 and below 1; 0.5 without any counts.

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
    if not (intent.strip() and text):
        raise UsageError("a playbook bullet needs an intent and a text")
    if successes < 0 or failures < 0:
        raise UsageError("a playbook bullet's counts must not be negative")
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
    """Return the bullets of an intent, or all bullets, best first."""
    return _select(connection, ":intent IS NULL OR intent = :intent", intent=intent)


def good_bullets(connection: sqlite3.Connection) -> dict[str, tuple[str, ...]]:
    """Return the bullets with a quality of at least 0.75 and at least 5 successes by intent, best first."""
    by_intent: dict[str, tuple[str, ...]] = {}
    for row in _select(connection, IS_GOOD):
        by_intent[row.intent] = (*by_intent.get(row.intent, ()), row.bullet)
    return by_intent


def weak_bullets(connection: sqlite3.Connection) -> list[Bullet]:
    """Return the bullets that `prune` would remove."""
    return _select(connection, IS_PRUNED)


def prune(connection: sqlite3.Connection) -> list[Bullet]:
    """Remove the bullets with a quality below 0.5 and return them."""
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
