"""The model without network, key or price: it searches for a question's own words and quotes sentences."""

from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, datetime
from itertools import chain
from typing import Final, TypeVar, cast

from coreloop.answer.models.contracts import (
    Citation,
    Contract,
    LlmResponse,
    PlannedQuery,
    PlanResponse,
    ReflectionResponse,
    ReplyMetadata,
    ReportedFinding,
    SynthesisResponse,
)
from coreloop.answer.models.model import CallLimits, Message, Reply, Usage
from coreloop.answer.models.prompt import Material, read_material
from coreloop.answer.models.question_parts import question_parts, question_tier, with_synonyms
from coreloop.answer.search.source import Source
from coreloop.answer.text.rank import rank, verdict
from coreloop.answer.text.sentences import without_footnotes
from coreloop.answer.text.terms import is_korean, search_words
from coreloop.base.errors import ModelError

T = TypeVar("T", bound=Contract)
NAME: Final = "offline"
MAX_QUOTES: Final = 2
"""For each part of a question."""
_FREE: Final = Usage(NAME, microusd=0)
_QUOTED = {
    True: "이 답은 오프라인 모델이 자료의 문장을 그대로 모은 것입니다.",
    False: "The offline model put this answer together from sentences of the sources.",
}
_NOTHING = {
    True: "자료에 질문의 답이 되는 문장이 없습니다.",
    False: "No sentence of the sources answers the question.",
}
Quote = tuple[str, int]
"""A sentence, and the number of its source."""


def without_notice(answer: str) -> str:
    """Return an answer without the sentences in which this model speaks of itself."""
    for notice in (*_QUOTED.values(), *_NOTHING.values()):
        answer = answer.replace(notice, "")
    return answer


class OfflineModel:
    """Answers with the question's own words and with sentences of the sources, always the same way.

    Parameters
    ----------
    now : callable
        Returns the time for the metadata of a reply.
    """

    name = NAME

    def __init__(self, now: Callable[[], datetime] = lambda: datetime.now(UTC)) -> None:
        self._now = now

    def most(self, messages: Sequence[Message], limits: CallLimits) -> Usage:
        """Nothing: the model uses no tokens."""
        return _FREE

    def complete(self, messages: Sequence[Message], schema: type[T], limits: CallLimits) -> Reply[T]:
        """Answer the last user message, see `coreloop.answer.models.prompt.user_message`.

        Raises
        ------
        ModelError
            The contract is not one that this model knows.
        """
        material = read_material(messages)
        reply: Contract
        if schema is PlanResponse:
            reply = _plan(material.question)
        elif schema is ReflectionResponse:
            reply = _reflection(material, self._metadata())
        elif schema is SynthesisResponse:
            answer, citations = _quoted_answer(material, _answered(material))
            reply = SynthesisResponse(answer=answer, citations=citations, metadata=self._metadata())
        elif schema is LlmResponse:
            parts = _answered(material)
            answer, citations = _quoted_answer(material, parts)
            reply = LlmResponse(
                intent="find", answer=answer, citations=citations, confidence=_confidence(parts)
            )
        else:
            raise ModelError(f"{NAME}: no answers of the type {schema.__name__}", kind="rejected")
        return Reply(cast("T", reply), _FREE)

    def _metadata(self) -> ReplyMetadata:
        return ReplyMetadata(timestamp=self._now(), model=NAME, token_count=0)


def _plan(question: str) -> PlanResponse:
    parts, tier = question_parts(question), question_tier(question)
    wholes = () if tier == "simple" else (question,)
    queries = dict.fromkeys(" ".join(search_words(text)) for text in (*parts, *wholes))
    return PlanResponse(
        queries=tuple(PlannedQuery(query=query, intent="answer") for query in queries if query),
        sub_questions=parts,
        complexity_tier=tier,
    )


def _reflection(material: Material, metadata: ReplyMetadata) -> ReflectionResponse:
    parts = _answered(material)
    gaps = tuple(question for question, quotes in parts.items() if not quotes)
    return ReflectionResponse(
        sufficient=bool(parts) and not gaps,
        confidence=_confidence(parts),
        gaps=gaps,
        new_queries=tuple(_new_queries(gaps, material.searched)),
        metadata=metadata,
        findings=tuple(
            ReportedFinding(
                text=quote[0],
                sources=(f"[{quote[1]}]",),
                answers=tuple(question for question, quotes in parts.items() if quote in quotes),
            )
            for quote in _all(parts)
        ),
    )


def _answered(material: Material) -> dict[str, list[Quote]]:
    """Return the marked sentences of the best passages for each part of the question."""
    sources = [
        Source(
            title=source.title,
            location=source.location,
            type=source.type,
            text=source.text,
            retrieved_at=datetime.min.replace(tzinfo=UTC),
        )
        for source in material.sources
    ]
    answered = {}
    for question in material.sub_questions or question_parts(material.question):
        hits = rank(question, sources)
        is_told = verdict(question, hits) != "nothing said so"
        told = [*hits[:1], *(hit for hit in hits[1:MAX_QUOTES] if hit.is_near)] if is_told else []
        answered[question] = [
            (sources[hit.number - 1].text[hit.start : hit.end], material.sources[hit.number - 1].number)
            for hit in told
        ]
    return answered


def _all(parts: dict[str, list[Quote]]) -> list[Quote]:
    return list(dict.fromkeys(quote for quotes in parts.values() for quote in quotes))


def _confidence(parts: dict[str, list[Quote]]) -> float:
    """Return the share of the parts that have an answer."""
    return round(sum(map(bool, parts.values())) / len(parts), 3) if parts else 0.0


def _new_queries(gaps: Sequence[str], searched: Sequence[str]) -> Iterator[PlannedQuery]:
    """Yield, for each gap, the first query that was not executed: its words, synonyms, then fewer of them."""
    for gap in gaps:
        words = search_words(gap)
        fewer = (" ".join(words[:count]) for count in range(len(words), 0, -1))
        queries = chain([" ".join(words), " ".join(with_synonyms(words))], fewer)
        query = next((query for query in queries if query and query not in searched), None)
        if query is not None:
            yield PlannedQuery(query=query, intent="gap")


def _quoted_answer(material: Material, parts: dict[str, list[Quote]]) -> tuple[str, tuple[Citation, ...]]:
    """Return the opening sentence and the quotes, a line each, and the sources of the quotes."""
    quotes, korean = _all(parts), is_korean(material.question)
    if not quotes:
        return f"{_QUOTED[korean]} {_NOTHING[korean]}", ()
    lines = [_QUOTED[korean], *(f"{without_footnotes(text)} [{number}]" for text, number in quotes)]
    used = {number for _, number in quotes}
    citations = (
        Citation(id=f"[{source.number}]", title=source.title, type=source.type, location=source.location)
        for source in material.sources
        if source.number in used
    )
    return "\n".join(lines), tuple(citations)
