"""Findings that cannot both be true: one subject and attribute, and another number, date or negation.

Precision before recall: sentences are about the same thing only if nearly all of their words agree.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from itertools import combinations
from typing import Final

from coreloop.answer.models.dates import dates_agree, split_dates
from coreloop.answer.models.opposites import are_opposed
from coreloop.answer.models.question_parts import asks_yes_or_no
from coreloop.answer.models.ranking import word_letters
from coreloop.answer.research.claim import ComparedText, read_statement
from coreloop.answer.research.findings import Contradiction, ContradictionKind, SourcedText
from coreloop.answer.research.quantities import Span, read_spans, spans_agree
from coreloop.answer.research.support import denies
from coreloop.answer.research.word_lists import IGNORED, SAME
from coreloop.base.language.words import stems

SAME_SUBJECT: Final = 0.8
"""Share of both sentences' words that agree."""
_SAID_SUBJECT: Final = 0.3
"""The same, for a sentence that says itself that another one is wrong."""
_EXISTS: Final = frozenset("있없않")
"""With which Korean says that something is, or is not."""
_WORD: Final = re.compile(r"[^\W\d_]+")
_read = lru_cache(maxsize=1_024)(read_statement)
"""A finding is compared with every other one."""
_SAYS_WRONG: Final = re.compile(
    r"""\b(?:contrary\sto|incorrect|wrong(?:ly)?|erroneous(?:ly)?|retract\w*|correction)\b
      | \b(?:debunk\w*|myth|disput\w+)\b
      | 정정 | 바로잡 | 사실과\s다르 | 사실이\s아니 | 오보 | 잘못\s?(?:알려|보도|기재|표기)
    """,
    re.VERBOSE | re.IGNORECASE,
)
_SUPERSEDES: Final = re.compile(
    r"""\b(?:now|no\slonger|updated?|revised?|correct(?:ed|ion)|as\sof|since|currently|new)\b
      | 정정 | 수정 | 개정 | 변경 | 현재 | 새로 | 바뀌 | 바뀐 | 더\s이상 | 이제
    """,
    re.VERBOSE | re.IGNORECASE,
)


_OUT_OF_DATE: Final = re.compile(
    r"""\b(?:superseded|deprecated|obsolete|outdated|archived?|former(?:ly)?|legacy|no\slonger|replaced)\b
      | \b(?:old|previous)\s(?:rule|version|polic|pric|rate|limit|terms)
      | \buntil\s(?:the\send\sof\s)?(?:\w+\s)?\d{4}
      | 폐지 | 구\s?버전 | 이전\s?(?:버전|규정|정책) | 더\s이상 | 만료
    """,
    re.VERBOSE | re.IGNORECASE,
)
_ASKS: Final[Mapping[ContradictionKind, re.Pattern[str]]] = {
    "date": re.compile(
        r"\bwhen\b|\bwhat\s(?:year|date|day)|\bsince\swhen|언제|며칠|몇\s?[년월일](?!간)", re.IGNORECASE
    ),
    "number": re.compile(
        r"\bhow\s(?:many|much|long|old|far|high|tall|large|big|often|deep|wide|fast)\b|얼마|몇"
        r"|\bwhat\s(?:is|are|was)\sthe\s(?:\w+\s){0,2}?(?:limit|price|number|rate|size|length|default|fee)",
        re.IGNORECASE,
    ),
    "name": re.compile(
        r"\bwho(?:se|m)?\b|\bwhich\s(?:company|person|team|city|country)|누구|누가", re.IGNORECASE
    ),
}


def contradictions(findings: Sequence[SourcedText]) -> list[Contradiction]:
    """Return each pair of findings that contradict each other, in their order."""
    return [found for one, other in combinations(findings, 2) for found in _between(one, other)]


def contradictions_in(question: str, said: Sequence[SourcedText]) -> list[Contradiction]:
    """Return the pairs of sentences that answer a question with different values in the place it asks for.

    Parameters
    ----------
    question : str
        For a number, a date, a name, or yes or no; of another one, only `contradictions` are found.
    said : sequence of SourcedText
        Sentences that may answer it, so that they need not share as many words.
    """
    kind = _asked_kind(question)
    found: list[Contradiction] = []
    for one, other in combinations(said, 2):
        differs = _differs_in(kind, question, one.text, other.text) if kind else None
        found += [_ordered(one, other, differs)] if differs else _between(one, other)
    return found


def is_out_of_date(heading: str) -> bool:
    """Whether a heading says that what stands below it no longer holds."""
    return _OUT_OF_DATE.search(heading) is not None


def _asked_kind(question: str) -> ContradictionKind | None:
    if asks_yes_or_no(question):
        return "negation"
    return next((kind for kind, words in _ASKS.items() if words.search(question)), None)


def _differs_in(kind: ContradictionKind, question: str, one: str, other: str) -> ContradictionKind | None:
    here, there = _read(one), _read(other)
    are_named = here.names and there.names
    if kind != "name" and are_named and _other_names(here, there) and _other_names(there, here):
        return None
    is_then = not (here.dates and there.dates) or _dates_agree(here, there)
    if kind == "date":
        known = set(_read(question).dates)
        new = [{date for date in part.dates if date not in known} for part in (here, there)]
        return "date" if all(new) and not any(dates_agree(a, b) for a in new[0] for b in new[1]) else None
    if not is_then:
        return None
    if kind == "number":
        return "number" if _numbers_apart(one, other) else None
    if kind == "name":
        asked = _read(question).letters
        names = [
            {name for name in part.names if not word_letters(stems(name)) & asked} for part in (here, there)
        ]
        return "name" if all(names) and not names[0] & names[1] else None
    is_denied = denies(here, there) or denies(there, here) or are_opposed(one, other)
    return "negation" if is_denied else None


def _dates_agree(here: ComparedText, there: ComparedText) -> bool:
    return any(dates_agree(a, b) for a in here.dates for b in there.dates)


def _between(one: SourcedText, other: SourcedText) -> Iterator[Contradiction]:
    kind = _kind(one.text, other.text)
    if kind is not None:
        yield _ordered(one, other, kind)


def _ordered(one: SourcedText, other: SourcedText, kind: ContradictionKind) -> Contradiction:
    """Put what is out of date first, else what is earlier."""
    is_old = is_out_of_date(one.heading) - is_out_of_date(other.heading)
    is_later = one.published is not None and other.published is not None and one.published > other.published
    a, b = (other, one) if is_old < 0 or (not is_old and is_later) else (one, other)
    about = " ".join(word for word in _WORD.findall(a.text) if set(stems(word)) & set(stems(b.text)))
    pair = Contradiction(a, b, about, kind, is_superseded=False)
    says_so = pair.is_dated and _SUPERSEDES.search(f"{b.heading}\n{b.text}") is not None
    return replace(pair, is_superseded=bool(is_old) or says_so)


def _kind(one: str, other: str) -> ContradictionKind | None:
    here, there = _read(one), _read(other)
    shared = _shared(here, there)
    if shared < _SAID_SUBJECT or _other_names(here, there):
        return None
    differs = _differs(here, there, one, other)
    if differs and _SAYS_WRONG.search(f"{one}\n{other}"):
        return "stated"
    return differs if shared >= SAME_SUBJECT and not _exchanged(here, there) else None


def _differs(here: ComparedText, there: ComparedText, one: str, other: str) -> ContradictionKind | None:
    """The first thing that differs; of another time, nothing else counts."""
    apart = _numbers_apart(one, other)
    if here.dates and there.dates and not any(dates_agree(a, b) for a in here.dates for b in there.dates):
        return None if apart or here.quantities or there.quantities else "date"
    if bool(here.dates) != bool(there.dates):
        return None
    if apart:
        return "number"
    return "negation" if denies(here, there) or denies(there, here) else None


def _numbers_apart(one: str, other: str) -> bool:
    """Whether there is a unit in which both have amounts, and none of them agree.

    Bare numbers, such as those of a list, do not count beside an amount with a unit in which both agree.
    """
    here, there = read_spans(split_dates(one)[1]), read_spans(split_dates(other)[1])
    units = {span.unit for span in here} & {span.unit for span in there}
    apart = {unit for unit in units if not _any_agree(here, there, unit)}
    return bool(apart - {""} if any(units - apart - {""}) else apart)


def _any_agree(here: Sequence[Span], there: Sequence[Span], unit: str) -> bool:
    return any(spans_agree(a, b) for a in here for b in there if a.unit == unit)


def _words(statement: ComparedText) -> set[str]:
    words = (word for word in statement.subject if word not in IGNORED and word[0] not in _EXISTS)
    return {SAME.get(word, word) for word in words}


def _shared(here: ComparedText, there: ComparedText) -> float:
    """Dice coefficient of the words."""
    one, other = _words(here), _words(there)
    return 2 * len(one & other) / max(1, len(one) + len(other))


def _exchanged(here: ComparedText, there: ComparedText) -> bool:
    """Whether each has a word that the other lacks: ``net profit``, ``gross profit``."""
    one, other = _words(here), _words(there)
    return bool(one - other) and bool(other - one)


def _other_names(here: ComparedText, there: ComparedText) -> bool:
    return any(
        not word_letters(stems(name)) & other.letters
        for one, other in ((here, there), (there, here))
        for name in one.names
    )
