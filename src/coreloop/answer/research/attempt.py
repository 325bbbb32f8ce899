"""An attempt at an answer: passages that say it, or what a model wrote and its sources support."""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import replace

from coreloop.answer.models.contracts import Citation
from coreloop.answer.models.offline import without_notice
from coreloop.answer.repair.signals import Reason
from coreloop.answer.repair.tables import Rejected
from coreloop.answer.research.findings import Contradiction
from coreloop.answer.research.knowledge import Attempt, Knowledge, ReadSource
from coreloop.answer.research.passages import SHOWN, find_passages
from coreloop.answer.research.verify import UNCITED, CheckedAnswer, check_answer
from coreloop.answer.search.source import Source


def numbered(sources: Iterable[Source]) -> list[ReadSource]:
    """Number sources from 1, as they were found."""
    return [ReadSource(number, source, "", "", 1) for number, source in enumerate(sources, 1)]


def quoted(
    attempt: Attempt,
    question: str,
    sources: Sequence[ReadSource],
    rejected: Rejected,
    *,
    most: int = SHOWN,
    known: Collection[Contradiction] = (),
) -> Attempt:
    """Answer without a model: by the passages that say it, or the closest ones.

    Parameters
    ----------
    attempt : Attempt
        What is known of it.
    question : str
        Text of a user.
    sources : sequence of ReadSource
        Best first; their numbers begin at 1.
    rejected : Rejected
        What is never marked.
    most : int
        Passages to show.
    known : collection of Contradiction
        Those that were found before.
    """
    best = find_passages(question, [read.source for read in sources], rejected=rejected, most=most)
    pairs = _joined(best.differing, known)
    numbers = [number for _, number in best.quoted] + [passage.number for passage in best.shown]
    return replace(
        attempt,
        verdict=best.verdict,
        sentences=tuple(f"{text} [{number}]" for text, number in best.quoted),
        cited=_cited([*numbers, *_numbers(pairs)], sources),
        passages=best.shown,
        differing=pairs,
    )


def written(
    attempt: Attempt,
    checked: CheckedAnswer,
    question: str,
    sources: Sequence[ReadSource],
    *,
    known: Collection[Contradiction] = (),
) -> Attempt:
    """Answer with what a model wrote and its sources support, beside what the sources say differently."""
    differing = find_passages(question, [read.source for read in sources]).differing if sources else ()
    pairs = _joined(differing, known)
    return replace(
        attempt,
        verdict="says so" if checked.sentences else "nothing said so",
        sentences=checked.sentences,
        cited=_cited([*checked.cited, *_numbers(pairs)], sources),
        dropped=checked.dropped,
        differing=pairs if checked.sentences else (),
    )


def unusable(attempt: Attempt, error: Exception) -> Attempt:
    """Show what was found without a model in place of an answer that it could not give."""
    return replace(attempt, sentences=(), quoted=attempt.sentences, failure=str(error))


def check_reply(
    answer: str,
    citations: Sequence[Citation],
    sources: Sequence[ReadSource],
    question: str,
    *,
    is_last: bool = False,
) -> CheckedAnswer:
    """Keep the sentences of a model's answer that its sources support.

    A sentence that names no source is checked against those of ``citations``.

    Parameters
    ----------
    answer, citations
        Of a model: untrusted.
    sources : sequence of ReadSource
        In the order of their numbers, from 1.
    question : str
        What was asked; a short sentence, such as ``1 MB``, is read with it.
    is_last : bool
        Nobody will be asked again: sentences without citations are checked against all sources.
    """
    named = [int(citation.id.strip("[]")) for citation in citations]
    others = named or (range(1, len(sources) + 1) if is_last else ())
    knowledge = Knowledge(sources=list(sources))
    return check_answer(without_notice(answer).strip(), knowledge, named=tuple(others), question=question)


def fault_of(checked: CheckedAnswer) -> Reason | None:
    """Return why an answer cannot stand; it can if more of its sentences are kept than dropped."""
    if len(checked.sentences) > len(checked.dropped):
        return None
    is_uncited = all(dropped.reason == UNCITED for dropped in checked.dropped)
    return "citation_missing" if is_uncited else "citation_unsupported"


def _joined(pairs: Sequence[Contradiction], known: Collection[Contradiction]) -> tuple[Contradiction, ...]:
    """Each pair of texts once."""
    by_texts = {frozenset((pair.a.text, pair.b.text)): pair for pair in (*known, *pairs)}
    return tuple(by_texts.values())


def _numbers(pairs: Iterable[Contradiction]) -> list[int]:
    return [number for pair in pairs for side in (pair.a, pair.b) for number in side.sources]


def _cited(numbers: Iterable[int], sources: Sequence[ReadSource]) -> tuple[ReadSource, ...]:
    return tuple(sources[number - 1] for number in dict.fromkeys(numbers) if number <= len(sources))
