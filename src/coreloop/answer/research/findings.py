"""Findings: what sources say, how sure it is, two that differ; and hypotheses, for which findings weigh."""

import re
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any, Final, Literal

from coreloop.answer.search.extract.file_date import last_day
from coreloop.answer.text.claims import is_denied, names
from coreloop.answer.text.rank import asked_kind, asks_for_fact
from coreloop.answer.text.terms import is_cjk, keys

CONTRADICTED: Final = "⚠ CONTRADICTED"
VERIFIED: Final = "✓✓ VERIFIED"
HIGH: Final = "✓ HIGH"
LIKELY: Final = "~ LIKELY"
UNCERTAIN: Final = "? UNCERTAIN"
ContradictionKind = Literal["number", "date", "negation"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """A sentence that sources say.

    Attributes
    ----------
    text : str
        One sentence.
    sources : tuple of int
        Numbers of the sources whose text supports it.
    confidence : float
        0–1, by the number of independent origins.
    tag : str
        One of `CONTRADICTED`, `VERIFIED`, `HIGH`, `LIKELY` and `UNCERTAIN`.
    iteration : int
        In which it was first recorded.
    answers : tuple of str
        Ids of the sub-questions that it answers.
    """

    text: str
    sources: tuple[int, ...]
    confidence: float = 0.0
    tag: str = UNCERTAIN
    iteration: int
    answers: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class SourcedText:
    """A sentence, the numbers of the sources that say so, and the date of the newest, None if unknown."""

    text: str
    sources: tuple[int, ...]
    published: str | None = None


@dataclass(frozen=True, slots=True)
class Contradiction:
    """Two sentences that cannot both be true.

    Attributes
    ----------
    a, b : SourcedText
        The earlier one first, where both dates are known.
    kind : str
        What differs: ``number``, ``date`` or ``negation``.
    """

    a: SourcedText
    b: SourcedText
    kind: ContradictionKind

    @property
    def is_dated(self) -> bool:
        """Whether ``b`` is known to be later."""
        earlier, later = last_day(self.a.published), last_day(self.b.published)
        return bool(earlier) and earlier < later

    @property
    def texts(self) -> frozenset[str]:
        return frozenset((self.a.text, self.b.text))

    @property
    def sources(self) -> tuple[int, ...]:
        return self.a.sources + self.b.sources


def citation_marks(numbers: Sequence[int]) -> str:
    """Return ``[1][3]``."""
    return "".join(f"[{number}]" for number in numbers)


Stance = Literal["supports", "contradicts", "neutral"]
START: Final = 0.5  # this and the next two as the specification has them
FOR: Final = 0.10  # see above
AGAINST: Final = -0.15  # see above
MAX_ACTIVE: Final = 5
_RECENT_ITERATIONS: Final = 2  # the specification: recent if last_updated >= current_iteration - 2
_MANY: Final = 10  # pieces of supporting evidence that make the density 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Weight:
    """A piece of evidence for or against a hypothesis.

    Attributes
    ----------
    source : str
        Locations of the finding's sources.
    summary : str
        The finding.
    confidence : float
        Of the finding, 0–1.
    iteration : int
        In which it was counted.
    """

    source: str
    summary: str
    confidence: float
    iteration: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Hypothesis:
    """A statement to test.

    Attributes
    ----------
    id : str
        ``h1``, ``h2``, …
    statement : str
        One sentence.
    confidence : float
        0–1, from `START`.
    priority_score : float
        0–1, see `priority`.
    supporting_evidence, contradicting_evidence : tuple of Weight
        Findings, each once.
    last_updated_iteration : int
        In which it was made, or got its last evidence.
    """

    id: str
    statement: str
    confidence: float = START
    priority_score: float = 0.0
    supporting_evidence: tuple[Weight, ...] = ()
    contradicting_evidence: tuple[Weight, ...] = ()
    last_updated_iteration: int = 0


def with_evidence(hypothesis: Hypothesis, evidence: Weight, stance: Stance) -> Hypothesis:
    """Count a piece of evidence; one that was counted already, or is neutral, changes nothing."""
    counted = hypothesis.supporting_evidence + hypothesis.contradicting_evidence
    if stance == "neutral" or evidence.summary in {known.summary for known in counted}:
        return hypothesis
    side, weight = ("supporting", FOR) if stance == "supports" else ("contradicting", AGAINST)
    changed: dict[str, Any] = {f"{side}_evidence": (*getattr(hypothesis, f"{side}_evidence"), evidence)}
    changed["confidence"] = round(min(1.0, max(0.0, hypothesis.confidence + weight)), 2)
    return replace(hypothesis, last_updated_iteration=evidence.iteration, **changed)


def priority(hypothesis: Hypothesis, *, iteration: int) -> float:
    """Return 0.5 confidence + 0.3 density + 0.2 recency.

    The density is (for − 0.5 against) / 10 within 0–1; the recency is 1.0 if the last evidence is at most two
    iterations old, else 0.5.
    """
    supporting, against = len(hypothesis.supporting_evidence), len(hypothesis.contradicting_evidence)
    density = min(1.0, max(0.0, (supporting - 0.5 * against) / _MANY))
    recency = 1.0 if iteration - hypothesis.last_updated_iteration <= _RECENT_ITERATIONS else 0.5
    return round(0.5 * hypothesis.confidence + 0.3 * density + 0.2 * recency, 4)


def ranked(hypotheses: Iterable[Hypothesis], *, iteration: int) -> list[Hypothesis]:
    """Return the hypotheses with their priorities after an iteration, the highest first.

    The first `MAX_ACTIVE` are active, the others are kept for review.
    """
    scored = [
        replace(hypothesis, priority_score=priority(hypothesis, iteration=iteration))
        for hypothesis in hypotheses
    ]
    return sorted(scored, key=lambda hypothesis: (-hypothesis.priority_score, hypothesis.id))


SAME_SUBJECT: Final = 0.8  # share of both sentences' words that agree
_YEAR: Final = re.compile(r"(?<![\d.,])(?:1\d{3}|20\d\d)(?![\d,]|\.\d|\s?[%만억조천백명원개])")
_AMOUNT: Final = re.compile(
    rf"(?<![\w.,])(?P<currency>[$€£₩¥])?(?!{_YEAR.pattern})(?P<number>\d[\d,]*(?:\.\d+)?)"
    r"[\s-]?(?P<unit>%|percent|[A-Za-z]+|[가-힣])?"
)
_ITEM: Final = re.compile(r"^\s*\d{1,2}[.)]\s")  # 4. of a list
_INEXACT: Final = re.compile(
    r"\d\s?[-–~∼]\s?\d|\b(?:about|around|over|under|at least|at most|more than|less than|up to|roughly)\b"
    r"|약\s?\d|이상|이하|초과|미만|정도|가량"
)
# Words that say how sure or how exact a statement is, not what it is about.
_IGNORED: Final = keys(
    "now current currently still only about around approximately roughly nearly almost "
    "약 대략 현재 당시 년 년에 월 월에 일 일에"
)


def contradictions(said: Sequence[SourcedText], question: str = "") -> list[Contradiction]:
    """Return each pair of sentences that contradict each other, in their order.

    Parameters
    ----------
    said : sequence of SourcedText
        Sentences of sources.
    question : str
        That they may answer: for a number, a date, or yes or no, they need not share as many words.
    """
    asked, kind = _words(question if asks_for_fact(question) else ""), asked_kind(question)
    return [
        _ordered(one, other, differs)
        for one, other in combinations(said, 2)
        if _are_alike(one.text, other.text) or _answer_alike(asked, one.text, other.text)
        if (differs := _differs(one.text, other.text, kind))
    ]


def _differs(one: str, other: str, kind: str | None) -> ContradictionKind | None:
    """The first thing that differs; of another time, nothing else counts, nor what a fact beside denies."""
    years = [frozenset(_YEAR.findall(text)) for text in (one, other)]
    if all(years) and not years[0] & years[1]:
        return None if (_amounts(one).keys() | _amounts(other).keys()) - {"월", "일"} else "date"
    if _numbers_apart(_amounts(one), _amounts(other), is_of_number=kind == "number"):
        return "number"
    is_asked = kind is None or _are_alike(one, other)
    return "negation" if is_asked and is_denied(one) != is_denied(other) else None


def _numbers_apart(here: dict[str, set[str]], there: dict[str, set[str]], *, is_of_number: bool) -> bool:
    """Whether there is a unit in which both have exact numbers, and none of them agree.

    A number without a unit counts for a question for a number, if no other does.
    """
    units = (here.keys() & there.keys()) - {""} or ({""} if is_of_number else set())
    return any(not here.get(unit, {0}) & there.get(unit, {0}) for unit in units)


def _amounts(text: str) -> dict[str, set[str]]:
    """Return the numbers of a text by their units; none of a text that only says about how much."""
    found = defaultdict[str, set[str]](set)
    if not _INEXACT.search(text):
        for match in _AMOUNT.finditer(_ITEM.sub("", text)):
            unit = match["currency"] or (match["unit"] or "").casefold().removesuffix("s")
            found[unit[:1] if is_cjk(unit or "-") else unit].add(match["number"].replace(",", ""))
    return found


def _are_alike(one: str, other: str) -> bool:
    here, there = _words(one), _words(other)
    is_exchanged = bool(here - there) and bool(there - here)  # net profit, gross profit
    return not is_exchanged and 2 * len(here & there) >= SAME_SUBJECT * (len(here) + len(there))


def _answer_alike(asked: frozenset[str], one: str, other: str) -> bool:
    here, there = _words(one), _words(other)
    of_others = names(one) - names(other) and names(other) - names(one)
    return 2 * len(here & asked) >= max(1, len(asked)) and here & asked == there & asked and not of_others


def _words(text: str) -> frozenset[str]:
    return frozenset(word for word in keys(text) if not word[0].isdecimal()) - _IGNORED


def _ordered(one: SourcedText, other: SourcedText, kind: ContradictionKind) -> Contradiction:
    """Put what is earlier first."""
    turned = Contradiction(other, one, kind)
    return turned if turned.is_dated else Contradiction(one, other, kind)
