"""Insights about companies: storage, and the gate for live answers."""

import re
import sqlite3
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from datetime import datetime
from typing import Any, Final

import orjson

from coreloop.base.sqlite import transaction
from coreloop.learn.knowledge.store import storable, utc_text

MIN_ANSWER_CHARS: Final = 500  # as the specification has it, with the grades below
GOOD_GRADES: Final = frozenset({"P", "T"})
# 005930, 0001A0, KR7005930003; AAPL, BRK.B; but not README.
_CODE: Final = re.compile(r"(?=[A-Z]*[0-9])[A-Z0-9]{4,12}|[A-Z]{1,5}([.-][A-Z]{1,2})?")


@dataclass(frozen=True, slots=True, kw_only=True)
class Insight:
    """A judgment about a company.

    Attributes
    ----------
    stock_code : str
        The company.
    narrative : str
        The judgment as text.
    strengths, weaknesses : tuple of str
        One statement per item.
    sector : str
        "" if unknown.
    source : str
        ``blog``, ``audit`` or ``live``; databases of dartlab may contain other values.
    key_metrics : mapping of str to float or str
        Figures by name.
    data_as_of : str
        Date or period of the figures, as the author wrote it.
    evidence_ref : str
        Its origin: ``blog:PATH``, ``audit:PATH``, ``live:REQUEST_ID``.
    quality_gate : str
        How it was checked: ``human-approved``, ``auto-extracted``, ``migration``, or "".
    created_at, expires_at : str or None
        UTC, ISO 8601; never expires if ``expires_at`` is None.
    """

    stock_code: str
    narrative: str
    strengths: tuple[str, ...] = ()
    weaknesses: tuple[str, ...] = ()
    sector: str = ""
    source: str
    key_metrics: Mapping[str, float | str] = field(default_factory=dict)
    data_as_of: str = ""
    evidence_ref: str = ""
    quality_gate: str = ""
    created_at: str | None = None
    expires_at: str | None = None


def is_stock_code(text: str) -> bool:
    """Whether a text has the form of a stock code: ``005930``, ``BRK.B``."""
    return _CODE.fullmatch(text) is not None


def save_live(
    connection: sqlite3.Connection,
    insight: Insight,
    *,
    answer_chars: int,
    grade: str | None,
    now: datetime,
) -> str | None:
    """Store the insight of an answer, replacing the previous live insight about the company.

    Parameters
    ----------
    connection : sqlite3.Connection
        Of `coreloop.learn.knowledge.store.writing`.
    insight : Insight
        Its source and gate are set to ``live`` and ``auto-extracted``.
    answer_chars : int
        Length of the answer.
    grade : str or None
        The verdict on the answer: P, T, C, V.

    Returns
    -------
    str or None
        The reason if nothing was written, else None.
    """
    if not insight.stock_code:
        return "it has no stock code"
    if answer_chars < MIN_ANSWER_CHARS:
        return f"the answer has {answer_chars} characters, fewer than {MIN_ANSWER_CHARS}"
    if grade not in GOOD_GRADES:
        return f"its grade is {grade or 'unknown'}, not P (pass) or T (tolerable)"
    values = {**_values(insight), "source": "live", "quality_gate": "auto-extracted"}
    with transaction(connection):
        connection.execute(
            "DELETE FROM insights WHERE source = 'live' AND stock_code = ?", (insight.stock_code,)
        )
        _insert(connection, values, now)
    return None


def save_by_evidence(connection: sqlite3.Connection, insight: Insight, *, now: datetime) -> None:
    """Insert an insight, or update the row with the same source and evidence; needs a transaction.

    An update leaves ``created_at`` unchanged.
    """
    values = _values(insight)
    settings = ", ".join(f"{name} = :{name}" for name in values)
    changed = connection.execute(
        f"UPDATE insights SET {settings} WHERE source = :source AND evidence_ref = :evidence_ref", values
    )
    if not changed.rowcount:
        _insert(connection, values, now)


def blog_insights(connection: sqlite3.Connection) -> list[Insight]:
    """Read the insights that came from blogs, in insertion order, including expired ones."""
    rows = connection.execute("SELECT * FROM insights WHERE source = 'blog' ORDER BY id")
    return [_insight(row) for row in rows]


def _insert(connection: sqlite3.Connection, values: Mapping[str, Any], now: datetime) -> None:
    row = {**values, "created_at": utc_text(now)}
    names = ", ".join(row)
    connection.execute(
        f"INSERT INTO insights ({names}) VALUES ({', '.join(f':{name}' for name in row)})", row
    )


def _values(insight: Insight) -> dict[str, Any]:
    return {name: value for name, value in storable(asdict(insight)).items() if name != "created_at"}


def _insight(row: sqlite3.Row) -> Insight:
    values = {name: value for name, value in dict(row).items() if name != "id"}
    for name in ("strengths", "weaknesses"):
        values[name] = tuple(map(str, _json(row[name], list)))
    return Insight(**{**values, "key_metrics": _json(row["key_metrics"], dict)})


def _json(column: str, kind: type[Any]) -> Any:
    """A list or a mapping; an empty one if another program wrote something else."""
    try:
        value = orjson.loads(column)
    except orjson.JSONDecodeError:
        value = None
    return value if isinstance(value, kind) else kind()
