"""Numbers with stray blanks among digits and signs, as in scans: ``01  9)  2  56  1-  93  56``.

Finds 25 more of 10,530 planted values (0.2 %, 2026-11-24).
"""

import re
from collections.abc import Iterator, Sequence
from itertools import product
from typing import Final

from coreloop.sanitize.apply_rules import Span, matches
from coreloop.sanitize.detectors.eu import DUTCH
from coreloop.sanitize.detectors.finance import CARD_WORD, PAYMENT
from coreloop.sanitize.detectors.kr import BUSINESS, LICENCE, RESIDENT
from coreloop.sanitize.detectors.phones import CALL
from coreloop.sanitize.detectors.uk import HEALTH
from coreloop.sanitize.detectors.us import EMPLOYER, SOCIAL
from coreloop.sanitize.step_budget import Budget

_RUN: Final = re.compile(
    r"(?<![0-9A-Za-z.])(?:[A-Z] {0,5}){0,2}(?:[(+] {0,5}){0,2}[0-9](?:[ \-()./]{0,8}[0-9A-Z]){7,}"
    r"(?![0-9A-Za-z]|\.[0-9]|,[0-9]{3}(?![0-9]))"
)
_TWO_PARTS: Final = re.compile(r"[0-9A-Z(+][\-()./]{0,7} [ \-()./]{0,7}[0-9A-Z]")
_MAX_CHARS: Final = 48
_WINDOW: Final = 56  # more than `_MAX_CHARS`: the longest number fits on either side of a gap
_NUMBERS_TEXT: Final = """
PHONE RRN CRN BRN CARD ACCOUNT IBAN PASSPORT LICENCE SSN ITIN EIN NHS DNI NIE NIR STEUER BSN
"""
NUMBERS: Final = frozenset(_NUMBERS_TEXT.split())
_SIGNS: Final = re.compile(r"[-()+A-Z]")
_WORDS: Final = {
    kind: re.compile(words)
    for kind, words in {
        "PHONE": CALL,
        "RRN": RESIDENT,
        "BRN": BUSINESS,
        "CARD": CARD_WORD,
        "ACCOUNT": f"(?i){PAYMENT}",
        "LICENCE": LICENCE,
        "SSN": SOCIAL,
        "ITIN": SOCIAL,
        "EIN": EMPLOYER,
        "NHS": HEALTH,
        "BSN": DUTCH,
    }.items()
}
_NEAR: Final = 28  # `BEFORE` of the rules
_DAY: Final = re.compile(r"(?<![0-9])(?:19|20)[0-9]{2}-[01][0-9]-[0-3][0-9](?![0-9-])")
_ROW_OF_SIGNED: Final = re.compile(r"[-+]?[0-9]+(?: +[-+][0-9]+)+")
_PIECE_AHEAD: Final = re.compile(r"(?<!\S)([0-9]+) +\Z")
_PIECE_BEHIND: Final = re.compile(r" +([0-9]+)(?![0-9년])")


def spread(text: str, budget: Budget) -> Iterator[Span]:
    """Find numbers after closing all blanks of a run of digits."""
    if not _TWO_PARTS.search(text):
        return
    for run in _RUN.finditer(text):
        if " " not in run[0] or len(run[0].replace(" ", "")) > _MAX_CHARS:
            continue
        budget.spend(len(run[0]) + 2 * _WINDOW)
        gaps = [(run.start() + gap.start(), run.start() + gap.end()) for gap in re.finditer(" +", run[0])]
        yield from (span for span in _across(text, gaps) if _is_number(text, *span))


def _across(text: str, gaps: Sequence[tuple[int, int]]) -> Iterator[Span]:
    """Find spans across all of the given gaps once they are closed."""
    start, end = max(0, gaps[0][0] - _WINDOW), min(gaps[-1][1] + _WINDOW, len(text))
    inside = {at for a, b in gaps for at in range(a, b)}
    places = [at for at in range(start, end) if at not in inside]
    closed = "".join(text[at] for at in places)
    for kind, first, behind in matches(closed, joins=True):
        begin, over = places[first], places[behind - 1] + 1
        if begin < gaps[0][0] and over > gaps[-1][1]:
            yield kind, begin, over


def _is_number(text: str, kind: str, start: int, end: int) -> bool:
    """Whether a span is a single number, not a row: it has signs, even pieces or a telling word nearby."""
    if kind not in NUMBERS or _DAY.search(text, start, end) or _ROW_OF_SIGNED.fullmatch(text, start, end):
        return False
    words = _WORDS.get(kind)
    return (
        _SIGNS.search(text, start, end) is not None
        or (_is_even(text[start:end]) and not _continues_row(text, start, end))
        or (words is not None and words.search(text, max(0, start - _NEAR), start) is not None)
    )


def _continues_row(text: str, start: int, end: int) -> bool:
    """Whether a neighbouring number is as long as the pieces of this number, which makes them a row."""
    before = _PIECE_AHEAD.search(text, max(0, start - _NEAR), start)
    behind = _PIECE_BEHIND.match(text, end, end + 2 * _WINDOW)
    pieces = text[start:end].split()
    return (before is not None and len(before[1]) == len(pieces[0])) or (
        behind is not None and len(behind[1]) == len(pieces[0])
    )


def _is_even(run: str) -> bool:
    """Whether blanks of equal width separate pieces of equal size."""
    return any(
        len(run) > 2 * (size + width)
        and all(run[at : at + width].isspace() for at in range(size, len(run), size + width))
        for size, width in product(range(1, 5), range(1, 3))
    )
