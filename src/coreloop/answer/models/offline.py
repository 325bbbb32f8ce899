"""The model without network, key or price: it searches for a question's own words and quotes sentences."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
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
from coreloop.answer.models.prompt import Material, NumberedSource, read_material
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


def notice(question: str) -> str:
    """Return the sentence in which this model says what it is, in the language of a question."""
    return _QUOTED[is_korean(question)]


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
        answer = _ANSWERS.get(schema)
        if answer is None:
            raise ModelError(
                f"{NAME}: no answers of the type {schema.__name__}",
                kind="rejected",
            )
        metadata = ReplyMetadata(timestamp=self._now(), model=NAME, token_count=0)
        return Reply(cast("T", answer(read_material(messages), metadata)), _FREE)


@dataclass(frozen=True, slots=True)
class _Part:
    """A part of the question, and the sentences that answer it with the numbers of their sources."""

    question: str
    quotes: tuple[tuple[str, int], ...]


def _plan(material: Material, _metadata: ReplyMetadata) -> PlanResponse:
    parts = question_parts(material.question)
    tier = question_tier(material.question)
    wholes = () if tier == "simple" else (material.question,)
    queries = dict.fromkeys(" ".join(search_words(text)) for text in (*parts, *wholes))
    return PlanResponse(
        queries=tuple(PlannedQuery(query=query, intent="answer") for query in queries if query),
        sub_questions=parts,
        complexity_tier=tier,
    )


def _reflect(material: Material, metadata: ReplyMetadata) -> ReflectionResponse:
    parts = _answered(material)
    gaps = tuple(part.question for part in parts if not part.quotes)
    quotes = dict.fromkeys(quote for part in parts for quote in part.quotes)
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
                answers=tuple(part.question for part in parts if quote in part.quotes),
            )
            for quote in quotes
        ),
    )


def _synthesise(material: Material, metadata: ReplyMetadata) -> SynthesisResponse:
    answer, citations = _quoted_answer(material, _answered(material))
    return SynthesisResponse(answer=answer, citations=citations, metadata=metadata)


def _respond(material: Material, _metadata: ReplyMetadata) -> LlmResponse:
    parts = _answered(material)
    answer, citations = _quoted_answer(material, parts)
    return LlmResponse(
        intent="find",
        answer=answer,
        citations=citations,
        confidence=_confidence(parts),
    )


_ANSWERS: Final[Mapping[type[Contract], Callable[[Material, ReplyMetadata], Contract]]] = {
    PlanResponse: _plan,
    ReflectionResponse: _reflect,
    SynthesisResponse: _synthesise,
    LlmResponse: _respond,
}


def _answered(material: Material) -> list[_Part]:
    sources = [_source(source) for source in material.sources]
    questions = material.sub_questions or question_parts(material.question)
    return [_Part(question, _quotes(question, material, sources)) for question in questions]


def _source(source: NumberedSource) -> Source:
    return Source(
        title=source.title,
        location=source.location,
        type=source.type,
        text=source.text,
        retrieved_at=datetime.min.replace(tzinfo=UTC),
    )


def _quotes(question: str, material: Material, sources: Sequence[Source]) -> tuple[tuple[str, int], ...]:
    """Return the marked sentences of the best passages, with the numbers of their sources."""
    hits = rank(question, sources)
    if verdict(question, hits) == "nothing said so":
        return ()
    told = [hits[0], *(hit for hit in hits[1:MAX_QUOTES] if hit.is_near)]
    texts = ((sources[hit.number - 1].text[hit.start : hit.end], hit) for hit in told)
    return tuple((text, material.sources[hit.number - 1].number) for text, hit in texts)


def _confidence(parts: Sequence[_Part]) -> float:
    """Return the share of the parts that have an answer."""
    return round(sum(bool(part.quotes) for part in parts) / len(parts), 3) if parts else 0.0


def _new_queries(gaps: Sequence[str], searched: Sequence[str]) -> Iterator[PlannedQuery]:
    """Yield, for each gap, the first query that was not executed: its words, synonyms, then fewer of them."""
    for gap in gaps:
        words = search_words(gap)
        fewer = (" ".join(words[:count]) for count in range(len(words), 0, -1))
        queries = chain([" ".join(words), " ".join(with_synonyms(words))], fewer)
        query = next((query for query in queries if query and query not in searched), None)
        if query is not None:
            yield PlannedQuery(query=query, intent="gap")


def _quoted_answer(material: Material, parts: Sequence[_Part]) -> tuple[str, tuple[Citation, ...]]:
    """Return the opening sentence and the quotes, a line each, and the sources of the quotes."""
    quotes = dict.fromkeys(quote for part in parts for quote in part.quotes)
    korean = is_korean(material.question)
    if not quotes:
        return f"{_QUOTED[korean]} {_NOTHING[korean]}", ()
    lines = [_QUOTED[korean], *(f"{without_footnotes(text)} [{number}]" for text, number in quotes)]
    used = {number for _, number in quotes}
    return "\n".join(lines), tuple(_citation(source) for source in material.sources if source.number in used)


def _citation(source: NumberedSource) -> Citation:
    return Citation(id=f"[{source.number}]", title=source.title, type=source.type, location=source.location)
