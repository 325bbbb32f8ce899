"""The date that a file gives itself: in its front matter, in its text, in a heading, or in its name."""

import re
from contextlib import suppress
from datetime import date, timedelta
from typing import Final

from coreloop.answer.search.extract.document import Document
from coreloop.answer.text.claims import MONTHS

_DAY: Final = re.compile(
    r"(?<!\d)(20\d\d|19\d\d)[-._/년]\s?(1[0-2]|0?[1-9])[-._/월]\s?(3[01]|[12]\d|0?[1-9])(?!\d)"
)
# 2026-04-25, 2026.4.25, 2026년 4월 25일; not: 2026-13-01
_COMPACT: Final = re.compile(r"(?<!\d)(20\d\d|19\d\d)(1[0-2]|0[1-9])(3[01]|[12]\d|0[1-9])(?!\d)")  # 20260425
_NAMED: Final = re.compile(
    rf"""(?i:(?:\b(?P<before>3[01]|[12]\d|0?[1-9])\s)?\b(?P<month>{"|".join(MONTHS)})[a-z]*\.?\s
      (?:(?P<day>3[01]|[12]\d|[1-9])(?:st|nd|rd|th)?,?\s)? (?P<year>20\d\d|19\d\d)\b)""",
    re.VERBOSE,
)  # March 3, 2026; 3 March 2026; March 2026
_MONTH: Final = re.compile(
    r"(?<!\d)(20\d\d|19\d\d)[-._/년]\s?(1[0-2]|0?[1-9])월?(?!\d|[-._/]\d)"
)  # 2026-04, 2026년 4월
_QUARTER: Final = re.compile(
    r"(?<!\d)20\d\d년?[\s-]?(?:Q[1-4]\b|[1-4]\s?분기)|\bQ[1-4][\s-]20\d\d\b"
)  # 2025년 3분기, 2025-Q3, Q3 2025
_YEAR: Final = re.compile(r"(?:\A|[(\s_-])((?:19|20)\d\d)(?:년|[)]|\Z|\.\w+\Z)")  # Report 2023, 규정_2023.md
_LABEL: Final = re.compile(
    r"""(?:\b(?:last\ (?:updated|modified|changed|revised|reviewed)|updated|revised|as\ of|effective|date)\b
      | (?:작성|개정|수정|시행|기준|갱신)(?:일자?)?)[\s*_:：|(]{1,6}(?=(?P<after>[^\n]{6,24}))
      | (?P<before>\b20\d\d[^\n]{3,14}?)\s?(?:기준|현재|개정|작성|시행)(?!일?\s?[:：])""",
    re.IGNORECASE | re.VERBOSE,
)  # Last updated: March 3, 2026; **개정:** 2025-03-01; 2025. 6. 30. 기준
_HEAD_CHARS: Final = 2_000  # chosen: a date further inside is of a part


def document_date(document: Document, location: str) -> date | None:
    """Return when a file says that it was written or changed, or None.

    Parameters
    ----------
    document : Document
        Of the file.
    location : str
        Its path, whose last part may begin with a date: ``notes/2026-04-25-release.md``.
    """
    first = document.sections[0].heading if document.sections else ""
    in_heading = date_in_name(document.title) or date_in_name(first)
    parts = (document.text[:_HEAD_CHARS], document.text[_HEAD_CHARS:][-_HEAD_CHARS:])
    labels = (label for part in parts for label in _LABEL.finditer(part))
    dates = (_date_in(label["after"] or label["before"]) for label in labels)
    in_text = max(filter(None, dates), default=None)
    return document.published or in_text or in_heading or date_in_name(location.rpartition("/")[2])


def date_in_name(name: str) -> date | None:
    """Return the date in a heading, its last part first, or a file's name; None without one."""
    parts = reversed(name.split(" › "))
    return next(filter(None, map(_date_in, parts)), None)


def _date_in(text: str) -> date | None:
    """Return the first date of a text; of a month its first day, of a quarter or a year the last one."""
    for pattern in (_DAY, _COMPACT):
        if match := pattern.search(text):
            with suppress(ValueError):  # February 31
                return date(int(match[1]), int(match[2]), int(match[3]))
    if match := _NAMED.search(text):
        with suppress(ValueError):
            month = MONTHS.index(match["month"].casefold()) + 1
            return date(int(match["year"]), month, int(match["day"] or match["before"] or 1))
    if match := _QUARTER.search(text):
        quarter, year = sorted(map(int, re.findall(r"\d+", match[0])))
        return date(year + quarter // 4, 3 * quarter % 12 + 1, 1) - timedelta(days=1)
    if match := _MONTH.search(text):
        return date(int(match[1]), int(match[2]), 1)
    match = _YEAR.search(text)
    return date(int(match[1]), 12, 31) if match else None
