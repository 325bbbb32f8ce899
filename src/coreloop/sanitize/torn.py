"""Find numbers, tokens, paths and addresses torn by white space, by closing the gaps in them."""

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from typing import Final

from coreloop.sanitize.matching import Span, matches

_WINDOW: Final = 120
_NUMBER_WINDOW: Final = 64
_PART: Final = re.compile(r"[0-9@/\\_]|[a-z][A-Z]|[A-Z]{4}")
_ANY_GAP: Final = re.compile(r"[^\s가-힣]\s{1,3}[^\s가-힣]")
_GAP: Final = re.compile(r"(?<=\S)\s{1,3}(?=\S)")
_NUMERIC: Final = frozenset("0123456789-+.:/()")
_LONG_NUMBER: Final = re.compile(r"[0-9](?:[-+.:/()]{0,2}[0-9]){5}")
_TOKEN_PARTS: Final = re.compile(
    r"A[KS]IA[A-Z0-9]|gh[oprsu]_|github_pat_|gl[a-z]{2,5}-|sk-[A-Za-z]|[srp]k_(?:live|test)_|AIza|ya29\.|GOCSPX-|xox[a-z]-|whsec_|"
    r"npm_[A-Za-z0-9]{12}|pypi-|hf_[A-Za-z0-9]{12}|eyJ|/home/|[Uu]sers[\\/]|[\w.+-]@[\w-]+\.|@[\w-]+\.[a-z]|"
    r"(?<![A-Za-z0-9])(?:[A-Z]{2}[0-9]{2}[A-Z0-9]{4}|[A-Z][0-9]{3}[A-Z]?[0-9]{4}|[A-Z]{2}[0-9]{2}\Z)|"
    r"[0-9A-Fa-f]{1,4}:[0-9A-Fa-f]{0,4}:[0-9A-Fa-f]{0,4}:"
)
_DAY_CHARS: Final = 10
_DAY: Final = re.compile(r"(?:19|20)[0-9]{2}-[01][0-9]-[0-3][0-9](?![0-9-])")
_INTEGER_AHEAD: Final = re.compile(r"(?<!\S)[+-]?[0-9]{1,6}\Z")
_SIGNED: Final = re.compile(r"[+-][0-9]{1,6}(?![^\s,.])")
_YEAR_AHEAD: Final = re.compile(r"(?<!\S)(?:19|20)[0-9]{2}\Z")
_YEAR_BEHIND: Final = re.compile(r"(?:19|20)[0-9]{2}(?!\S)")
_DECIMAL: Final = re.compile(r"[+-]?[0-9]{1,5}\.[0-9]{1,4}(?![0-9]|\.[0-9])")
_DECIMAL_AHEAD: Final = re.compile(r"(?<!\S)[+-]?[0-9]{1,5}\.[0-9]{1,4}\Z")
_YEAR: Final = re.compile(r"(?:19|20)[0-9]{2}년")
_NUMBERS_AHEAD: Final = re.compile(r"(?:(?<!\S)[0-9][0-9.,]+\s)*(?<!\S)[0-9][0-9.,]+\Z")
_NUMBERS_BEHIND: Final = re.compile(r"[0-9][0-9.,]+(?:\s[0-9][0-9.,]+(?!\S))*")
_LOCAL_PART: Final = re.compile(r"(?<![^\s(\[<'\",:])[A-Za-z0-9]+(?:[._+-][A-Za-z0-9]*)+\Z|[A-Za-z]+[0-9]+\Z")
_TABLE_NUMBERS: Final = 6
_ROW: Final = re.compile(r"[0-9](?:[ \t\-()./]{0,8}[0-9]){60,}")
_HUMP: Final = re.compile(r"[a-z][A-Z]")
# A piece that is not a word: mixed letters and digits, or capitals inside.
_REST: Final = re.compile(
    r"[ \t\n]{1,2}(?=[A-Za-z0-9_+/=.-]*(?:[a-zA-Z][0-9]|[0-9][a-zA-Z]|[a-z][A-Z]|[A-Z]{2}[a-z]|[A-Z]{6}))"
    r"[A-Za-z0-9_+/=.-]{4,}"
)


def is_torn(text: str) -> bool:
    """Whether a text without its white space contains a long number or the beginning of a token."""
    if not _PART.search(text) or not _ANY_GAP.search(text):
        return False
    compact = "".join(text.split())
    return _LONG_NUMBER.search(compact) is not None or _TOKEN_PARTS.search(compact) is not None


def torn(text: str, known: Sequence[Span]) -> Iterator[Span]:
    """Find spans across one or two closed gaps; gaps at complete known spans are skipped."""
    gaps = [match.span() for match in _GAP.finditer(text)]
    skipped = _complete_gaps(text, gaps, known) | _in_rows(text, gaps)
    for first, gap in enumerate(gaps):
        if first in skipped or not _may_be_torn(text, gap) or _is_table(text, gap):
            continue
        window = _NUMBER_WINDOW if _is_number(text, gap) else _WINDOW
        yield from across(text, gaps[first : first + 1], window=window)
        yield from across(text, gaps[first : first + 2], window=window)


def _complete_gaps(text: str, gaps: Sequence[tuple[int, int]], known: Sequence[Span]) -> set[int]:
    """List the gaps inside or next to known spans that need no extension."""
    complete: set[int] = set()
    begins = [gap[0] for gap in gaps]
    for kind, start, end in known:
        behind = bisect_right(begins, start)
        complete.update(range(behind, bisect_right(begins, end)))
        if kind in {"EMAIL", "URL", "PATH"} and behind and gaps[behind - 1][1] == start:
            before = begins[behind - 1]
            if kind != "EMAIL" or _LOCAL_PART.search(text, max(0, before - _WINDOW), before) is None:
                complete.add(behind - 1)
    return complete


def _in_rows(text: str, gaps: Sequence[tuple[int, int]]) -> set[int]:
    """List the gaps in rows of digits that are longer than any number."""
    begins = [gap[0] for gap in gaps]
    return {
        place
        for row in _ROW.finditer(text)
        for place in range(bisect_right(begins, row.start()), bisect_right(begins, row.end()))
    }


def with_rest(text: str, kind: str, end: int) -> int:
    """Extend the end of a token or link over a tail that white space tore off."""
    rest = _REST.match(text, end) if kind in {"SECRET", "URL"} else None
    return end if rest is None else rest.end()


def _may_be_torn(text: str, gap: tuple[int, int]) -> bool:
    """Whether both sides of a gap look like parts of one number, token, path or address."""
    left, right = text[gap[0] - 1], text[gap[1]]
    if _YEAR.match(text, gap[1]) or _is_between_numbers(text, gap):
        return False
    if left in _NUMERIC and right in _NUMERIC and (left.isdigit() or right.isdigit()):
        return True
    before = text[max(0, gap[0] - _WINDOW) : gap[0]].rsplit(None, 1)[-1]
    behind = text[gap[1] : gap[1] + _WINDOW].split(None, 1)[0]
    return _TOKEN_PARTS.search(before + behind) is not None


def _is_between_numbers(text: str, gap: tuple[int, int]) -> bool:
    """Whether a gap separates values: dates, signed numbers, years or decimal fractions."""
    before = text[max(0, gap[0] - _DAY_CHARS) : gap[0]]
    if _DAY.fullmatch(before) or _DAY.match(text, gap[1]):
        return True
    if _INTEGER_AHEAD.search(before) and _SIGNED.match(text, gap[1]):
        return True
    if _YEAR_AHEAD.search(before) and _YEAR_BEHIND.match(text, gap[1]):
        return True
    return _DECIMAL_AHEAD.search(before) is not None and _DECIMAL.match(text, gap[1]) is not None


def _is_number(text: str, gap: tuple[int, int]) -> bool:
    """Whether only a number can span a gap: no letters on either side."""
    before = text[max(0, gap[0] - _WINDOW) : gap[0]].rsplit(None, 1)[-1]
    behind = text[gap[1] : gap[1] + _WINDOW].split(None, 1)[0]
    return _NUMERIC.issuperset(before) and _NUMERIC.issuperset(behind)


def _is_table(text: str, gap: tuple[int, int]) -> bool:
    """Whether a gap lies in a row of many numbers."""
    before = _NUMBERS_AHEAD.search(text, max(0, gap[0] - _WINDOW), gap[0])
    behind = _NUMBERS_BEHIND.match(text, gap[1], gap[1] + _WINDOW)
    if before is None or behind is None:
        return False
    return len(before[0].split()) + len(behind[0].split()) >= _TABLE_NUMBERS


def is_row_of_decimals(text: str) -> bool:
    """Whether a text is a row of decimal fractions."""
    return all(_DECIMAL.fullmatch(word) for word in text.split())


def across(text: str, gaps: Sequence[tuple[int, int]], *, window: int = _WINDOW) -> Iterator[Span]:
    """Find spans across all of the given gaps once they are closed, within ``window`` characters."""
    start, end = max(0, gaps[0][0] - window), min(gaps[-1][1] + window, len(text))
    inside = {at for a, b in gaps for at in range(a, b)}
    places = [at for at in range(start, end) if at not in inside]
    closed = "".join(text[at] for at in places)
    for kind, first, behind in matches(closed, joins=True):
        begin, over = places[first], places[behind - 1] + 1
        if begin < gaps[0][0] and over > gaps[-1][1] and not is_prose(kind, closed[first:behind]):
            yield kind, begin, over


def is_prose(kind: str, value: str) -> bool:
    """Whether a supposed token is prose that lost its white space."""
    if kind != "SECRET" or re.fullmatch(r"[A-Z0-9]+", value):
        return False
    digits = 1 if re.match(r"gl[a-z]+-|gh[a-z]_|npm_|hf_|AIza|xox", value) else 2
    return sum(char.isdigit() for char in value) < digits and len(_HUMP.findall(value)) < 3
