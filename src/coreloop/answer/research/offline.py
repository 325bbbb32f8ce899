"""Planning and reflecting without a model: by a question's parts and words, and sentences of sources."""

import re
from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, datetime
from typing import Final

from coreloop.answer.models.contracts import (
    Material,
    PlannedQuery,
    PlanResponse,
    ReflectionResponse,
    ReplyMetadata,
    ReportedFinding,
)
from coreloop.answer.models.ladder import OFFLINE
from coreloop.answer.research.next_queries import with_synonyms
from coreloop.answer.text.rank import asked_kind, is_name, rank
from coreloop.answer.text.terms import search_words

MayMark = Callable[[str], bool]
MAX_QUOTES: Final = 2  # for each part of a question


def plan_offline(material: Material) -> PlanResponse:
    """Plan to search for each part of a question, and for all of it."""
    parts = question_parts(material.question)
    queries = dict.fromkeys(" ".join(search_words(text)) for text in (*parts, material.question))
    return PlanResponse(
        queries=tuple(PlannedQuery(query=query, intent="answer") for query in queries if query),
        sub_questions=parts,
        complexity_tier=("simple", "standard", "deep")[min(len(parts), 3) - 1],
    )


def reflect_offline(material: Material, may_mark: MayMark = lambda _: True) -> ReflectionResponse:
    """Report the marked sentences of the best passages as findings, and search for the parts without one."""
    findings = list[ReportedFinding]()
    gaps = list[str]()
    for part in material.sub_questions or question_parts(material.question):
        said = list(_quotes(part, material, may_mark))
        findings += said
        gaps += [] if said else [part]
    return ReflectionResponse(
        sufficient=bool(findings) and not gaps,
        confidence=0.0,
        gaps=tuple(gaps),
        new_queries=tuple(_new_queries(gaps, material.searched)),
        metadata=ReplyMetadata(timestamp=datetime.now(UTC), model=OFFLINE, token_count=0),
        findings=tuple(findings),
    )


def _quotes(part: str, material: Material, may_mark: MayMark) -> Iterator[ReportedFinding]:
    """Yield what the best passages say to a part of the question."""
    for hit in rank(part, material.sources, may_mark=may_mark)[:MAX_QUOTES]:
        if hit.is_near:
            text = material.sources[hit.number - 1].text[hit.start : hit.end]
            number = material.sources[hit.number - 1].number
            yield ReportedFinding(text=text, sources=(f"[{number}]",), answers=(part,))


def _new_queries(gaps: Sequence[str], searched: Sequence[str]) -> Iterator[PlannedQuery]:
    """Yield, for each gap, the first query that was not executed: its words, and synonyms of them."""
    for gap in gaps:
        words = search_words(gap)
        queries = map(" ".join, [words, with_synonyms(words)])
        if query := next((query for query in queries if query not in searched), None):
            yield PlannedQuery(query=query, intent="gap")


MAX_PARTS: Final = 5
_PART: Final = re.compile(
    r"""(?<=[?？])\s+
      | (?:,|(?<![\s,]))\s++  # white space from its beginning: from each space of a run costs its square
        (?: 그리고\s+ | and\s+(?=(?:how|what|when|where|which|who|why)\b) )""",
    re.IGNORECASE | re.VERBOSE,
)  # "What is it, and why?" -> "What is it", "why?"


_AND: Final = re.compile(r"(?<=[가-힣][고며]),?\s+")  # 매출은 얼마이고 대표는 누구인가?
_ASKING: Final = re.compile(r"누구|누가|무엇|어디|언제|얼마|몇|며칠|왜|어떻")


def question_parts(question: str) -> tuple[str, ...]:
    """Split a question into the questions that it consists of, at most `MAX_PARTS`."""
    halves = ((part, _AND.split(part, 1)) for part in _PART.split(question))
    whole = (split if all(map(_ASKING.search, split)) else [part] for part, split in halves)
    parts = [part.strip() for split in whole for part in split]
    return tuple(dict.fromkeys(part for part in parts if part))[:MAX_PARTS]


_FEW_WORDS: Final = 2  # of a question that may lack its subject
_NUMBER: Final = re.compile(r"[\d.,]+")
_REFERS: Final = re.compile(
    r"(?i)\A(?:and|but|then|what about|how about|그럼|그러면|그렇다면|그리고|그런데)\s"
    r"|\b(?:its?|they|their|them|there|he|his|she|her|one)\b"
    r"|(?<![가-힣])(?:그것?|거기|그곳)(?:[은는이가의]|에서?)?\s"
)  # what makes a question one about the question before


def readings(question: str, before: str) -> Iterator[str]:
    """Yield what a question may mean after another: that one with another word, or asked of its subject."""
    asked, new = search_words(before), search_words(_REFERS.sub(" ", question))
    units = {_NUMBER.sub("", word): word for word in asked if word[0].isdecimal()}
    for word in new:
        before = before.replace(units.get(_NUMBER.sub("", word), word), word, 1)
    other = " ".join(word for word in new if word not in before)
    alike = sorted(asked, key=lambda word: word[-2:] != other[-2:])
    swapped = [before.replace(word, other, 1) for word in alike if word in before] if other else [before]
    subjects = sorted(asked, key=lambda word: not is_name(word))
    asking = question if _REFERS.search(question) else f"it {question}"
    of_subject = [_REFERS.sub(f" {word} ", asking) for word in subjects]
    yield from (*of_subject, *swapped) if asked_kind(question) else (*swapped, *of_subject)


def complete(question: str, before: str, is_said: Callable[[str], bool]) -> str:
    """Complete a question that refers to the one before it: to what is said, else to the likeliest."""
    n_words = len(search_words(question))
    is_short = n_words < _FEW_WORDS or (n_words == _FEW_WORDS and not is_said(question))
    if not before or not (is_short or _REFERS.search(question)):
        return question
    meant = [" ".join(reading.split()) for reading in readings(question, before)]
    return next(filter(is_said, meant), meant[0])
