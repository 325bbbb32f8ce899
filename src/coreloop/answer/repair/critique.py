"""Whether an answer can stand: it cites sources that exist, and they say what it says."""

from collections.abc import Sequence
from dataclasses import dataclass

from coreloop.answer.models.contracts import LlmResponse
from coreloop.answer.models.offline import without_notice
from coreloop.answer.repair.signals import Reason
from coreloop.answer.research.knowledge import Knowledge, ReadSource
from coreloop.answer.research.verify import UNCITED, CheckedAnswer, check_answer
from coreloop.answer.search.source import Source


@dataclass(frozen=True, slots=True)
class Critique:
    """What is left of an answer, and what is wrong with it.

    Attributes
    ----------
    checked : CheckedAnswer
        The sentences that their sources support, and those that were dropped.
    reason : str or None
        Of the signal that the answer raises; None if it stands.
    """

    checked: CheckedAnswer
    reason: Reason | None = None


def criticise(
    reply: LlmResponse, sources: Sequence[Source], question: str, *, is_last: bool = False
) -> Critique:
    """Check an answer against the sources that it was given.

    An answer stands if more of its sentences are kept than dropped; what was dropped is left out of it. A
    sentence that names no source is checked against those of ``citations``.

    Parameters
    ----------
    reply : LlmResponse
        Of a model: untrusted.
    sources : sequence of Source
        In the order of their numbers, from 1.
    question : str
        What was asked; a short sentence, such as ``1 MB``, is read with it.
    is_last : bool
        Nobody will be asked again: sentences without citations are checked against all sources.
    """
    text = without_notice(reply.answer).strip()
    if not text or (not reply.confidence and not reply.citations):
        return Critique(CheckedAnswer((), ()), "insufficient_evidence" if sources else "search_miss")
    named = [int(citation.id.strip("[]")) for citation in reply.citations]
    others = named or (range(1, len(sources) + 1) if is_last else ())
    checked = check_answer(text, _numbered(sources), named=tuple(others), question=question)
    if len(checked.sentences) > len(checked.dropped):
        return Critique(checked)
    is_uncited = all(dropped.reason == UNCITED for dropped in checked.dropped)
    return Critique(checked, "citation_missing" if is_uncited else "citation_unsupported")


def _numbered(sources: Sequence[Source]) -> Knowledge:
    read = [ReadSource(number, source, "", "", 1) for number, source in enumerate(sources, 1)]
    return Knowledge(sources=read)
