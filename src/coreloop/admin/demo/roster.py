"""The companies of the Korean demo, with the properties that select their questions."""

import csv
from dataclasses import dataclass
from functools import cache
from pathlib import Path

_FULL_HISTORY = 5
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
