"""What a question names: subject, dates, numbers and words. A sentence without them answers another one."""

import re
import unicodedata
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from coreloop.answer.models.dates import Date, holds_date, split_dates
from coreloop.answer.models.opposites import opposites_of
from coreloop.answer.models.sentences import Sentence, without_targets
from coreloop.answer.models.synonyms import same_stem
from coreloop.base.language.tables import PARTICLES
from coreloop.base.language.words import is_hangul, read_query, split_tail, stems

_WORD: Final = re.compile(r"[^\W_]+(?:[&.’'+-]+[^\W_]+)*")  # KT&G, Acme's, e-mail
_NUMBER: Final = re.compile(r"(?<![A-Za-z])(?<!\d)\d(?:[\d,.]*\d)?")  # 3 of HTTP/3; not of urllib3
_TAILS: Final = PARTICLES | {"'s", "’s", "다", "이다", "였다", "이었다", "이며", "이고", "입니다"}
_MAX_TAIL: Final = max(map(len, _TAILS))
_HEAD: Final = re.compile(
    r"""(?i:(?:\A(?:is|are|was|were)|\b(?:do|does|did|can|will|has|have|had))\s(?:the|an?|this|our|my|your)\s)
        (?P<noun>[a-z]+)""",
    re.VERBOSE,
)  # Is the museum open?
_ENGLISH_HEAD: Final = re.compile(r"\A[#>*\s-]*(?:The|An?|This|Our)\s(?P<noun>[a-z]+)")
_NO_SUBJECT: Final = frozenset({"ceo", "cfo", "cto", "i", "has", "have", "had", "may", "might", "must"}) | {
    *("shall", "name", "list", "describe", "explain", "if", "under", "after", "before", "during"),
    *("within", "between", "among", "since", "until", "per", "according", "given", "following", "despite"),
    *("대표", "회장", "사장", "지난해", "올해", "작년", "우리", "회사"),
}
"""At the start of a question, or capitalised, and yet no name."""


@dataclass(frozen=True, slots=True)
class Asked:
    """What a question names.

    Attributes
    ----------
    subjects : tuple of str
        Case-folded: capitalised English words; of Korean the first noun.
    dates : tuple of Date
    numbers : frozenset of str
        Those that are no part of a date.
    words : frozenset of str
        The stems of its other words.
    head : str
        Of English the stem of the noun that is asked about, ``museum`` of ``Is the museum open?``, or "".
    """

    subjects: tuple[str, ...]
    dates: tuple[Date, ...]
    numbers: frozenset[str]
    words: frozenset[str]
    head: str = ""


@lru_cache(maxsize=256)
def read_asked(question: str) -> Asked:
    """Read what a question names."""
    dates, rest = split_dates(unicodedata.normalize("NFKC", question))
    found = _korean_subject(rest) if any(map(is_hangul, rest)) else _english_subjects(rest)
    subjects = tuple(dict.fromkeys(found))
    of_subjects = {stem for subject in subjects for form in _forms(subject) for stem in stems(form)}
    return Asked(
        subjects=subjects,
        dates=dates,
        numbers=frozenset(_NUMBER.findall(rest)),
        words=frozenset(stems(rest)) - of_subjects - PARTICLES,
        head=_head(_HEAD.search(rest)),
    )


def _head(match: re.Match[str] | None) -> str:
    return "".join(stems(match["noun"])[:1]) if match else ""


def is_about(asked: Asked, sentence: Sentence) -> bool:
    """Whether subject, dates and numbers of a question stand in a sentence or around it.

    A sentence with another date in the place of the asked one, or about another subject in otherwise the same
    words, is about something else, whatever stands around it.
    """
    own, around = _read(sentence.text), _read(f"{sentence.around}\n{sentence.text}")
    return (
        all(map(around.names, asked.subjects))
        and _has_head(asked, sentence)
        and not _is_of_another(asked, sentence.text, own)
        and _is_then(asked.dates, own.dates, around.dates)
        and asked.numbers <= around.numbers
    )


def says_all(question: str, sentence: Sentence) -> bool:
    """Whether each English word of a question stands in a sentence or around it."""
    said = {same_stem(stem) for stem in stems(without_targets(f"{sentence.text}\n{sentence.around}"))}
    asked = [stem for stem in map(same_stem, stems(question)) if stem.isascii() and len(stem) > 1]
    return all(stem in said for stem in asked) or any(_is_opposite(stem, said, asked) for stem in asked)


def _is_opposite(stem: str, said: Collection[str], asked: Sequence[str]) -> bool:
    others = {same_stem(other) for text in opposites_of(stem) for other in stems(text)}
    rest = [word for word in asked if word != stem]
    return bool(others & {*said}) and all(word in said for word in rest)


def _has_head(asked: Asked, sentence: Sentence) -> bool:
    """Whether the noun that is asked about stands in a sentence, or around one that begins with no other."""
    if not asked.head or asked.head in stems(sentence.text):
        return True
    other = _head(_ENGLISH_HEAD.match(sentence.text))
    is_of_other = bool(other) and other not in asked.words
    return not is_of_other and asked.head in stems(sentence.around)


@dataclass(frozen=True, slots=True)
class _Text:
    words: frozenset[str]
    dates: tuple[Date, ...]
    numbers: frozenset[str]

    def names(self, word: str) -> bool:
        forms = (*_forms(word), *(_english_stems(word) if word.isascii() else ()))
        return any(form in self.words for form in forms)


@lru_cache(maxsize=1_024)
def _read(text: str) -> _Text:
    plain = unicodedata.normalize("NFKC", without_targets(text))
    words = (form for word in _WORD.findall(plain.casefold()) for form in _forms(word))
    return _Text(
        frozenset((*words, *_english_stems(plain))), split_dates(plain)[0], frozenset(_NUMBER.findall(plain))
    )


def _english_stems(text: str) -> Iterator[str]:
    """Yield what Mondays and Monday share; a Korean name keeps its syllables."""
    return (stem for stem in stems(text) if stem.isascii())


def _forms(word: str) -> Iterator[str]:
    """Yield a word, and the word without a particle."""
    yield word
    for length in range(1, min(_MAX_TAIL, len(word) - 2) + 1):
        if word[-length:] in _TAILS:
            yield word[:-length]


def _is_of_another(asked: Asked, text: str, own: _Text) -> bool:
    """Whether a sentence says of another subject all that is asked: LG화학의 매출 for LG전자의 매출."""
    if not asked.subjects or not asked.words or any(map(own.names, asked.subjects)):
        return False
    other = read_asked(text)
    others = {stem for subject in other.subjects for form in _forms(subject) for stem in stems(form)}
    return bool(others) and not others & asked.words and asked.words <= other.words


def _is_then(asked: Iterable[Date], said: tuple[Date, ...], around: tuple[Date, ...]) -> bool:
    years = {date.year for date in around}
    return all(
        holds_date(said, date, years) or (not _has_same_part(date, said) and holds_date(around, date, years))
        for date in asked
    )


def _has_same_part(asked: Date, said: Iterable[Date]) -> bool:
    """Whether a sentence has a year where one is asked for, or a quarter, or a month."""
    return any(
        (asked.year and date.year) or (asked.quarter and date.quarter) or (asked.month and date.month)
        for date in said
    )


def _english_subjects(text: str) -> Iterator[str]:
    for place, word in enumerate(_WORD.findall(text)):
        plain = re.sub(r"['’]s$", "", word.casefold())
        starts_question = place == 0 and not read_query(word).words
        if word[0].isupper() and not starts_question and plain not in _NO_SUBJECT:
            yield plain


def _korean_subject(text: str) -> Iterator[str]:
    """Yield the first word, if it is a noun: its tail is a particle, or it has none."""
    words = (word for word in _WORD.findall(text.casefold()) if len(word) > 1 and read_query(word).words)
    first = next(
        (word for word in words if not word[0].isdecimal() and not _NO_SUBJECT & {*_forms(word)}), ""
    )
    if first and (not is_hangul(first[-1]) or split_tail(first)[1] in {"", *PARTICLES}):
        yield first
