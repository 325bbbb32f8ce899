"""Where private data stands in a text: every rule on every view, mapped back to the original."""

import re
from bisect import bisect_left
from collections.abc import Iterable
from dataclasses import astuple, dataclass
from typing import TYPE_CHECKING, Final

from coreloop.sanitize.detectors.signs import JOINING, closed_signs
from coreloop.sanitize.matching import Span, encoded, matches, may_be_encoded
from coreloop.sanitize.spread import NUMBERS, spread
from coreloop.sanitize.torn import is_prose, is_row_of_decimals, is_torn, torn, with_rest
from coreloop.sanitize.views import (
    Closed,
    Kind,
    View,
    closings,
    letters_as_digits,
    readings,
    with_short_labels,
)

if TYPE_CHECKING:
    from coreloop.sanitize.names import Names

_CACHED_CHARS: Final = 240
_CACHE_SIZE: Final = 20_000
# Hashes with a letter in them, moments, and single words: nothing of these can be private.
_HARMLESS: Final = re.compile(
    r"(?:[a-z0-9]{2,8}[:-])?(?=[0-9]*[a-f])[0-9a-f]{7,64}|[a-zA-Z]{0,12}|[가-힣]{0,2}|"
    r"[12][0-9]{3}-[01][0-9]-[0-3][0-9](?:[T ][0-2][0-9]:[0-5][0-9](?::[0-6][0-9](?:\.[0-9]{1,9})?)?"
    r"(?:Z|[+-][0-9]{2}:?[0-9]{2})?)?"
)


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
    short = with_short_labels(text)
    if short is not None:
        return tuple(_hit(short, *astuple(hit)) for hit in find_hits(short.text, names=names))
    hits = _cache.get(text)
    if hits is None:
        hits = () if is_harmless(text) else _remembered(text, tuple(_merged(_scan(text))))
    if names is None:
        return hits
    companies = [Hit(one.kind, one.start, one.end, one.code) for one in names.find(text)]
    return tuple(_merged([*hits, *companies])) if companies else hits


def is_harmless(text: str) -> bool:
    """Whether a text has a form that holds nothing private, and comes but once: a hash, a moment, a word."""
    return _HARMLESS.fullmatch(text) is not None


def _remembered(text: str, hits: tuple[Hit, ...]) -> tuple[Hit, ...]:
    """Short texts come again: names, axes, answers of a template."""
    if len(text) <= _CACHED_CHARS:
        if len(_cache) >= _CACHE_SIZE:
            _cache.clear()
        _cache[text] = hits
    return hits


def _scan(text: str) -> list[Hit]:
    hits: list[Hit] = []
    for reading in readings(text):
        hits += _in_reading(text, reading, hits)
        swapped = letters_as_digits(reading, text if reading is None else reading.text)
        if swapped is not None:
            hits += _in_rewritten(swapped, "joined")
    return [Hit(hit.kind, hit.start, with_rest(text, hit.kind, hit.end), hit.value) for hit in hits]


def _in_reading(text: str, view: View | None, before: list[Hit]) -> list[Hit]:
    """What a reading shows, as it is and with gaps closed; nothing when no way of closing shows a sign."""
    shown = text if view is None else view.text
    compact = "".join(shown.split())
    signs, coded = closed_signs(shown, compact), may_be_encoded(compact)
    if not signs and not coded:
        return []
    found = [*matches(shown, among=signs), *(encoded(shown) if coded else ())]
    hits = [_hit(view, kind, start, end, shown[start:end]) for kind, start, end in found]
    joining = signs & JOINING
    if joining:
        apart = [*torn(shown, _known(view, [*before, *hits]))] if is_torn(shown) else []
        for kind, start, end in (*apart, *spread(shown)):
            hits.append(_hit(view, kind, start, end, "".join(shown[start:end].split())))
    for closed, how in closings(view, shown, pieces=bool(joining) or coded):
        new = _in_rewritten(closed, how, among=signs, coded=coded)
        hits += [hit for hit in new if how != "pieces" or not _is_row(hit, text)]
    return hits


def _is_row(hit: Hit, text: str) -> bool:
    """A row of numbers is in pieces too; `spread` tells it from one number."""
    return hit.kind in NUMBERS or is_row_of_decimals(text[hit.start : hit.end])


def _in_rewritten(view: View | Closed, how: Kind, *, among: int = ~0, coded: bool = True) -> list[Hit]:
    shown = view.text
    found = [*matches(shown, joins=how == "pieces", among=among), *(encoded(shown) if coded else ())]
    hits = (_hit(view, kind, start, end, shown[start:end]) for kind, start, end in found)
    return [hit for hit in hits if not is_prose(hit.kind, hit.value)]


def _hit(view: View | Closed | None, kind: str, start: int, end: int, value: str) -> Hit:
    first, last = (start, end) if view is None else view.span(start, end)
    return Hit(kind, first, last, value)


def _known(view: View | None, hits: list[Hit]) -> list[Span]:
    if view is None:
        return [(hit.kind, hit.start, hit.end) for hit in hits]
    starts = view.starts
    return [(hit.kind, bisect_left(starts, hit.start), bisect_left(starts, hit.end)) for hit in hits]


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
