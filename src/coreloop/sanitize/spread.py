"""Numbers with blanks strewn among their digits and signs, as in a scan: ``01  9)  2  56  1-  93  56``."""

import re
from collections.abc import Iterator
from itertools import product
from typing import Final

from coreloop.sanitize.detectors.finance import CARD_WORD
from coreloop.sanitize.detectors.korean_ids import BUSINESS, RESIDENT
from coreloop.sanitize.detectors.phones import CALL
from coreloop.sanitize.matching import Span
from coreloop.sanitize.torn import across

_RUN: Final = re.compile(
    r"(?<![0-9A-Za-z.,])(?:[A-Z] {0,5}){0,2}(?:[(+] {0,5}){0,2}[0-9](?:[ \-()./]{0,8}[0-9A-Z]){7,}"
    r"(?![0-9A-Za-z]|[.,][0-9])"
)
_MOST_CHARS: Final = 48
_BESIDE: Final = 4
_WINDOW: Final = 56
_KINDS: Final = frozenset({"PHONE", "RRN", "BRN", "CARD", "ACCOUNT", "IBAN", "PASSPORT", "LICENCE"})
_SIGNS: Final = re.compile(r"[-()+A-Z]")
_WORDS: Final = re.compile(f"{CALL}|{RESIDENT}|{BUSINESS}|{CARD_WORD}".replace("(?i)", ""), re.IGNORECASE)
_NEAR: Final = 28


def spread(text: str) -> Iterator[Span]:
    """What is found when all blanks of a run of digits are closed; up to three numbers beside it stay out."""
    for run in _RUN.finditer(text):
        if " " not in run[0] or len(run[0].replace(" ", "")) > _MOST_CHARS:
            continue
        gaps = [(run.start() + gap.start(), run.start() + gap.end()) for gap in re.finditer(" +", run[0])]
        for head, tail in product(range(_BESIDE), range(_BESIDE)):
            closed = gaps[head : len(gaps) - tail]
            found = (
                [one for one in across(text, closed, window=_WINDOW) if _is_number(text, *one)]
                if closed
                else []
            )
            if found:
                yield from found
                break


def _is_number(text: str, kind: str, start: int, end: int) -> bool:
    """Whether it is one number and no row of them: it has signs, even pieces or a word that calls it one."""
    if kind not in _KINDS:
        return False
    return (
        kind == "ACCOUNT"
        or _SIGNS.search(text, start, end) is not None
        or _is_even(text[start:end])
        or _WORDS.search(text, max(0, start - _NEAR), start) is not None
    )


def _is_even(run: str) -> bool:
    """Whether blanks come after every so many characters, which may be blanks themselves."""
    return any(
        len(run) > 2 * (size + width)
        and all(run[at : at + width].isspace() for at in range(size, len(run), size + width))
        for size, width in product(range(1, 5), range(1, 3))
    )
