"""The rules run on one text, as it is given: spans by kind, without any view."""

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
    """Kind, start and end of what the rules find.

    Parameters
    ----------
    text : str
        Any text.
    joins : bool
        Run only the rules that hold across white space.
    among : int
        The bits of `Sign` that the text may show.
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
    """Whether a text that lost its white space, all or some, can hold base64: a run that is no identifier."""
    return any(_IDENTIFIER.fullmatch(run) is None for run in _RUN.findall(compact))


def encoded(text: str) -> Iterator[Span]:
    """Base64, once or twice, of what the rules find."""
    for match in _ENCODED.finditer(text):
        inner = _decoded(match[0])
        for _ in range(2):
            if inner is None:
                break
            found = next(matches(inner), None)
            if found is not None:
                yield found[0], match.start(), match.end()
                break
            inner = _decoded(inner.strip()) if _ENCODED.fullmatch(inner.strip()) else None


def _cut(match: re.Match[str]) -> tuple[int, int]:
    """What is cut, without the punctuation of the sentence around it; all of what stands in quotes."""
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
