"""Dates of a text in one form: 2024-03-01, March 1, 2024 and 2024년 3월 1일 are equal."""

import re
from collections.abc import Set
from dataclasses import dataclass
from typing import Final

_MONTHS: Final = {
    name: number
    for number, name in enumerate(
        ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"), start=1
    )
}
_MONTH: Final = (
    r"(?P<{}>Jan(?:uary)?|Feb(?:ruary)?|Mar(?:ch)?|Apr(?:il)?|May|June?|July?|Aug(?:ust)?|Sept?(?:ember)?"
    r"|Oct(?:ober)?|Nov(?:ember)?|Dec(?:ember)?)\b\.?"
)
_YEAR: Final = r"(?P<{}>1\d{{3}}|20\d\d|21\d\d)"
_DAY: Final = r"(?P<{}>3[01]|[12]\d|0?[1-9])(?:st|nd|rd|th)?(?!\d)"
_DATE: Final = re.compile(
    rf"""(?<![\d.,])(?:
        {_YEAR.format("y1")}\s?[-./]\s?(?P<m1>1[0-2]|0?[1-9])\s?[-./]\s?{_DAY.format("d1")}(?![-./]\d)
      | {_YEAR.format("y6")}-(?P<m6>1[0-2]|0[1-9])(?![\d-])
      | {_YEAR.format("y2")}\s?년
        (?:\s?(?P<q2>[1-4])\s?분기 | \s?(?P<m2>1[0-2]|0?[1-9])\s?월(?:\s?{_DAY.format("d2")}\s?일)?)?
      | (?P<m3>1[0-2]|[1-9])\s?월(?:\s?{_DAY.format("d3")}\s?일)?
      | (?P<q3>[1-4])\s?분기
      | {_DAY.format("d4")}\s(?:of\s)?{_MONTH.format("n4")}(?:,?\s{_YEAR.format("y4")})?
      | {_YEAR.format("y7")}(?=\s?[-–~]\s?\d)
      | {_YEAR.format("y8")}(?:년대|s)?(?!\d|[.,]\d|\s?[%만억조천백명원개])
    )
    | \b{_MONTH.format("n5")}\s(?:{_DAY.format("d5")}(?:,?\s{_YEAR.format("y5")})?|{_YEAR.format("y10")})
    | \bQ(?P<q6>[1-4])\b(?:\s(?:of\s)?{_YEAR.format("y9")})?
    """,
    re.VERBOSE,
)


@dataclass(frozen=True, slots=True)
class Date:
    """A day, a month, a quarter or a year; what the text leaves out is None."""

    year: int | None = None
    quarter: int | None = None
    month: int | None = None
    day: int | None = None

    @property
    def shown(self) -> str:
        """The date in short: ``2025 Q3``, ``2025-09-30``."""
        if self.quarter:
            return f"{self.year or ''} Q{self.quarter}".strip()
        return "-".join(f"{part:02}" for part in (self.year, self.month, self.day) if part is not None)


def find_dates(text: str) -> list[tuple[Date, int, int]]:
    """Return the dates of a text, where each begins and where it ends."""
    return [(_read(match), match.start(), match.end()) for match in _DATE.finditer(text)]


def split_dates(text: str) -> tuple[tuple[Date, ...], str]:
    """Return the dates of a text, and the text without them."""
    dates = tuple(_read(match) for match in _DATE.finditer(text))
    return dates, _DATE.sub(" ", text)


def dates_agree(one: Date, other: Date) -> bool:
    """Return whether two dates can be the same: no part that both have differs, and they share one."""
    pairs = [
        (one.year, other.year),
        (one.quarter, other.quarter),
        (one.month, other.month),
        (one.day, other.day),
    ]
    both = [(here, there) for here, there in pairs if here is not None and there is not None]
    return bool(both) and all(here == there for here, there in both)


def holds_date(found: tuple[Date, ...], claimed: Date, years: Set[int | None]) -> bool:
    """Return whether the found dates say each part of a claimed one.

    A date without a year (``같은 해 6월 30일``) may be of any of the given ``years``.
    """
    return any(_covers(date, claimed, years) for date in found)


def _covers(date: Date, claimed: Date, years: Set[int | None]) -> bool:
    if claimed.year not in {None, date.year} and (date.year is not None or claimed.year not in years):
        return False
    month = date.month or 0
    quarter = date.quarter or (month + 2) // 3
    return (
        claimed.quarter in {None, quarter}
        and claimed.month in {None, month}
        and claimed.day in {None, date.day}
    )


def _read(match: re.Match[str]) -> Date:
    parts = {name: value for name, value in match.groupdict().items() if value}
    found = {name[0]: value for name, value in parts.items()}
    month = int(found["m"]) if "m" in found else _MONTHS.get(found.get("n", "")[:3].casefold())
    return Date(
        year=int(found["y"]) if "y" in found else None,
        quarter=int(found["q"]) if "q" in found else None,
        month=month,
        day=int(found["d"]) if "d" in found else None,
    )
