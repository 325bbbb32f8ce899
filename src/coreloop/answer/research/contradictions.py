"""Findings that cannot both be true: one subject and attribute, and another number, date or negation.

Precision before recall: sentences are about the same thing only if nearly all of their words agree.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import date
from functools import lru_cache
from itertools import combinations
from typing import Final, Literal

from coreloop.answer.models.dates import dates_agree, split_dates
from coreloop.answer.models.ranking import word_letters
from coreloop.answer.research.quantities import Span, read_spans, spans_agree
from coreloop.answer.research.statement import Statement, read_statement
from coreloop.answer.research.support import denies
from coreloop.answer.research.tables import IGNORED, SAME
from coreloop.base.language.words import stems

Kind = Literal["number", "date", "negation", "stated"]

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
    r"""\b(?:contrary\sto|incorrect|wrong(?:ly)?|erroneous(?:ly)?|retract\w*|correction|debunk\w*|myth|disput\w+)\b
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


@dataclass(frozen=True, slots=True)
class SourcedText:
    """A sentence and where it was found.

    Attributes
    ----------
    text : str
    sources : tuple of int
        Numbers of the sources that say so.
    published : date or None
        Of the newest of them; None if unknown.
    """

    text: str
    sources: tuple[int, ...]
    published: date | None = None


@dataclass(frozen=True, slots=True)
class Contradiction:
    """Two sentences that cannot both be true.

    Attributes
    ----------
    a, b : SourcedText
        The earlier one first, where both dates are known.
    about : str
        The words of ``a`` that both have.
    kind : str
        What differs: ``number``, ``date``, ``negation``; ``stated`` if one of them says that the other is
        wrong.
    is_superseded : bool
        ``b`` is later and says that something changed.
    """

    a: SourcedText
    b: SourcedText
    about: str
    kind: Kind
    is_superseded: bool


def contradictions(findings: Sequence[SourcedText]) -> list[Contradiction]:
    """Return each pair of findings that contradict each other, in their order."""
    return [found for one, other in combinations(findings, 2) for found in _between(one, other)]


def _between(one: SourcedText, other: SourcedText) -> Iterator[Contradiction]:
    kind = _kind(one.text, other.text)
    if kind is None:
        return
    is_later = one.published is not None and other.published is not None and one.published > other.published
    a, b = (other, one) if is_later else (one, other)
    is_dated = a.published is not None and b.published is not None and a.published < b.published
    about = " ".join(word for word in _WORD.findall(a.text) if set(stems(word)) & set(stems(b.text)))
    yield Contradiction(a, b, about, kind, is_dated and _SUPERSEDES.search(b.text) is not None)


def _kind(one: str, other: str) -> Kind | None:
    here, there = _read(one), _read(other)
    shared = _shared(here, there)
    if shared < _SAID_SUBJECT or _other_names(here, there):
        return None
    differs = _differs(here, there, one, other)
    if differs and _SAYS_WRONG.search(f"{one}\n{other}"):
        return "stated"
    return differs if shared >= SAME_SUBJECT and not _exchanged(here, there) else None


def _differs(here: Statement, there: Statement, one: str, other: str) -> Kind | None:
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
    """Whether there is a unit in which both have amounts, and none of them agree."""
    here, there = read_spans(split_dates(one)[1]), read_spans(split_dates(other)[1])
    units = {span.unit for span in here} & {span.unit for span in there}
    return any(not _any_agree(here, there, unit) for unit in units)


def _any_agree(here: Sequence[Span], there: Sequence[Span], unit: str) -> bool:
    return any(spans_agree(a, b) for a in here for b in there if a.unit == unit)


def _words(statement: Statement) -> set[str]:
    words = (word for word in statement.subject if word not in IGNORED and word[0] not in _EXISTS)
    return {SAME.get(word, word) for word in words}


def _shared(here: Statement, there: Statement) -> float:
    """Dice coefficient of the words."""
    one, other = _words(here), _words(there)
    return 2 * len(one & other) / max(1, len(one) + len(other))


def _exchanged(here: Statement, there: Statement) -> bool:
    """Whether each has a word that the other lacks: ``net profit``, ``gross profit``."""
    one, other = _words(here), _words(there)
    return bool(one - other) and bool(other - one)


def _other_names(here: Statement, there: Statement) -> bool:
    return any(
        not word_letters(stems(name)) & other.letters
        for one, other in ((here, there), (there, here))
        for name in one.names
    )
