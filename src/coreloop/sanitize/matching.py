"""Apply the rules to a plain text, without views: spans by kind."""

import base64
import binascii
import re
from collections.abc import Iterator
from typing import Final

from coreloop.sanitize.detectors import rules_for
from coreloop.sanitize.detectors.rule import AFTER, BEFORE, value_span
from coreloop.sanitize.detectors.signs import signs_of

Span = tuple[str, int, int]
_ENCODED: Final = re.compile(r"(?<![A-Za-z0-9+/_-])[A-Za-z0-9+/_-]{16,}={0,2}")
_RUN: Final = re.compile(r"[A-Za-z0-9+/_-]{16,}")
_IDENTIFIER: Final = re.compile(r"[0-9a-fA-F-]+|[a-z0-9_/-]+|[A-Z0-9_/-]+")
_TRAILING: Final = ".,;:)]}'\"»」』"


def matches(text: str, *, joins: bool = False, among: int = ~0) -> Iterator[Span]:
    """Yield the kind, start and end of each match.

    Parameters
    ----------
    text : str
        Any text.
    joins : bool
        Apply only the rules that hold across white space.
    among : int
        Bits of `Sign` to consider.
    """
    signs = signs_of(text, among=among)
    if not signs:
        return
    for rule, pattern, near in rules_for(signs, joins=joins):
        for match in pattern.finditer(text):
            start, end = _cut(match)
            if start == end or (rule.check is not None and not rule.check(match)):
                continue
            if (
                near is None
                or near.search(text, max(0, start - BEFORE), start)
                or near.search(text, end, end + AFTER)
            ):
                yield rule.kind, start, end


def may_be_encoded(compact: str) -> bool:
    """Whether a text without white space can contain base64: a long run that is not an identifier."""
    return any(_IDENTIFIER.fullmatch(run) is None for run in _RUN.findall(compact))


def encoded(text: str) -> Iterator[Span]:
    """Yield base64 text, encoded once or twice, whose content matches a rule."""
    for match in _ENCODED.finditer(text):
        inner = _decoded(match[0])
        for _ in range(2):
            if inner is None:
                break
            span = next(matches(inner), None)
            if span is not None:
                yield span[0], match.start(), match.end()
                break
            inner = _decoded(inner.strip()) if _ENCODED.fullmatch(inner.strip()) else None


def _cut(match: re.Match[str]) -> tuple[int, int]:
    """Return the span to cut: without trailing punctuation, but a quoted value as is."""
    if "quoted" in match.re.groupindex and match.start("quoted") >= 0:
        return match.span("quoted")
    start, end = value_span(match)
    if start < 0:
        return match.span()
    return start, start + len(match.string[start:end].rstrip(_TRAILING)) or end


def _decoded(token: str) -> str | None:
    bare = token.rstrip("=")
    if len(bare) % 4 == 1 or _IDENTIFIER.fullmatch(bare):
        return None
    try:
        data = base64.b64decode(
            bare.replace("-", "+").replace("_", "/") + "=" * (-len(bare) % 4), validate=True
        )
        text = data.decode()
    except (binascii.Error, UnicodeDecodeError):
        return None
    return text if all(char.isprintable() or char in "\n\r\t" for char in text) else None
