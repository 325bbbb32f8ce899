"""Insights about companies: storage, and the gate for live answers."""

import json
import re
import sqlite3
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from datetime import datetime
from typing import Any, Final, Literal

from coreloop.base.records import encodable
from coreloop.base.sqlite import transaction
from coreloop.learn.knowledge.store import utc_text

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
    expires_at : str or None
        UTC, ISO 8601; never expires if it is None.
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
    live = replace(insight, source="live", quality_gate="auto-extracted")
    with transaction(connection):
        connection.execute(
            "DELETE FROM insights WHERE source = 'live' AND stock_code = ?", (insight.stock_code,)
        )
        _insert(connection, _values(live), now)
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


def compare_stored(connection: sqlite3.Connection, insight: Insight) -> Literal["new", "edited", "same"]:
    """Compare an insight with the row of the same source and evidence."""
    values = _values(insight)
    query = "SELECT * FROM insights WHERE source = :source AND evidence_ref = :evidence_ref"
    row = connection.execute(query, values).fetchone()
    if row is None:
        return "new"
    return "same" if all(row[name] == value for name, value in values.items()) else "edited"


def _insert(connection: sqlite3.Connection, values: Mapping[str, Any], now: datetime) -> None:
    row = {**values, "created_at": utc_text(now)}
    names = ", ".join(row)
    connection.execute(
        f"INSERT INTO insights ({names}) VALUES ({', '.join(f':{name}' for name in row)})", row
    )


def _values(insight: Insight) -> dict[str, Any]:
    """A row for SQLite: lists and mappings as JSON, lone surrogates replaced."""
    row = {}
    for name, value in asdict(insight).items():
        text = json.dumps(value, ensure_ascii=False) if isinstance(value, tuple | dict) else value
        row[name] = encodable(text) if isinstance(text, str) else text
    return row
