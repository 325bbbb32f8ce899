"""Sentences that cannot both be true: another number, date or denial about the same words.

Precision before recall: two sentences are about the same if nearly all of their words agree, or if both have
the same words of the question that they answer.
"""

import re
from collections import defaultdict
from collections.abc import Sequence
from itertools import combinations
from typing import Final

from coreloop.answer.research.findings import Contradiction, ContradictionKind, SourcedText
from coreloop.answer.text.claims import is_denied, names
from coreloop.answer.text.rank import asked_kind, asks_for_fact
from coreloop.answer.text.terms import is_cjk, keys

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
    asked, kind = _words(question), asked_kind(question)
    is_of_fact = bool(question) and asks_for_fact(question)
    return [
        _ordered(one, other, differs)
        for one, other in combinations(said, 2)
        if _are_alike(one.text, other.text) or (is_of_fact and _answer_alike(asked, one.text, other.text))
        if (differs := _differs(one.text, other.text, is_of_number=kind == "number"))
    ]


def _differs(one: str, other: str, *, is_of_number: bool) -> ContradictionKind | None:
    """The first thing that differs; of another time, nothing else counts."""
    years = [frozenset(_YEAR.findall(text)) for text in (one, other)]
    if all(years) and not years[0] & years[1]:
        return None if (_amounts(one).keys() | _amounts(other).keys()) - {"월", "일"} else "date"
    if _numbers_apart(_amounts(one), _amounts(other), is_of_number=is_of_number):
        return "number"
    return "negation" if is_denied(one) != is_denied(other) else None


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
    return bool(here & asked) and here & asked == there & asked and not of_others


def _words(text: str) -> frozenset[str]:
    return frozenset(word for word in keys(text) if not word[0].isdecimal()) - _IGNORED


def _ordered(one: SourcedText, other: SourcedText, kind: ContradictionKind) -> Contradiction:
    """Put what is earlier first."""
    turned = Contradiction(other, one, kind)
    return turned if turned.is_dated else Contradiction(one, other, kind)
