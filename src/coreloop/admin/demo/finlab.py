"""The Korean demo: questions about invented companies, answered from their annual filings."""

import csv
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from random import Random
from typing import Any, Final, TypeAlias

from coreloop.admin.demo.plan import Subject
from coreloop.admin.demo.prose import Label
from coreloop.admin.demo.recipes import Recipe
from coreloop.admin.demo.scenario import Scenario

_FULL_HISTORY = 5  # years
_TABLE = Path(__file__).parent / "projects" / "finlab" / "finlab" / "companies.csv"


@dataclass(frozen=True, slots=True)
class Company:
    """A company of the bundled table; amounts of its newest year, in millions of won."""

    code: str
    name: str
    sector: str
    years: int
    net_income: int
    one_off: int
    dividends: int

    @property
    def is_young(self) -> bool:
        """Whether its history is too short for a five-year question."""
        return self.years < _FULL_HISTORY

    @property
    def pays_from_reserves(self) -> bool:
        """Whether it pays out more than it earns, so that the dividend axis raises its flag."""
        return self.dividends > self.net_income

    @property
    def overpays(self) -> bool:
        """Whether it pays out more than it earns even without one-off losses: no override clears the flag."""
        return self.pays_from_reserves and self.dividends > self.net_income - self.one_off


@cache
def roster() -> tuple[Company, ...]:
    """Return every company, in the order of the table.

    Returns
    -------
    tuple of Company
        One per company, with its newest year's amounts.
    """
    with _TABLE.open(encoding="utf-8", newline="") as table:
        rows = list(csv.DictReader(table))
    names = dict.fromkeys(row["name"] for row in rows)
    return tuple(_summarise([row for row in rows if row["name"] == name]) for name in names)


def _summarise(rows: list[dict[str, str]]) -> Company:
    newest = rows[-1]
    return Company(
        code=newest["code"],
        name=newest["name"],
        sector=newest["sector"],
        years=len(rows),
        net_income=int(newest["net_income"]),
        one_off=int(newest["one_off"]),
        dividends=int(newest["dividends"]),
    )


_Filed: TypeAlias = Mapping[str, Any]

_SUITS: Final[Mapping[str, Callable[[Company], bool]]] = {
    "anyone": lambda company: True,
    "established": lambda company: not company.is_young,
    "young but growing": lambda company: company.is_young and company.years >= 3,
    "covered": lambda company: not company.is_young and not company.overpays,
    "strained": lambda company: company.pays_from_reserves and not company.overpays,
    "overpaying": lambda company: company.overpays,
}


def choose_subject(recipe: Recipe, rng: Random) -> Subject:
    """Draw a company that suits the recipe, a peer of its sector, and the count of a screening."""
    suits = _SUITS[recipe.suits or "established"]
    company = rng.choice([company for company in roster() if suits(company)])
    peers = [
        peer for peer in roster() if peer.sector == company.sector and not peer.is_young and peer != company
    ]
    nouns = {
        "company": company.name,
        "sector": company.sector,
        "peer": rng.choice(peers).name,
        "count": rng.randint(3, 4),
    }
    is_general = recipe.asks_about or recipe.topic.endswith("_screen")
    return Subject(nouns, stock_code=None if is_general else company.code)


def render(tool: str, result: _Filed, label: Label) -> list[str]:
    """Format a tool's result as lines of text."""
    return _RENDERERS[tool](result, label)


def _render_analysis(result: _Filed, label: Label) -> list[str]:
    head = f"[{result['company']} {result['axis']}, {result['year']}]"
    metrics = [f"- {label(name)}: {_amount(value)}" for name, value in result["figures"].items()]
    flags = [f"- ! {flag}" for flag in result["flags"]]
    return [head, *metrics, *flags]


def _render_show(result: _Filed, label: Label) -> list[str]:
    _, *names = result["columns"]
    return [
        f"{result['company']} {year}: "
        + ", ".join(f"{label(name)} {_amount(value)}" for name, value in zip(names, values, strict=True))
        for year, *values in result["rows"]
    ]


def _render_scan(result: _Filed, label: Label) -> list[str]:
    head = f"[{label(result['target'])}: {len(result['rows'])}/{result['universe']}]"
    rows = [
        f"{row['rank']}. {row['company']} ({row['sector']}, {row['year']}): {_amount(row['value'])}"
        for row in result["rows"]
    ]
    return [head, *rows, f"- median: {_amount(result['median'])}"]


def _render_compare(result: _Filed, label: Label) -> list[str]:
    rows = [f"{row['company']}: {_history(row['values'])}" for row in result["rows"]]
    return [f"[{label(result['metric'])}]", *rows, f"- max {result['year']}: {result['highest']}"]


def _render_trend(result: _Filed, label: Label) -> list[str]:
    head = f"[{result['company']} {label(result['metric'])}] {_history(result['values'])}"
    pace = f"{_amount(result['growth_per_year'])} {label('per_year')}"
    return [head, f"- {label(result['metric'])} {label('trend')}: {label(result['direction'])}, {pace}"]


def _history(values: Mapping[str, float]) -> str:
    return ", ".join(f"{year} {_amount(value)}" for year, value in values.items())


def _amount(value: float | None) -> str:
    """Format an integer as an amount of money and a float as a ratio."""
    if value is None:
        return "n/a"
    return f"{value:,}" if isinstance(value, int) else f"{value:.1%}"


_RENDERERS: Final[Mapping[str, Callable[[_Filed, Label], list[str]]]] = {
    "analysis": _render_analysis,
    "show": _render_show,
    "scan": _render_scan,
    "compare": _render_compare,
    "trend": _render_trend,
}

FINLAB: Final = Scenario(
    name="finlab", summary="a small finance package", choose_subject=choose_subject, render=render
)
