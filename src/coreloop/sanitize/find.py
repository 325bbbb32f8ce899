"""Where private data stands in a text: every rule on every view, mapped back to the original."""

import re
from bisect import bisect_left
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from coreloop.sanitize.matching import Span, encoded, matches
from coreloop.sanitize.torn import is_prose, is_torn, torn, with_rest
from coreloop.sanitize.views import View, views

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
    for view, what in views(text):
        shown = text if view is None else view.text
        new = [
            _hit(view, kind, start, end, shown[start:end])
            for kind, start, end in matches(shown, joins=what == "pieces")
        ]
        new += [_hit(view, kind, start, end, shown[start:end]) for kind, start, end in encoded(shown)]
        if what != "reading":
            new = [hit for hit in new if not is_prose(hit.kind, hit.value)]
        hits += new
        if what == "reading" and is_torn(shown):
            for kind, start, end in torn(shown, _known(view, hits)):
                hits.append(_hit(view, kind, start, end, "".join(shown[start:end].split())))
    return [Hit(hit.kind, hit.start, with_rest(text, hit.kind, hit.end), hit.value) for hit in hits]


def _hit(view: View | None, kind: str, start: int, end: int, value: str) -> Hit:
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
