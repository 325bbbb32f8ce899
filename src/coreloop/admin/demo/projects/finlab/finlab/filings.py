"""The annual filings of the bundled companies, read once, and the figures taken from them."""

import csv
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path

_TEXT_FIELDS = frozenset({"code", "name", "sector"})


@dataclass(frozen=True, slots=True)
class Filing:
    """One company's year; money in millions of won, shares in thousands."""

    code: str
    name: str
    sector: str
    year: int
    sales: int
    operating_profit: int
    net_income: int
    one_off: int
    assets: int
    liabilities: int
    equity: int
    operating_cash_flow: int
    capex: int
    dividends: int
    shares: int


METRICS: dict[str, Callable[[Filing], float]] = {
    "sales": lambda filing: filing.sales,
    "operating_profit": lambda filing: filing.operating_profit,
    "net_income": lambda filing: filing.net_income,
    "operating_cash_flow": lambda filing: filing.operating_cash_flow,
    "dividends": lambda filing: filing.dividends,
    "operating_margin": lambda filing: ratio(filing.operating_profit, filing.sales),
    "roe": lambda filing: ratio(filing.net_income, filing.equity),
    "debt_ratio": lambda filing: ratio(filing.liabilities, filing.equity),
}


def ratio(part: float, whole: float) -> float:
    """``part / whole`` to four decimals; a zero ``whole`` raises ``ZeroDivisionError``."""
    return round(part / whole, 4)


def growth(earlier: float, later: float, *, years: int = 1) -> float | None:
    """Compound growth per year; ``None`` where a sign change or a zero start leaves it undefined."""
    if earlier <= 0 or later <= 0:
        return None
    return round(float((later / earlier) ** (1 / years)) - 1, 4)


def metric_of(name: str) -> Callable[[Filing], float]:
    """The figure called ``name``; ``ValueError`` names the known ones."""
    if name not in METRICS:
        raise ValueError(f"unknown metric {name!r}; known metrics: {', '.join(METRICS)}")
    return METRICS[name]


def filings_of(company: str) -> tuple[Filing, ...]:
    """A company's filings by name or six-digit code, oldest first; ``LookupError`` when there are none."""
    found = tuple(filing for filing in all_filings() if company in (filing.name, filing.code))
    if not found:
        raise LookupError(f"unknown company {company!r}; give the full Korean name or the six-digit code")
    return found


def latest_filings(sector: str | None = None) -> tuple[Filing, ...]:
    """The newest filing of every company, of one sector or of all; ``LookupError`` for an unknown sector."""
    newest = {filing.code: filing for filing in all_filings()}
    found = tuple(filing for filing in newest.values() if sector in (None, filing.sector))
    if not found:
        sectors = dict.fromkeys(filing.sector for filing in newest.values())
        raise LookupError(f"unknown sector {sector!r}; known sectors: {', '.join(sectors)}")
    return found


@cache
def all_filings() -> tuple[Filing, ...]:
    """Every row of the bundled table; a company's years are consecutive and ascending."""
    path = Path(__file__).with_name("companies.csv")
    with path.open(encoding="utf-8", newline="") as table:
        return tuple(_decode_row(row) for row in csv.DictReader(table))


def _decode_row(row: dict[str, str]) -> Filing:
    amounts = {field: int(value) for field, value in row.items() if field not in _TEXT_FIELDS}
    return Filing(code=row["code"], name=row["name"], sector=row["sector"], **amounts)
