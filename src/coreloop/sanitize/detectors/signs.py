"""Cheap detection of the signs in a text, so that few rules have to run.

`closed_signs` covers a text and all variants with less white space: most texts show no sign and need no
further checks.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache, reduce
from operator import or_
from typing import Final

from ahocorasick_rs import AhoCorasick, Implementation

from coreloop.base.records import encodable
from coreloop.sanitize.detectors import RULES, chosen_rules
from coreloop.sanitize.detectors.detection import Country, Detection, OwnPattern, current
from coreloop.sanitize.detectors.rule import Sign
from coreloop.sanitize.detectors.sign_forms import FORMS, token_forms
from coreloop.sanitize.detectors.streets import CLOSED_KINDS, KINDS

# Signs of the rules that also hold after white space is removed.
JOINING: Final = int(reduce(or_, (rule.sign | rule.needs for rule in RULES if rule.joins)))
_WORDS_BESIDE: Final = int(Sign.BANK | Sign.SHORT_BANK | Sign.CALL | Sign.PASSPORT | Sign.LICENCE)
_RUN_CHARS: Final = 40  # the length of the shortest secret without words beside it (AWS)
_RUN_SIGN, _STREET_SIGN, _SPOKEN_AT = int(Sign.SECRET_RUN), int(Sign.STREET), int(Sign.SPOKEN_AT)
_BODY_SIGN: Final = int(Sign.KEY_BODY)
_ORIGINAL: Final = _RUN_SIGN | _BODY_SIGN | _STREET_SIGN
_DIGIT: Final = re.compile("[0-9]")
_LETTER: Final = re.compile("[a-z]")
_OF_DIGITS: Final = int(
    Sign.DIGITS | Sign.TEN_DIGITS | Sign.THIRTEEN_DIGITS | Sign.CODES | Sign.DOTTED | Sign.NATIONAL
)
_BESIDE_LETTERS: Final = int(Sign.CODES | Sign.NATIONAL)
_NUMBERS: Final = int(Sign.DIGITS | Sign.CODES)

_AT_APART: Final = re.compile(r"\s(?:[aAdD]\s*[oOtT]\s*[tT]?|앳)\s")

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


@dataclass(frozen=True, slots=True)
class _Index:
    """What shows signs in a text in lower case.

    Attributes
    ----------
    words : AhoCorasick
        The words that show a sign, or a pattern's sign if the pattern matches as well.
    visible : tuple of (tuple of (int, callable or None))
        For each word: bits and the searches of their patterns.
    of_digits : tuple of (int, int, callable)
        For texts with a digit: a bit, the bits of which the text must show one (0 for none), and a search.
    anywhere : tuple of (str, tuple of (int, callable))
        For texts with a character, or for all with "": bits and searches.
    own : int
        The bit of the project's own patterns, which every text shows.
    """

    words: AhoCorasick
    visible: tuple[tuple[tuple[int, _Search | None], ...], ...]
    of_digits: tuple[tuple[int, int, _Search], ...]
    anywhere: tuple[tuple[str, tuple[tuple[int, _Search], ...]], ...]
    own: int


def signs_of(text: str, *, among: int = ~0) -> int:
    """Return the bits of `Sign` that a text shows, limited to ``among``."""
    return _markers_in(text, among)


def closed_signs(text: str, compact: str) -> int:
    """Return the bits of `Sign` that a text can show after any white space is removed; 0 for most texts."""
    return _markers_in(compact, ~0, before=text)


def _in_original(text: str, *, has_letters: bool) -> int:
    """Return the signs that depend on capitals or on white space."""
    markers = _of_runs(text) if len(text) >= _RUN_CHARS else 0
    return markers | _STREET_SIGN if has_letters and current().streets and _STREET.search(text) else markers


def _of_runs(text: str) -> int:
    """Return the signs of long runs of letters and digits."""
    markers = _RUN_SIGN if _has_run(text) else 0
    return markers | _BODY_SIGN if _LONGER_RUN.search(text) else markers


def _has_run(text: str) -> bool:
    """Whether a text has a run of 40 characters, in one line or in two."""
    if _SECRET_RUN.search(text):
        return True
    return "\n" in text and any(len(run[1]) + len(run[2]) == _RUN_CHARS for run in _BROKEN_RUN.finditer(text))


_last: dict[bool, tuple[Detection, _Index]] = {}


@lru_cache(maxsize=16)
def _compiled(countries: tuple[Country, ...], own: tuple[OwnPattern, ...], *, closed: bool) -> _Index:
    """Compile the words, what each of them shows, and the patterns for any text."""
    wanted = reduce(or_, (int(rule.sign | rule.needs) for rule in chosen_rules(countries, own)))
    visible: dict[str, list[tuple[int, _Search | None]]] = {}
    of_digits: list[tuple[int, int, _Search]] = []
    anywhere: dict[str, list[tuple[int, _Search]]] = {}
    for form in reversed(FORMS):  # a form comes after the one whose sign it requires
        wanted |= int(form.after) if int(form.sign) & wanted else 0
    for form in (*FORMS, *token_forms()):
        bit = int(form.sign)
        if not bit & wanted:
            continue
        for word in [*form.words.split(), *(form.closed_words.split() if closed else ())]:
            visible.setdefault(word.replace("␣", " "), []).append((bit, None))
        for required, pattern in (form.closed_patterns if closed else form.patterns).items():
            search = re.compile(pattern).search
            if len(required) > 1:
                visible.setdefault(required, []).append((bit, search))
            elif bit & _OF_DIGITS:
                of_digits.append((bit, int(form.after), search))
            else:
                anywhere.setdefault(required, []).append((bit, search))
    return _Index(
        AhoCorasick(list(visible), implementation=Implementation.DFA),  # a quarter less time
        tuple(map(tuple, visible.values())),
        tuple(of_digits),
        tuple((required, tuple(searches)) for required, searches in anywhere.items()),
        wanted & int(Sign.OWN),
    )


def _index(chosen: Detection, *, closed: bool) -> _Index:
    last = _last.get(closed)
    if last is None or last[0] is not chosen:
        last = _last[closed] = chosen, _compiled(chosen.countries, chosen.own, closed=closed)
    return last[1]


def _markers_in(text: str, among: int, *, before: str | None = None) -> int:
    """Return the signs of a text; ``before`` is the text with its white space, if that was removed."""
    index = _index(current(), closed=before is not None)
    lowered = text.lower()
    markers = _of_words(index, lowered)
    has_letters = _LETTER.search(lowered) is not None
    if _DIGIT.search(lowered):
        wanted = among if has_letters else among & ~_BESIDE_LETTERS
        for bit, after, search in index.of_digits:
            if bit & wanted and (not after or markers & after) and search(lowered):
                markers |= bit
    for required, searches in index.anywhere:
        if required in lowered:
            for bit, search in searches:
                if bit & among and search(lowered):
                    markers |= bit
    if before is None:
        original = _in_original(text, has_letters=has_letters) if among & _ORIGINAL else 0
    else:
        original = _in_original(before, has_letters=has_letters)
        if (has_letters or "앳" in before) and _AT_APART.search(before):
            markers |= _SPOKEN_AT
    return _with_number(markers | original) & among


def _of_words(index: _Index, lowered: str) -> int:
    """Return the signs that words show."""
    try:
        found = index.words.find_matches_as_indexes(lowered, overlapping=True)
    except UnicodeEncodeError:  # a lone surrogate
        found = index.words.find_matches_as_indexes(encodable(lowered), overlapping=True)
    markers = index.own
    for word in {word for word, _, _ in found} if found else ():
        for bit, gate in index.visible[word]:
            if not markers & bit and (gate is None or gate(lowered)):
                markers |= bit
    return markers


def _with_number(markers: int) -> int:
    """Leave out the words beside a number if there is none."""
    return markers if markers & _NUMBERS else markers & ~_WORDS_BESIDE
