"""The model without network, key or price: it plans with a question's own words and reflects on sentences."""

from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, datetime
from itertools import chain
from typing import Final, TypeVar, cast

from coreloop.answer.models.contracts import (
    Contract,
    PlannedQuery,
    PlanResponse,
    ReflectionResponse,
    ReplyMetadata,
    ReportedFinding,
)
from coreloop.answer.models.model import CallLimits, Message, Reply, Usage
from coreloop.answer.models.prompt import Material, read_material
from coreloop.answer.models.question_parts import question_parts, question_tier, with_synonyms
from coreloop.answer.text.rank import rank, verdict
from coreloop.answer.text.terms import search_words
from coreloop.base.errors import ModelError

T = TypeVar("T", bound=Contract)
NAME: Final = "offline"
MAX_QUOTES: Final = 2
"""For each part of a question."""
_FREE: Final = Usage(NAME, microusd=0)
Quote = tuple[str, int]
"""A sentence, and the number of its source."""


class OfflineModel:
    """Plans and reflects with the question's own words and sentences of the sources, always the same way.

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
        """Plan or reflect, see `coreloop.answer.models.prompt.user_message`.

        Raises
        ------
        ModelError
            Something else is asked: without a model, passages are the answer.
        """
        material = read_material(messages)
        if schema is PlanResponse:
            return Reply(cast("T", _plan(material.question)), _FREE)
        if schema is ReflectionResponse:
            return Reply(cast("T", _reflection(material, self._now())), _FREE)
        raise ModelError(f"{NAME}: answers are passages", kind="refused")


def _plan(question: str) -> PlanResponse:
    parts, tier = question_parts(question), question_tier(question)
    wholes = () if tier == "simple" else (question,)
    queries = dict.fromkeys(" ".join(search_words(text)) for text in (*parts, *wholes))
    return PlanResponse(
        queries=tuple(PlannedQuery(query=query, intent="answer") for query in queries if query),
        sub_questions=parts,
        complexity_tier=tier,
    )


def _reflection(material: Material, now: datetime) -> ReflectionResponse:
    parts = _answered(material)
    gaps = tuple(question for question, quotes in parts.items() if not quotes)
    return ReflectionResponse(
        sufficient=bool(parts) and not gaps,
        confidence=_confidence(parts),
        gaps=gaps,
        new_queries=tuple(_new_queries(gaps, material.searched)),
        metadata=ReplyMetadata(timestamp=now, model=NAME, token_count=0),
        findings=tuple(
            ReportedFinding(
                text=quote[0],
                sources=(f"[{quote[1]}]",),
                answers=tuple(question for question, quotes in parts.items() if quote in quotes),
            )
            for quote in dict.fromkeys(quote for quotes in parts.values() for quote in quotes)
        ),
    )


def _answered(material: Material) -> dict[str, list[Quote]]:
    """Return the marked sentences of the best passages for each part of the question."""
    answered = {}
    for question in material.sub_questions or question_parts(material.question):
        hits = rank(question, material.sources)
        is_told = verdict(question, hits) != "nothing said so"
        told = [*hits[:1], *(hit for hit in hits[1:MAX_QUOTES] if hit.is_near)] if is_told else []
        answered[question] = [
            (read.text[hit.start : hit.end], read.number)
            for hit in told
            for read in (material.sources[hit.number - 1],)
        ]
    return answered


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
