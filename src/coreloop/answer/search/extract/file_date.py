"""The date that a file or a section gives itself: in its front matter, text, heading, or name."""

import re
from contextlib import suppress
from dataclasses import replace
from datetime import date
from typing import Final

from coreloop.answer.search.extract.document import Document
from coreloop.answer.text.claims import DAY, MONTHS

_COMPACT: Final = re.compile(r"(?<!\d)(20\d\d|19\d\d)(1[0-2]|0[1-9])(3[01]|[12]\d|0[1-9])(?!\d)")  # 20260425
_NAMED: Final = re.compile(
    rf"""(?i:(?:\b(?P<before>3[01]|[12]\d|0?[1-9])\s)?\b(?P<month>{"|".join(MONTHS)})[a-z]*\.?\s
      (?:(?P<day>3[01]|[12]\d|[1-9])(?:st|nd|rd|th)?,?\s)? (?P<year>20\d\d|19\d\d)\b)""",
    re.VERBOSE,
)  # March 3, 2026; 3 March 2026; March 2026
_MONTH: Final = re.compile(
    r"(?<!\d)(20\d\d|19\d\d)(?:[-._/]|년\s?(?=\d\d?월))(1[0-2]|0?[1-9])(?!\d|[-._/]\d)"
)  # 2026-04, 2026년 4월; not the first of a year: 2026년 1차
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
_FOOTER: Final = re.compile(r"\W*(?:page )?(?:last\b|최종|마지막)", re.IGNORECASE)
_HEAD_CHARS: Final = 2_000  # chosen: of a section, at either end


def with_dates(document: Document, location: str) -> Document:
    """Give a file and each of its sections the date on which it says that it was written or changed.

    That of a section stands in it or in its heading; else it is that of the section above it, or the file's:
    in its front matter, its first section, its last line, its title, or its name.

    Parameters
    ----------
    document : Document
        Of the file.
    location : str
        Its path, whose last part may begin with a date: ``notes/2026-04-25-release.md``.
    """
    labels = [_labelled(document.text[part.start : part.end]) for part in document.sections]
    last = document.text[-_HEAD_CHARS:].rstrip().rpartition("\n")[2]
    whole = document.published or "".join(labels[:1]) or (_labelled(last) if _FOOTER.match(last) else "")
    whole = whole or date_in_name(document.title) or date_in_name(location.rpartition("/")[2])
    dates, sections = {"": whole}, []
    for part, label in zip(document.sections, labels, strict=True):
        above, _, own = part.heading.rpartition(" › ")
        dates[part.heading] = label or date_in_name(own) or dates.get(above, whole)
        sections.append(replace(part, published=dates[part.heading]))
    return replace(document, published=whole, sections=tuple(sections))


def _labelled(text: str) -> str:
    """Return the latest date that a text gives itself; "" for none."""
    ends = text if len(text) < 2 * _HEAD_CHARS else f"{text[:_HEAD_CHARS]}\n{text[-_HEAD_CHARS:]}"
    labels = (label["after"] or label["before"] for label in _LABEL.finditer(ends))
    return max(map(date_in_name, labels), key=last_day, default="")


def last_day(published: str | None) -> str:
    """Return what dates are ordered by, the end of a month, a quarter or a year; "" for none."""
    by_month = re.sub(r" Q([1-4])", lambda quarter: f"-{3 * int(quarter[1]):02}", published or "")
    return f"{by_month}~" if published else ""  # a tilde comes after a hyphen


def date_in_name(text: str) -> str:
    """Return the first date of a heading, a label or a file's name, as exactly as it stands there."""
    if match := DAY.search(text) or _COMPACT.search(text):
        with suppress(ValueError):  # February 31
            return date(int(match[1]), int(match[2]), int(match[3])).isoformat()
    if match := _NAMED.search(text):
        month, day = MONTHS.index(match["month"].casefold()) + 1, match["day"] or match["before"]
        with suppress(ValueError):
            return date(int(match["year"]), month, int(day or 1)).isoformat()[: 10 if day else 7]
    if match := _QUARTER.search(text):
        quarter, year = sorted(map(int, re.findall(r"\d+", match[0])))
        return f"{year} Q{quarter}"
    if match := _MONTH.search(text):
        return f"{match[1]}-{int(match[2]):02}"
    match = _YEAR.search(text)
    return match[1] if match else ""
