"""Where private data stands in a text: every rule on every view, mapped back to the original."""

import base64
import binascii
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from coreloop.sanitize.detectors import rules_for, signs_of
from coreloop.sanitize.detectors.rule import AFTER, BEFORE, Sign, value_span
from coreloop.sanitize.views import View, joined, views

if TYPE_CHECKING:
    from coreloop.sanitize.names import Names

_ENCODED: Final = re.compile(r"(?<![A-Za-z0-9+/=_-])[A-Za-z0-9+/_-]{16,}={0,2}")
_IDENTIFIER: Final = re.compile(r"[0-9a-fA-F-]+|[a-z0-9_/-]+|[A-Z0-9_/-]+|[A-Za-z/_-]+")
_TORN: Final = re.compile(r"[0-9][-.]?\s+[-.]?[0-9]|[A-Za-z0-9_-]\s+[A-Za-z0-9_-]*[0-9_]|[0-9_-]\s+[A-Za-z]")
_TRAILING: Final = ".,;:)]}'\"»」』"
_MAX_PIECES: Final = 3
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


def _scan(text: str) -> Iterator[Hit]:
    for view in views(text):
        shown = text if view is None else view.text
        for kind, start, end in (*_matches(shown), *_encoded(shown)):
            yield _hit(kind, start, end, shown, view)
    if _TORN.search(text):
        yield from _torn(text)


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


def _torn(text: str) -> Iterator[Hit]:
    """Numbers and tokens with white space inside: whole pieces, few or each of one character."""
    compact = re.sub(r"\s+", "", text)
    if not signs_of(compact) & (Sign.DIGITS | Sign.PREFIX | Sign.DOTTED):
        return
    view = joined(text)
    for kind, start, end in _matches(view.text, joins=True):
        first, last = view.span(start, end)
        if kind == "SECRET":
            last = _token_end(text, first, last)
        if (
            not re.search(r"\s", text[first:last])
            or _is_letter(text[first - 1 : first])
            or _is_letter(text[last : last + 1])
        ):
            continue
        pieces = text[first:last].split()
        if len(pieces) <= _MAX_PIECES or all(len(piece) == 1 for piece in pieces):
            yield Hit(kind, first, last, view.text[start:end])


def _token_end(text: str, first: int, last: int) -> int:
    """Where a torn token ends: its pieces look random, the words behind it do not."""
    end, count = first, 0
    for piece in re.finditer(r"[^\s가-힣]+", text[first:last]):
        looks_random = re.search(r"[0-9_]", piece[0]) or re.search(r"[a-z][A-Z]|[A-Z]{2}[a-z]", piece[0])
        if count and not looks_random and end - first >= 24:
            break
        end, count = first + piece.end(), count + 1
    return end


def _is_letter(char: str) -> bool:
    return char.isascii() and char.isalnum()


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
