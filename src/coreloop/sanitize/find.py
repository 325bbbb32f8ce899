"""Where private data stands in a text: every rule on every view, mapped back to the original."""

import base64
import binascii
import re
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from coreloop.sanitize.detectors import rules_for, signs_of
from coreloop.sanitize.detectors.rule import AFTER, BEFORE, value_span
from coreloop.sanitize.views import View, views

if TYPE_CHECKING:
    from coreloop.sanitize.names import Names

_ENCODED: Final = re.compile(r"(?<![A-Za-z0-9+/_-])[A-Za-z0-9+/_-]{16,}={0,2}")
_IDENTIFIER: Final = re.compile(r"[0-9a-fA-F-]+|[a-z0-9_/-]+|[A-Z0-9_/-]+")
_GAP: Final = re.compile(r"(?<=\S)\s{1,3}(?=\S)")
_NUMERIC: Final = frozenset("0123456789-+.:/()")
_TORN: Final = re.compile(r"[^\s가-힣]\s{1,3}[^\s가-힣]")
_TOKEN_PARTS: Final = re.compile(
    r"(?<![A-Za-z0-9])(?:A[KS]IA[A-Z0-9]|gh[oprsu]_|github_pat_|glpat-|sk-[A-Za-z]|[srp]k_(?:live|test)_|AIza|"
    r"ya29\.|GOCSPX-|xox[a-z]-|whsec_|npm_[A-Za-z0-9]{12}|pypi-|hf_[A-Za-z0-9]{12}|eyJ)|/home/|[Uu]sers[\\/]|"
    r"[\w.+-]@[\w-]+\.|@[\w-]+\.[a-z]|(?<![A-Za-z0-9])(?:[A-Z]{2}[0-9]{2}[A-Z0-9]{4}|[A-Z][0-9]{3}[A-Z]?[0-9]{4}|[A-Z]{2}[0-9]{2}\Z)|"
    r"[0-9A-Fa-f]{1,4}:[0-9A-Fa-f]{0,4}:[0-9A-Fa-f]{0,4}:"
)
_WINDOW: Final = 120
_NUMBERS_AHEAD: Final = re.compile(r"(?:(?<!\S)[0-9][0-9.,]+\s)*(?<!\S)[0-9][0-9.,]+\Z")
_NUMBERS_BEHIND: Final = re.compile(r"[0-9][0-9.,]+(?:\s[0-9][0-9.,]+(?!\S))*")
_HUMP: Final = re.compile(r"[a-z][A-Z]")
# A piece that is no word: letters and digits mixed, or capitals within.
_REST: Final = re.compile(
    r"[ \t\n]{1,2}(?=[A-Za-z0-9_+/=.-]*(?:[a-zA-Z][0-9]|[0-9][a-zA-Z]|[a-z][A-Z]|[A-Z]{2}[a-z]|[A-Z]{6}))"
    r"[A-Za-z0-9_+/=.-]{4,}"
)
_TRAILING: Final = ".,;:)]}'\"»」』"
_CACHED_CHARS: Final = 240
_CACHE_SIZE: Final = 20_000


@dataclass(frozen=True, slots=True)
class Finding:
    """Private data in a text.

    Attributes
    ----------
    kind : str
        ``EMAIL``, ``PHONE``, ``SECRET`` and so on: what the label that takes its place says.
    start, end : int
        Characters of the original text.
    """

    kind: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Hit:
    """A finding with its value as it reads without disguise, so that one value has one number."""

    kind: str
    start: int
    end: int
    value: str


def find(text: str, *, names: "Names | None" = None) -> list[Finding]:
    """Find private data in a text, through the disguises that people and systems put on it.

    Parameters
    ----------
    text : str
        Any text.
    names : Names, optional
        Companies to find too.

    Returns
    -------
    list of Finding
        By place; no two overlap.
    """
    return [Finding(hit.kind, hit.start, hit.end) for hit in find_hits(text, names=names)]


_cache: dict[str, tuple[Hit, ...]] = {}


def find_hits(text: str, *, names: "Names | None" = None) -> tuple[Hit, ...]:
    """`find`, with the values."""
    hits = _cache.get(text)
    if hits is None:
        hits = tuple(_merged(_scan(text)))
        if len(text) <= _CACHED_CHARS:
            if len(_cache) >= _CACHE_SIZE:
                _cache.clear()
            _cache[text] = hits
    if names is None:
        return hits
    companies = [Hit(one.kind, one.start, one.end, one.code) for one in names.find(text)]
    return tuple(_merged([*hits, *companies])) if companies else hits


def _scan(text: str) -> list[Hit]:
    hits: list[Hit] = []
    clear: View | None = None
    for view in views(text):
        shown = text if view is None else view.text
        for kind, start, end in (*_matches(shown), *_encoded(shown)):
            hits.append(_hit(kind, start, end, shown, view))
        clear = view if clear is None else clear
    if _TORN.search(text if clear is None else clear.text):
        hits += _torn_hits(text, clear, hits)
    return [_with_rest(text, hit) for hit in hits]


def _with_rest(text: str, hit: Hit) -> Hit:
    """A token whose tail white space tore off, with the tail."""
    rest = _REST.match(text, hit.end) if hit.kind in {"SECRET", "URL"} else None
    return hit if rest is None else Hit(hit.kind, hit.start, rest.end(), hit.value)


def _torn_hits(text: str, clear: View | None, hits: Sequence[Hit]) -> list[Hit]:
    if clear is None:
        return list(_torn(text, hits))
    starts = clear.starts
    known = [Hit(hit.kind, bisect_left(starts, hit.start), bisect_left(starts, hit.end), "") for hit in hits]
    return [Hit(one.kind, *clear.span(one.start, one.end), one.value) for one in _torn(clear.text, known)]


def _hit(kind: str, start: int, end: int, shown: str, view: View | None) -> Hit:
    first, last = (start, end) if view is None else view.span(start, end)
    return Hit(kind, first, last, shown[start:end])


def _matches(text: str, *, joins: bool = False) -> Iterator[tuple[str, int, int]]:
    signs = signs_of(text)
    if not signs:
        return
    for rule, pattern, near in rules_for(signs, joins=joins):
        for match in pattern.finditer(text):
            start, end = _value_span(match)
            if start == end or (rule.check is not None and not rule.check(match)):
                continue
            if (
                near is None
                or near.search(text, max(0, start - BEFORE), start)
                or near.search(text, end, end + AFTER)
            ):
                yield rule.kind, start, end


def _value_span(match: re.Match[str]) -> tuple[int, int]:
    groups = match.re.groupindex
    if "quoted" in groups and match.start("quoted") >= 0:
        return match.span("quoted")
    start, end = value_span(match)
    if start < 0:
        return match.span()
    return start, start + len(match.string[start:end].rstrip(_TRAILING)) or end


def _encoded(text: str) -> Iterator[tuple[str, int, int]]:
    """Base64 of something private."""
    for match in _ENCODED.finditer(text):
        inner = _decoded(match[0])
        for _ in range(2):
            if inner is None:
                break
            found = next(_matches(inner), None)
            if found is not None:
                yield found[0], match.start(), match.end()
                break
            inner = _decoded(inner.strip()) if _ENCODED.fullmatch(inner.strip()) else None


def _decoded(token: str) -> str | None:
    bare = token.rstrip("=")
    if _IDENTIFIER.fullmatch(bare) or len(bare) % 4 == 1:
        return None
    try:
        data = base64.b64decode(
            bare.replace("-", "+").replace("_", "/") + "=" * (-len(bare) % 4), validate=True
        )
        text = data.decode()
    except (binascii.Error, UnicodeDecodeError):
        return None
    return text if all(char.isprintable() or char in "\n\r\t" for char in text) else None


def _torn(text: str, known: Sequence[Hit]) -> Iterator[Hit]:
    """What white space tore apart: each gap, and each two, that a number or a token may go across is closed."""
    gaps = [match.span() for match in _GAP.finditer(text)]
    for first, gap in enumerate(gaps):
        if (
            _is_table(text, gap)
            or not _may_be_torn(text, gap)
            or any(hit.start < gap[0] <= hit.end for hit in known)
        ):
            continue
        for closed in (gaps[first : first + 1], gaps[first : first + 2]):
            yield from _across(text, closed)


def _may_be_torn(text: str, gap: tuple[int, int]) -> bool:
    """Whether both sides of a gap look like parts of one number, token, path or address."""
    left, right = text[gap[0] - 1], text[gap[1]]
    if left in _NUMERIC and right in _NUMERIC and (left.isdigit() or right.isdigit()):
        return True
    before = text[max(0, gap[0] - _WINDOW) : gap[0]].rsplit(None, 1)[-1]
    behind = text[gap[1] : gap[1] + _WINDOW].split(None, 1)[0]
    return _TOKEN_PARTS.search(before + behind) is not None


def _is_table(text: str, gap: tuple[int, int]) -> bool:
    """Whether a gap stands in a row of six numbers or more."""
    before = _NUMBERS_AHEAD.search(text, max(0, gap[0] - _WINDOW), gap[0])
    behind = _NUMBERS_BEHIND.match(text, gap[1], gap[1] + _WINDOW)
    return before is not None and behind is not None and len(before[0].split()) + len(behind[0].split()) >= 6


def _across(text: str, gaps: Sequence[tuple[int, int]]) -> Iterator[Hit]:
    """What reaches over all of some gaps when they are closed."""
    start, end = max(0, gaps[0][0] - _WINDOW), gaps[-1][1] + _WINDOW
    places = [at for at in range(start, min(end, len(text))) if not any(a <= at < b for a, b in gaps)]
    closed = "".join(text[at] for at in places)
    for kind, first, behind in _matches(closed, joins=True):
        begin, over = places[first], places[behind - 1] + 1
        if begin < gaps[0][0] and over > gaps[-1][1] and not _is_prose(kind, closed[first:behind]):
            yield Hit(kind, begin, over, closed[first:behind])


def _is_prose(kind: str, value: str) -> bool:
    """Words that only look like a token because the space between them was taken out."""
    if kind != "SECRET" or re.fullmatch(r"[A-Z0-9]+", value):
        return False
    return sum(char.isdigit() for char in value) < 2 and len(_HUMP.findall(value)) < 3


def _merged(hits: Iterable[Hit]) -> list[Hit]:
    """No two overlap: what does is cut as one, and named after the longest."""
    merged: list[Hit] = []
    for hit in sorted(hits, key=lambda hit: (hit.start, -hit.end)):
        if not merged or hit.start >= merged[-1].end:
            merged.append(hit)
            continue
        last = merged[-1]
        named = hit if hit.end - hit.start > last.end - last.start else last
        merged[-1] = Hit(named.kind, last.start, max(last.end, hit.end), named.value)
    return merged
