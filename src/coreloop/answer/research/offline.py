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
    Tier,
)
from coreloop.answer.models.ladder import OFFLINE
from coreloop.answer.research.next_queries import with_synonyms
from coreloop.answer.text.rank import rank
from coreloop.answer.text.terms import search_words

MayMark = Callable[[str], bool]
MAX_QUOTES: Final = 2  # for each part of a question


def plan_offline(material: Material) -> PlanResponse:
    """Plan to search for each part of a question, and for all of it."""
    question = material.question
    parts, tier = question_parts(question), question_tier(question)
    wholes = () if tier == "simple" else (question,)
    queries = dict.fromkeys(" ".join(search_words(text)) for text in (*parts, *wholes))
    return PlanResponse(
        queries=tuple(PlannedQuery(query=query, intent="answer") for query in queries if query),
        sub_questions=parts,
        complexity_tier=tier,
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


def question_parts(question: str) -> tuple[str, ...]:
    """Split a question into the questions that it consists of, at most `MAX_PARTS`."""
    parts = [part.strip() for part in _PART.split(question)]
    return tuple(dict.fromkeys(part for part in parts if part))[:MAX_PARTS]


def question_tier(question: str) -> Tier:
    """Say how much work a question needs, by its parts."""
    return ("simple", "standard", "deep")[min(len(question_parts(question)), 3) - 1]
