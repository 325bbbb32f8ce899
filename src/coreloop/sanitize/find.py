"""Locate private data in a text: apply every rule to every view and map the matches back."""

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
    Closing,
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
# Hashes with a letter in them, times, and single words are never private.
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
        ``EMAIL``, ``PHONE``, ``SECRET`` and so on, as in its label.
    start, end : int
        Character offsets in the original text.
    """

    kind: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Hit:
    """A finding with its undisguised value, so that equal values get equal labels."""

    kind: str
    start: int
    end: int
    value: str


def find(text: str, *, names: "Names | None" = None) -> list[Finding]:
    """Find private data in a text, even if disguised or encoded.

    Parameters
    ----------
    text : str
        Any text.
    names : Names, optional
        Companies to find as well.

    Returns
    -------
    list of Finding
        Sorted by position, without overlaps.
    """
    return [Finding(hit.kind, hit.start, hit.end) for hit in find_hits(text, names=names)]


_cache: dict[str, tuple[Hit, ...]] = {}


def find_hits(text: str, *, names: "Names | None" = None) -> tuple[Hit, ...]:
    """`find`, with the undisguised values."""
    short = with_short_labels(text)
    if short is not None:
        return tuple(_hit(short, *astuple(hit)) for hit in find_hits(short.text, names=names))
    hits = _cache.get(text)
    if hits is None:
        hits = () if is_harmless(text) else _cached(text, tuple(_merged(_scan(text))))
    if names is None:
        return hits
    companies = [Hit(name.kind, name.start, name.end, name.code) for name in names.find(text)]
    return tuple(_merged([*hits, *companies])) if companies else hits


def is_harmless(text: str) -> bool:
    """Whether a text has a form that is never private: a hash, a time or a single word."""
    return _HARMLESS.fullmatch(text) is not None


def _cached(text: str, hits: tuple[Hit, ...]) -> tuple[Hit, ...]:
    """Cache short texts, which repeat: names, axes, templated answers."""
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
    """Find hits in a reading, both unchanged and with gaps closed; none if no variant shows a sign."""
    shown = text if view is None else view.text
    compact = "".join(shown.split())
    signs, coded = closed_signs(shown, compact), may_be_encoded(compact)
    if not signs and not coded:
        return []
    spans = [*matches(shown, among=signs), *(encoded(shown) if coded else ())]
    hits = [_hit(view, kind, start, end, shown[start:end]) for kind, start, end in spans]
    joining = signs & JOINING
    if joining:
        torn_spans = [*torn(shown, _known(view, [*before, *hits]))] if is_torn(shown) else []
        for kind, start, end in (*torn_spans, *spread(shown)):
            hits.append(_hit(view, kind, start, end, "".join(shown[start:end].split())))
    for closed, closing in closings(view, shown, pieces=bool(joining) or coded):
        new = _in_rewritten(closed, closing, among=signs, coded=coded)
        hits += [hit for hit in new if closing != "pieces" or not _is_row(hit, text)]
    return hits


def _is_row(hit: Hit, text: str) -> bool:
    """Whether a hit may be a row of numbers, which `spread` distinguishes from a single number."""
    return hit.kind in NUMBERS or is_row_of_decimals(text[hit.start : hit.end])


def _in_rewritten(view: View | Closed, closing: Closing, *, among: int = ~0, coded: bool = True) -> list[Hit]:
    shown = view.text
    spans = [*matches(shown, joins=closing == "pieces", among=among), *(encoded(shown) if coded else ())]
    hits = (_hit(view, kind, start, end, shown[start:end]) for kind, start, end in spans)
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
    """Merge overlapping hits; the result has the kind and value of the longest hit."""
    merged: list[Hit] = []
    for hit in sorted(hits, key=lambda hit: (hit.start, -hit.end)):
        if not merged or hit.start >= merged[-1].end:
            merged.append(hit)
            continue
        last = merged[-1]
        named = hit if hit.end - hit.start > last.end - last.start else last
        merged[-1] = Hit(named.kind, last.start, max(last.end, hit.end), named.value)
    return merged
