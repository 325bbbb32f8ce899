"""The model without network, key or price: it searches for a question's own words and quotes sentences."""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import chain, islice
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
from coreloop.answer.models.question_parts import (
    asks_how,
    asks_yes_or_no,
    is_korean,
    question_parts,
    question_tier,
    search_words,
)
from coreloop.answer.models.ranking import (
    ANSWER_AT,
    RankedSentence,
    gives_orders,
    rank_sentences,
    text_letters,
)
from coreloop.answer.models.sentences import Sentence, read_sentences, without_footnotes
from coreloop.answer.models.synonyms import with_synonyms
from coreloop.base.errors import ModelError
from coreloop.base.language.words import read_query

T = TypeVar("T", bound=Contract)
NAME: Final = "offline"
_NO_ANSWER: Final = re.compile(r"\A(?:[#|]|!\[|[-*]+\Z|\$ |>>> |def \w|class \w+\()|(?:[:…|]|\.\.\.)[*_]*\Z")
"""Headings, pictures, rows, commands, signatures, and what only announces: ``Do this:``."""
_ROW: Final = re.compile(r"\A(?:\||def |class )")
_ANNOUNCES: Final = re.compile(r"\A[^#!$>*-].*(?::|…|\.\.\.)\Z", re.DOTALL)
_LEAST_NEW: Final = 3
"""Words that an announcing sentence says beside the question's: ``Delete a run:`` says none."""
MAX_QUOTES: Final = 2
"""For each part of a question."""
_MAX_SENTENCES: Final = 5_000
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
    """A part of the question, and the sentences that answer it."""

    question: str
    quotes: tuple[RankedSentence, ...]

    @property
    def sentences(self) -> tuple[Sentence, ...]:
        return tuple(quote.sentence for quote in self.quotes)


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
    quotes = dict.fromkeys(quote.sentence for part in parts for quote in part.quotes)
    return ReflectionResponse(
        sufficient=bool(parts) and not gaps,
        confidence=_confidence(parts),
        gaps=gaps,
        new_queries=tuple(_new_queries(gaps, material.searched)),
        metadata=metadata,
        findings=tuple(
            ReportedFinding(
                text=sentence.text,
                sources=(f"[{sentence.source}]",),
                answers=tuple(part.question for part in parts if sentence in part.sentences),
            )
            for sentence in quotes
        ),
    )


def _synthesise(material: Material, metadata: ReplyMetadata) -> SynthesisResponse:
    answer, citations = _quoted_answer(material, _answered(material))
    return SynthesisResponse(answer=answer, citations=citations, metadata=metadata)


def _respond(material: Material, _metadata: ReplyMetadata) -> LlmResponse:
    parts = _answered(material)
    answer, citations = _quoted_answer(material, parts)
    intents = sorted(read_query(material.question).intents)
    return LlmResponse(
        intent=intents[0] if intents else "find",
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
    sentences = _sentences(material.sources)
    questions = material.sub_questions or question_parts(material.question)
    return [
        _Part(question, best_quotes(question, ranked_quotes(question, sentences))) for question in questions
    ]


def _sentences(sources: Sequence[NumberedSource]) -> list[Sentence]:
    """Return the sentences of all sources; one that several of them have is the first one's."""
    found: dict[str, Sentence] = {}
    for source in sources:
        for sentence in read_sentences(source.number, source.title, source.text, is_code=source.is_code):
            found.setdefault(sentence.text, sentence)
            if len(found) == _MAX_SENTENCES:
                return list(found.values())
    return list(found.values())


def ranked_quotes(question: str, sentences: Sequence[Sentence]) -> list[RankedSentence]:
    """Rank the sentences that can answer a question, best first, whatever they score.

    They say more than the question, unless it asks for yes or no, and give no orders to their reader.
    """
    asked = text_letters(question)
    repeats = asks_yes_or_no(question)
    return [
        one
        for one in rank_sentences(question, sentences)
        if (repeats or not text_letters(one.sentence.text) <= asked) and not gives_orders(one.sentence.text)
    ]


def best_quotes(question: str, ranked: Sequence[RankedSentence]) -> tuple[RankedSentence, ...]:
    """Return the best of ranked sentences, or a row, signature or announcement."""
    asked = text_letters(question)
    ranked = [one for one in ranked if one.score >= ANSWER_AT]
    whole = [one for one in ranked if can_answer(question, one.sentence)]
    last = (one for one in ranked if _may_answer(one.sentence, asked))
    return tuple(whole[:MAX_QUOTES]) or tuple(islice(last, 1))


def can_answer(question: str, sentence: Sentence) -> bool:
    """Whether a sentence is no row, command or signature, nor only announces what follows."""
    if not _NO_ANSWER.search(sentence.text):
        return True
    return asks_how(question) and _shows_how(sentence, text_letters(question))


def _shows_how(sentence: Sentence, asked: frozenset[str]) -> bool:
    """Whether a text says what the code below it does: ``To route HTTP to another proxy, pass:``."""
    is_long = len(text_letters(sentence.text) - asked) >= _LEAST_NEW
    return is_long and _ANNOUNCES.search(sentence.text) is not None


def _may_answer(sentence: Sentence, asked: frozenset[str]) -> bool:
    """Whether a text answers if no sentence does: a row that is no head of a table, or what it announces."""
    if _ROW.search(sentence.text):
        below = sentence.around.partition(sentence.text)[2].lstrip()
        return not below.startswith(("|-", "|:", "| -", "| :"))
    return _shows_how(sentence, asked)


def _confidence(parts: Sequence[_Part]) -> float:
    """Return the mean score of the parts' best sentences."""
    best = [part.quotes[0].score if part.quotes else 0.0 for part in parts]
    return round(sum(best) / len(best), 3) if best else 0.0


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
    quotes = dict.fromkeys(quote.sentence for part in parts for quote in part.quotes)
    korean = is_korean(material.question)
    if not quotes:
        return f"{_QUOTED[korean]} {_NOTHING[korean]}", ()
    lines = [_QUOTED[korean], *(f"{without_footnotes(quote.text)} [{quote.source}]" for quote in quotes)]
    used = {quote.source for quote in quotes}
    return "\n".join(lines), tuple(_citation(source) for source in material.sources if source.number in used)


def _citation(source: NumberedSource) -> Citation:
    return Citation(id=f"[{source.number}]", title=source.title, type=source.type, location=source.location)
