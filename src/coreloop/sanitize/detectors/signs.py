"""Cheap detection of the signs in a text, so that few rules have to run."""

import re
from collections.abc import Callable
from functools import lru_cache, reduce
from operator import or_
from typing import Final

from ahocorasick_rs import AhoCorasick, Implementation

from coreloop.base.records import encodable
from coreloop.sanitize.detectors import chosen_rules
from coreloop.sanitize.detectors.detection import Country, OwnPattern, current
from coreloop.sanitize.detectors.rule import Sign
from coreloop.sanitize.detectors.sign_forms import FORMS, token_forms
from coreloop.sanitize.detectors.streets import CLOSED_KINDS, KINDS

_WORDS_BESIDE: Final = int(Sign.BANK | Sign.SHORT_BANK | Sign.CALL | Sign.PASSPORT | Sign.LICENCE)
_NUMBERS: Final = int(Sign.DIGITS | Sign.CODES)
_RUN_CHARS: Final = 40  # the length of the shortest secret without words beside it (AWS)
_RUN_SIGN, _STREET_SIGN = int(Sign.SECRET_RUN), int(Sign.STREET)


# The same run, broken by a line break.
_BROKEN_RUN: Final = re.compile(
    r"(?<![A-Za-z0-9/+])([A-Za-z0-9/+]{4,36}+)\n(?=([A-Za-z0-9/+]{4,36}+)(?![A-Za-z0-9/+=]))"
)
_LONGER_RUN: Final = re.compile(r"[A-Za-z0-9/+]{48}")
_SECRET_RUN: Final = re.compile(r"[A-Za-z0-9/+]{40}(?![A-Za-z0-9/+=])(?<![A-Za-z0-9/+].{40})")
# White space makes an address, so that a text without any shows none.
_STREET: Final = re.compile(  # begins with a digit, which is fast to search; ends with a kind or a postcode
    r"[0-9](?:(?=,?[A-Za-z\s])(?:"
    rf"[A-Za-z]?,?\s{{1,3}}(?:[0-9A-Za-z'’.-]{{1,21}}\s{{1,3}}){{1,4}}{KINDS}(?![A-Za-z])|"
    rf"[A-Za-z]?(?:[NS]?[NSEW]\.)?(?:[A-Z][a-z'’]{{1,20}}){{1,3}}{CLOSED_KINDS}|"
    r"(?: [A-Za-z])? (?:[NSEW] \. )?[A-Z] [a-z] [a-z]|"
    r"[ABD-HJLNP-UW-Z]{2}(?![0-9A-Za-z])(?:(?<=[0-9].{3})|(?<=[0-9] .{3})|(?<=[0-9][0-9A-Z].{3})|"
    r"(?<=[0-9][0-9A-Z] .{3})))|(?<=[Bb][Oo][Xx]\s.))"
)


_Search = Callable[[str], re.Match[str] | None]
_Shows = tuple[int, _Search | None]


def signs_of(text: str) -> int:
    """Return the bits of `Sign` that a text shows."""
    words, visible, anywhere, markers = _index(current().countries, current().own)
    lowered = encodable(text).lower()
    found = words.find_matches_as_indexes(lowered, overlapping=True)
    for bit, search in (shown for word in {word for word, _, _ in found} for shown in visible[word]):
        if not markers & bit and (search is None or search(lowered)):
            markers |= bit
    for bit, search in anywhere:
        if search and search(lowered):
            markers |= bit
    markers |= _of_capitals(text)
    return markers if markers & _NUMBERS else markers & ~_WORDS_BESIDE


def _of_capitals(text: str) -> int:
    """Return the signs that depend on capitals or on white space."""
    markers = _STREET_SIGN if current().streets and _STREET.search(text) else 0
    if len(text) < _RUN_CHARS:
        return markers
    is_broken = any(len(run[1]) + len(run[2]) == _RUN_CHARS for run in _BROKEN_RUN.finditer(text))
    markers |= _RUN_SIGN if is_broken or _SECRET_RUN.search(text) else 0
    return markers | (int(Sign.KEY_BODY) if _LONGER_RUN.search(text) else 0)


@lru_cache(maxsize=16)
def _index(
    countries: tuple[Country, ...], own: tuple[OwnPattern, ...]
) -> tuple[AhoCorasick, list[list[_Shows]], list[_Shows], int]:
    """Compile the words, what each of them shows, the patterns for any text, and what every text shows."""
    wanted = reduce(or_, (int(rule.sign | rule.needs) for rule in chosen_rules(countries, own)))
    visible: dict[str, list[_Shows]] = {}
    anywhere: list[_Shows] = []
    for form in (*FORMS, *token_forms()):
        bit = int(form.sign)
        if bit & wanted:
            for word in form.words.split():
                visible.setdefault(word.replace("␣", " "), []).append((bit, None))
            for required, pattern in form.patterns.items():
                shows = (bit, re.compile(pattern).search)
                (visible.setdefault(required, []) if required else anywhere).append(shows)
    words = AhoCorasick(list(visible), implementation=Implementation.DFA)  # a quarter less time
    return words, list(visible.values()), anywhere, wanted & int(Sign.OWN)
