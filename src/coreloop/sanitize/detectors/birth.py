"""Dates of birth beside a word for them."""

import re
from datetime import date
from typing import Final

from coreloop.sanitize.detectors.rule import Rule, Sign

_MONTHS: Final = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_MONTH: Final = rf"(?:{'|'.join(_MONTHS)})[a-z]{{0,6}}"
_DAY: Final = "[0-9]{1,2}"
_NTH: Final = r"(?:st|nd|rd|th)?(?: ?,)?"
_GAP: Final = r"(?: {0,2}(?:[년월][ ]{0,2}[-./_·]?|[-./_·])| ) {0,2}"
_DATE: Final = (
    rf"(?:[0-9]{{4}}{_GAP}{_DAY}{_GAP}{_DAY}일?|"
    rf"{_DAY}{_GAP}{_DAY}{_GAP}(?:[0-9]{{4}}|[0-9]{{2}})|"
    rf"(?:{_MONTH})\.?[-–—·/_\s]{{0,2}}{_DAY}{_NTH}\s{{1,2}}[0-9]{{4}}|"
    rf"{_DAY}{_NTH}[-–—·/_.\s]{{1,2}}(?:of\s)?(?:{_MONTH})\.?,?[-–—·/_\s]{{1,2}}[0-9]{{4}}|"
    rf"[0-9]{{8}}(?![0-9])|[0-9]{{6}})"
)
_FORMATS: Final = ((0, 4, 6), (4, 0, 2), (4, 2, 0))
"""Places of year, month and day in eight digits."""


def _is_day(year: int, month: int, day: int) -> bool:
    try:
        return 1900 <= date(year, month, day).year <= 2035
    except ValueError:
        return False


def _is_date(match: re.Match[str]) -> bool:
    """Whether the value is a day: with a month in letters, in three groups, or six or eight digits."""
    text = match["value"]
    if re.search(_MONTH, text.lower()):
        return re.search("(?:19|20)[0-9]{2}$", text[-4:]) is not None
    groups = re.findall("[0-9]+", text)
    digits = "".join(groups)
    if len(groups) == 3 and len(groups[0]) == 4:
        return _is_day(*map(int, groups))
    if len(groups) == 3 and len(digits) != 8 and (len(groups[2]) == 2 or groups[2][:2] in {"19", "20"}):
        return True
    if len(digits) == 8:
        return any(
            _is_day(int(digits[year : year + 4]), int(digits[month : month + 2]), int(digits[day : day + 2]))
            for year, month, day in _FORMATS
        )
    return len(digits) == 6 and _is_day(2000, int(digits[2:4]), int(digits[4:]))


RULES: Final = (
    Rule(
        "BIRTH",
        r"(?i)(?:(?:date|day)[ _]of[ _]birth|birth(?:[ _-]?(?:date|day))?|"
        r"(?<![a-z])(?:dob|d\.o\.b\.?|born(?: on)?)|생년\s?월일|생일)"
        rf"(?:\s?(?:은|는|이|가)|\s(?:is|was))?(?:\son)?(?:\sthe)?[\s:=\"'(–-]{{0,5}}(?P<value>{_DATE})(?![0-9])",
        Sign.BIRTH,
        _is_date,
    ),
)
