"""Attempts at an answer: passages that say it, or what a model wrote and its sources support."""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Final

from coreloop.answer.deps import Deps
from coreloop.answer.models.contracts import CheckResponse, LlmResponse, SynthesisResponse
from coreloop.answer.models.ladder import Ladder
from coreloop.answer.models.offline import NAME as OFFLINE
from coreloop.answer.models.offline import without_notice
from coreloop.answer.models.prompt import Material
from coreloop.answer.repair.actions import OTHER_MODEL, STRICT, Reason
from coreloop.answer.repair.rounds import asks_again
from coreloop.answer.repair.tables import Rejected
from coreloop.answer.research.answer import answer_from
from coreloop.answer.research.asking import UNUSABLE, ask, material_of, notes_of, numbered_source
from coreloop.answer.research.best_passages import SHOWN, find_passages
from coreloop.answer.research.findings import Contradiction
from coreloop.answer.research.memory import Memory
from coreloop.answer.research.reflect import view
from coreloop.answer.research.research_state import Attempt, Knowledge, ReadSource, knowledge_of
from coreloop.answer.research.verify import UNCITED, CheckedAnswer, check_answer, without
from coreloop.answer.retrieve import SearchResult
from coreloop.answer.search.index.search_index import word_counts
from coreloop.answer.search.source import Source
from coreloop.base.errors import ModelError
from coreloop.runs.active_run import Run

_MAX_REASONS: Final = 3
"""Failed searches that an answer names."""


def attempt_answer(run: Run, deps: Deps, found: SearchResult) -> tuple[Attempt, Reason | None]:
    """Answer from what was found, by the models if there are any; the reason says why it cannot stand."""
    question, knowledge, number = run.state.question, knowledge_of(run.state), run.state.iteration + 1
    rejected = rejections(run, deps)
    ladder = deps.ladder.rest if OTHER_MODEL in knowledge.actions and deps.ladder.rest else deps.ladder
    attempt = Attempt(
        number=number,
        model=ladder.name,
        found=found.counts,
        problem=found.reason,
        is_down=bool(found.reason),
        note=knowledge.note if number == 1 else "",
    )
    missed: Reason = "insufficient_evidence" if found.sources else "search_miss"
    if ladder.name == OFFLINE:
        most = 2 * SHOWN if knowledge.request.wants_more else SHOWN
        sources = numbered(found.sources)
        attempt = quoted(attempt, question, sources, rejected, most=most, index=_index(deps))
        reason = None if attempt.sentences else missed
    else:
        left = numbered(found.without(rejected.passages).sources)
        attempt, reason = _of_model(run, deps, ladder, left, attempt, rejected)
    return attempt, missed if reason == "insufficient_evidence" else reason


def _of_model(
    run: Run,
    deps: Deps,
    ladder: Ladder,
    sources: Sequence[ReadSource],
    attempt: Attempt,
    rejected: Rejected,
) -> tuple[Attempt, Reason | None]:
    """Ask for an answer, and keep what its sources support; of a reply that cannot be used, what is found."""
    question = run.state.question
    prompt = "strict" if STRICT in knowledge_of(run.state).actions else "answer"
    material = Material(question=question, sources=tuple(map(numbered_source, sources)))
    try:
        reply = ask(run, ladder, prompt, material, LlmResponse, key=f"{prompt}-{attempt.number}")
    except ModelError as error:
        if error.kind not in UNUSABLE:
            raise
        return unusable(
            quoted(attempt, question, sources, rejected, index=_index(deps)), error
        ), "contract_invalid"
    attempt = replace(attempt, intent=reply.intent)
    if not reply.answer.strip() or (not reply.confidence and not reply.citations):
        return attempt, "insufficient_evidence"
    is_last = not asks_again(run, deps, "citation_missing")
    checked = check_reply(reply, sources, question, rejected, is_last=is_last)
    if reason := fault_of(checked):
        return replace(attempt, dropped=checked.dropped), reason
    return written(attempt, checked, question, sources, rejected), None


def synthesised(run: Run, deps: Deps) -> Attempt:
    """Let the models write an answer, and keep what its sources say; if nothing is left, the findings."""
    knowledge, question = knowledge_of(run.state), run.state.question
    if not knowledge.sources or deps.ladder.name == OFFLINE:
        return quoted_sources(run, deps)
    memory = view(run, is_answer=True)
    material = material_of(run.state, memory, notes_of(knowledge, memory))
    reply = ask(run, deps.ladder, "synthesize", material, SynthesisResponse, key="answer", is_answer=True)
    rejected = rejections(run, deps)
    checked = check_reply(reply, knowledge.sources, question, rejected, is_last=True)
    checked = _checked_again(run, deps.ladder, checked)
    attempt = replace(_begun(run, deps), dropped=checked.dropped)
    if not checked.sentences:
        return answer_from(run.state, attempt)
    known = knowledge.contradictions_found
    return written(attempt, checked, question, knowledge.sources, rejected, known=known)


def quoted_sources(run: Run, deps: Deps) -> Attempt:
    """Answer by passages of what was read; if none says it, by the findings, which sources say in parts."""
    knowledge, question = knowledge_of(run.state), run.state.question
    rejected = rejections(run, deps)
    known = knowledge.contradictions_found
    begun, index = _begun(run, deps), _index(deps)
    attempt = quoted(begun, question, knowledge.sources, rejected, known=known, index=index)
    if attempt.sentences or rejected:
        return attempt
    found = answer_from(run.state, attempt)
    return replace(found, cited=(*found.cited, *attempt.cited)) if found.sentences else attempt


def rejections(run: Run, deps: Deps) -> Rejected:
    """Return what persons rejected as an answer to a run's question, or to a part of it."""
    return deps.tables.rejections(run.state.question, *(part.text for part in run.state.sub_questions))


def _index(deps: Deps) -> Path | None:
    return deps.workspace.index_file if deps.searches_index else None


def _begun(run: Run, deps: Deps) -> Attempt:
    knowledge = knowledge_of(run.state)
    reasons = list(dict.fromkeys(failed.reason for failed in knowledge.failed_queries))[:_MAX_REASONS]
    return Attempt(
        number=run.state.iteration,
        model=deps.ladder.name,
        problem="\n".join(reasons),
        is_down=bool(reasons) and not knowledge.sources,
        note=knowledge.note,
    )


def _checked_again(run: Run, ladder: Ladder, checked: CheckedAnswer) -> CheckedAnswer:
    """Let a model judge the sentences that passed, if that was asked for."""
    knowledge = knowledge_of(run.state)
    if not (knowledge.request.second_check and checked.sentences):
        return checked
    cited = tuple(read for read in knowledge.sources if read.number in checked.cited)
    notes = [f"sentence {number}: {text}" for number, text in enumerate(checked.sentences, 1)]
    material = material_of(run.state, Memory(cited, ()), notes)
    reply = ask(run, ladder, "check", material, CheckResponse, key="check", is_answer=True)
    return without(checked, reply.unsupported)


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
    index: Path | None = None,
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
    index : Path or None
        Says how rare words are; None for how rare they are in the sources.
    """
    found = [read.source for read in sources]
    counts = word_counts(index, question) if index else None
    best = find_passages(question, found, rejected=rejected, most=most, counts=counts)
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
    rejected: Rejected,
    *,
    known: Collection[Contradiction] = (),
) -> Attempt:
    """Answer with what a model wrote and its sources support, beside what the sources say differently."""
    passages = find_passages(question, [read.source for read in sources], rejected=rejected)
    pairs = _joined(passages.differing, known)
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
    reply: LlmResponse | SynthesisResponse,
    sources: Sequence[ReadSource],
    question: str,
    rejected: Rejected,
    *,
    is_last: bool = False,
) -> CheckedAnswer:
    """Keep the sentences of a model's answer that its sources support.

    A sentence that names no source is checked against those of the reply's citations.

    Parameters
    ----------
    reply : LlmResponse or SynthesisResponse
        Of a model: untrusted.
    sources : sequence of ReadSource
        In the order of their numbers, from 1.
    question : str
        What was asked; a short sentence, such as ``1 MB``, is read with it.
    rejected : Rejected
        What is never kept.
    is_last : bool
        Nobody will be asked again: sentences without citations are checked against all sources.
    """
    named = [int(citation.id.strip("[]")) for citation in reply.citations]
    others = named or (range(1, len(sources) + 1) if is_last else ())
    knowledge = Knowledge(sources=list(sources))
    text = without_notice(reply.answer).strip()
    return check_answer(text, knowledge, named=tuple(others), question=question, rejected=rejected)


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
