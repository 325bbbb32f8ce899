"""Locate private data in a text: apply every rule to every view and map the matches back."""

import re
from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce
from itertools import islice
from operator import or_
from typing import TYPE_CHECKING, Final, NamedTuple

from coreloop.sanitize.apply_rules import encoded, matches, may_be_encoded
from coreloop.sanitize.detectors import RULES
from coreloop.sanitize.detectors.detection import Detection, current
from coreloop.sanitize.detectors.rule import Sign
from coreloop.sanitize.detectors.signs import closed_signs
from coreloop.sanitize.spaced_numbers import NUMBERS, spread
from coreloop.sanitize.step_budget import Budget, OverBudgetError
from coreloop.sanitize.undisguised import (
    CACHED_CHARS,
    SHORT_LABEL,
    View,
    letters_as_digits,
    readings,
    rewritten,
    short_labels,
    with_short_labels,
)
from coreloop.sanitize.without_spaces import Closed, Closing, closings

if TYPE_CHECKING:
    from coreloop.sanitize.company_names import Names


_CACHE_SIZE: Final = 20_000
_LONG_CACHED_CHARS: Final = 1 << 15
_LONG_CACHE_SIZE: Final = 32
# Single words, hashes with a letter in them, pseudonyms and times are never private; "sk-", "key-", "pul-"
# and "fc-" begin credentials.
_HARMLESS: Final = re.compile(
    r"[12][0-9]{3}-[01][0-9]-[0-3][0-9](?:[T ][0-2][0-9]:[0-5][0-9](?::[0-6][0-9](?:\.[0-9]{1,9})?)?"
    r"(?:Z|[+-][0-9]{2}:?[0-9]{2})?)?|"
    r"(?P<word>[a-zA-Z]{0,12}+|[가-힣]{0,2}+)|"
    r"(?:(?!(?:[srp]k|key|pul|fc)-)[a-z0-9]{2,8}+[:-])?(?=[0-9]*[a-f])[0-9a-f]{7,64}|[a-z_]{2,20}-[a-p]{32}"
)
_MAX_HARMLESS_CHARS: Final = 73


_NUMBER_SIGNS: Final = int(reduce(or_, (rule.sign for rule in RULES if rule.joins and rule.kind in NUMBERS)))
_PIECE_SIGNS: Final = int(
    reduce(or_, (rule.sign for rule in RULES if rule.joins and rule.kind not in NUMBERS))
)
_OWN_GAPS: Final = int(Sign.KEY_BODY)
"""Signs of rules that allow white space themselves; closed, a key would take the words around it."""
_DECIMAL: Final = re.compile(r"[+-]?[0-9]{1,5}\.[0-9]{1,4}")
_NEXT_WORD: Final = re.compile(
    r"[ \t]*\n[ \t]*(?:[-*>#]{1,3}|[A-Z]?[a-z]+|[A-Z]+|[a-z]+(?:_[a-z]+)+|[A-Z]+(?:_[A-Z]+)+|[가-힣]+[.,!?]?)"
)
_LAST_WORD: Final = re.compile(r"[A-Z][a-z]+[ \t]*\n[ \t]*")
_HUMP: Final = re.compile(r"[a-z][A-Z]")


@dataclass(frozen=True, slots=True)
class PrivateData:
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


class Hit(NamedTuple):
    """A finding with its undisguised value, so that equal values get equal labels."""

    kind: str
    start: int
    end: int
    value: str


def find(text: str, *, names: "Names | None" = None) -> list[PrivateData]:
    """Find private data in a text, even if disguised or encoded.

    Parameters
    ----------
    text : str
        Any text.
    names : Names, optional
        Companies to find as well.

    Returns
    -------
    list of PrivateData
        Sorted by position, without overlaps.
    """
    return [PrivateData(hit.kind, hit.start, hit.end) for hit in find_hits(text, names=names)]


def find_hits(text: str, *, names: "Names | None" = None) -> tuple[Hit, ...]:
    """`find`, with the undisguised values."""
    if (short := short_labels(text)) != text:
        in_short = find_hits(short, names=names)
        view = with_short_labels(text) if in_short else None
        return tuple(_hit(view, *hit) for hit in in_short)
    chosen = current()
    hits: tuple[Hit, ...] | None = (chosen.cache if len(text) <= CACHED_CHARS else chosen.long_cache).get(
        text
    )
    if hits is None:
        hits = () if is_harmless(text) else _cached(text, _outside_labels(text, _merged(_scan(text))), chosen)
    if names is not None:
        companies = [Hit(name.kind, name.start, name.end, name.code) for name in names.find(text)]
        hits = tuple(_merged([*hits, *companies])) if companies else hits
    if hits and chosen.allow:
        return tuple(hit for hit in hits if text[hit.start : hit.end].strip() not in chosen.allow)
    return hits


def is_harmless(text: str, *, names: "Names | None" = None) -> bool:
    """Whether a text has a form that is never private: a hash, a time or a word that names no company."""
    if len(text) > _MAX_HARMLESS_CHARS:
        return False
    match = _HARMLESS.fullmatch(text)
    if match is None or current().own:
        return False
    return names is None or match["word"] is None or not names.find(text)


def _cached(text: str, hits: tuple[Hit, ...], chosen: Detection) -> tuple[Hit, ...]:
    """Cache short texts, which repeat, and the last long ones, which a mask searches up to three times."""
    if len(text) <= CACHED_CHARS:
        cache, size = chosen.cache, _CACHE_SIZE
    elif len(text) <= _LONG_CACHED_CHARS:
        cache, size = chosen.long_cache, _LONG_CACHE_SIZE
    else:
        return hits
    if len(cache) >= size:
        cache.clear()
    cache[text] = hits
    return hits


def _scan(text: str) -> list[Hit]:
    """Search every reading; a text beyond the budget is one hit."""
    hits: list[Hit] = []
    budget = Budget(len(text))
    try:
        for reading in readings(text):
            hits += _in_reading(text, reading, budget)
            visible = text if reading is None else reading.text
            for swapped in (letters_as_digits(reading, visible), spoken_digits(reading, visible)):
                if swapped is not None:
                    hits += _in_rewritten(swapped, "joined", budget)
    except OverBudgetError:
        return [Hit("TEXT", 0, len(text), text)]
    return hits


def _in_reading(text: str, view: View | None, budget: Budget) -> list[Hit]:
    """Find hits in a reading, both unchanged and with gaps closed; none if no variant shows a sign."""
    visible = text if view is None else view.text
    compact = "".join(visible.split())
    markers, coded = closed_signs(visible, compact), may_be_encoded(compact)
    if not markers and not coded:
        return []
    budget.spend(len(visible))
    is_closed = len(compact) == len(visible)
    found = matches(visible, among=markers, markers=markers if is_closed else None)
    spans = [*found, *(encoded(visible) if coded else ())]
    hits = [_hit(view, kind, start, end, visible[start:end]) for kind, start, end in spans]
    if is_closed:
        return hits
    if markers & _NUMBER_SIGNS:
        for kind, start, end in spread(visible, budget):
            hits.append(_hit(view, kind, start, end, "".join(visible[start:end].split())))
    whole = {kind: sorted(hit[1:3] for hit in hits if hit.kind == kind) for kind in ("EMAIL", "SECRET")}
    for closed, closing in closings(view, visible, pieces=coded or markers & _PIECE_SIGNS != 0):
        new = _in_rewritten(closed, closing, budget, among=markers & ~_OWN_GAPS, coded=coded)
        if closing == "pieces":
            new = [hit for hit in new if not _is_row(hit, text)]
        hits += [hit for hit in new if not _takes_words(hit, whole.get(hit.kind, ()), text)]
    return hits


def _outside_labels(text: str, hits: list[Hit]) -> tuple[Hit, ...]:
    """Leave out what one of the project's own patterns finds in a label: ``EMAIL-0`` is no ticket."""
    if not current().own or "[" not in text:
        return tuple(hits)
    labels = [label.span() for label in SHORT_LABEL.finditer(text)]
    return tuple(
        hit for hit in hits if not any(start <= hit.start and hit.end <= end for start, end in labels)
    )


def _takes_words(hit: Hit, whole: Sequence[tuple[int, int]], text: str) -> bool:
    """Whether a hit is one of the unchanged text with a word of the line before it or after it.

    An address or a key may go on in the next line, but not with a word, a bullet or a name of a setting.
    """
    at = bisect_left(whole, (hit.start, 0))
    if at == len(whole) or whole[at][1] > hit.end:
        return False
    start, end = whole[at]
    is_first = start == hit.start or (hit.kind == "EMAIL" and _LAST_WORD.fullmatch(text, hit.start, start))
    return bool(is_first and (end == hit.end or _NEXT_WORD.fullmatch(text, end, hit.end)))


def _is_row(hit: Hit, text: str) -> bool:
    """Whether a hit may be a row of numbers, which `spread` distinguishes from a single number."""
    return hit.kind in NUMBERS or all(map(_DECIMAL.fullmatch, text[hit.start : hit.end].split()))


def _in_rewritten(
    view: View | Closed, closing: Closing, budget: Budget, *, among: int = ~0, coded: bool = True
) -> list[Hit]:
    visible = view.text
    budget.spend(len(visible))
    spans = [*matches(visible, joins=closing == "pieces", among=among), *(encoded(visible) if coded else ())]
    hits = (_hit(view, kind, start, end, visible[start:end]) for kind, start, end in spans)
    return [hit for hit in hits if not _is_prose(hit.kind, hit.value)]


def _is_prose(kind: str, value: str) -> bool:
    """Whether a supposed token is prose that lost its white space."""
    if kind != "SECRET" or re.fullmatch(r"[A-Z0-9]+", value) or re.search(r"[A-Za-z][0-9][A-Za-z]", value):
        return False
    n_digits = 1 if re.match(r"gl[a-z]+-|gh[a-z]_|npm_|hf_|AIza|xox|[prs]k_", value) else 2
    digits = islice(filter(str.isdigit, value), n_digits)
    return sum(1 for _ in digits) < n_digits and len(_HUMP.findall(value)) < 3


def _hit(view: View | Closed | None, kind: str, start: int, end: int, value: str) -> Hit:
    first, last = (start, end) if view is None else view.span(start, end)
    return Hit(kind, first, last, value)


def _merged(hits: list[Hit]) -> list[Hit]:
    """Merge overlapping hits; the result has the kind and value of the longest hit."""
    if len(hits) < 2:
        return hits
    merged: list[Hit] = []
    for hit in sorted(hits, key=lambda hit: (hit.start, -hit.end)):
        if not merged or hit.start >= merged[-1].end:
            merged.append(hit)
            continue
        last = merged[-1]
        named = hit if hit.end - hit.start > last.end - last.start else last
        merged[-1] = Hit(named.kind, last.start, max(last.end, hit.end), named.value)
    return merged


_ENGLISH: Final = {
    word: str(digit)
    for digit, word in enumerate("zero one two three four five six seven eight nine".split())  # noqa: SIM905
}
_KOREAN: Final = dict(zip("공영일이삼사오육륙칠팔구", "001234566789", strict=True))
_WORD: Final = "(?:zero|one|two|three|four|five|six|seven|eight|nine)"
_SYLLABLE: Final = "[공영일이삼사오육륙칠팔구]"
_WORDS: Final = rf"{_WORD}(?:[ -]{{1,2}}{_WORD}){{5,30}}(?![A-Za-z])"
# Six digits are the shortest date of birth. A particle may follow the last syllable.
_SYLLABLES: Final = (
    rf"{_SYLLABLE}(?<![가-힣].)(?:[ -]{{0,2}}{_SYLLABLE}){{5,30}}"
    r"(?:(?![가-힣])|(?=입니다|이에요|예요|은|는|로|으로|을|를|가|번))"
)
# Both begin with what they look for, which takes a third of the time of looking behind first.
_ENGLISH_SEARCH: Final = re.compile(_WORDS)
_KOREAN_SEARCH: Final = re.compile(_SYLLABLES)
_SPOKEN: Final = re.compile(rf"(?<![A-Za-z]){_WORDS}|{_SYLLABLES}")
_DIGIT: Final = re.compile(rf"{_WORD}|{_SYLLABLE}|[ -]+")


def spoken_digits(view: View | None, visible: str) -> View | None:
    """Replace spelled-out digits by digits; None if there are none.

    White space between English words goes; Korean groups of syllables keep it.
    """
    if not _KOREAN_SEARCH.search(visible) and not (" " in visible and _ENGLISH_SEARCH.search(visible)):
        return None
    return rewritten(view, visible, _SPOKEN, _digits)


def _digits(match: re.Match[str]) -> list[tuple[str, int, int]]:
    is_english = match[0].isascii()
    pieces = []
    for part in _DIGIT.finditer(match[0]):
        digit = _ENGLISH.get(part[0]) or _KOREAN.get(part[0])
        if digit is not None or not is_english:
            pieces.append((digit or part[0][0], part.start(), part.end()))
    return pieces
