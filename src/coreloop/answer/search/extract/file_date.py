"""The date that a file gives itself: in its front matter, in a heading, or in its name."""

import re
from contextlib import suppress
from datetime import date
from typing import Final

from coreloop.answer.search.extract.document import Document

_DAY: Final = re.compile(
    r"(?<!\d)(20\d\d|19\d\d)[-._/년]\s?(1[0-2]|0?[1-9])[-._/월]\s?(3[01]|[12]\d|0?[1-9])(?!\d)"
)
# 2026-04-25, 2026.4.25, 2026년 4월 25일; not: 2026-13-01
_COMPACT: Final = re.compile(r"(?<!\d)(20\d\d|19\d\d)(1[0-2]|0[1-9])(3[01]|[12]\d|0[1-9])(?!\d)")  # 20260425
_MONTHS: Final = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_NAMED: Final = re.compile(
    rf"""(?i:(?:\b(?P<before>3[01]|[12]\d|0?[1-9])\s)?\b(?P<month>{"|".join(_MONTHS)})[a-z]*\.?\s
      (?:(?P<day>3[01]|[12]\d|[1-9])(?:st|nd|rd|th)?,?\s)? (?P<year>20\d\d|19\d\d)\b)""",
    re.VERBOSE,
)  # March 3, 2026; 3 March 2026; March 2026
_MONTH: Final = re.compile(
    r"(?<!\d)(20\d\d|19\d\d)[-._/년]\s?(1[0-2]|0?[1-9])월?(?!\d|[-._/]\d)"
)  # 2026-04, 2026년 4월


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
    in_heading = date_in_name(f"{document.title}\n{first}")
    return document.published or in_heading or date_in_name(location.rpartition("/")[2])


def date_in_name(name: str) -> date | None:
    """Return the date in a heading or a file's name; of a month, its first day; None without one."""
    for pattern in (_DAY, _COMPACT):
        if match := pattern.search(name):
            with suppress(ValueError):  # February 31
                return date(int(match[1]), int(match[2]), int(match[3]))
    if match := _NAMED.search(name):
        with suppress(ValueError):
            month = _MONTHS.index(match["month"].casefold()) + 1
            return date(int(match["year"]), month, int(match["day"] or match["before"] or 1))
    if match := _MONTH.search(name):
        return date(int(match[1]), int(match[2]), 1)
    return None
