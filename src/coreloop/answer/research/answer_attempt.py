"""Attempts at an answer: passages that say it, or what a model wrote and its sources support."""

from collections.abc import Collection, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Final

from coreloop.answer.deps import Deps
from coreloop.answer.models.contracts import CheckResponse, LlmResponse, SynthesisResponse
from coreloop.answer.models.ladder import Ladder
from coreloop.answer.models.offline import NAME as OFFLINE
from coreloop.answer.models.prompt import Material
from coreloop.answer.repair.actions import OTHER_MODEL, STRICT, Reason
from coreloop.answer.repair.rounds import asks_again
from coreloop.answer.repair.tables import Rejected
from coreloop.answer.research.answer import answer_from
from coreloop.answer.research.asking import UNUSABLE, ask
from coreloop.answer.research.best_passages import SHOWN, numbered, quoted
from coreloop.answer.research.findings import Contradiction
from coreloop.answer.research.memory import Memory, material_of, notes_of, numbered_source, view
from coreloop.answer.research.research_state import Attempt, ReadSource, knowledge_of
from coreloop.answer.research.verify import UNCITED, check_answer, without
from coreloop.answer.retrieve import SearchResult
from coreloop.base.errors import BudgetError, ModelError
from coreloop.runs.active_run import Run

_MAX_REASONS: Final = 3
"""Failed searches that an answer names."""


def attempt_answer(run: Run, deps: Deps, found: SearchResult) -> tuple[Attempt, Reason | None]:
    """Answer from what was found, by the models if there are any; the reason says why it cannot stand."""
    knowledge, number = knowledge_of(run.state), run.state.iteration + 1
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
    if ladder.name == OFFLINE:
        sources, most = numbered(found.sources), 2 * SHOWN if knowledge.request.wants_more else SHOWN
        attempt = quoted(attempt, run.state.question, sources, rejected, most=most, index=_index(deps))
        fault: Reason | None = None if attempt.sentences else "insufficient_evidence"
    else:
        sources = numbered(found.without(rejected.passages).sources)
        attempt, fault = _of_model(run, deps, ladder, sources, attempt, rejected)
    is_missed = fault == "insufficient_evidence" and not found.sources
    return attempt, "search_miss" if is_missed else fault


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
        found = quoted(attempt, question, sources, rejected, index=_index(deps))
        return _unusable(found, error), "contract_invalid"
    attempt = replace(attempt, intent=reply.intent)
    if not reply.answer.strip() or (not reply.confidence and not reply.citations):
        return attempt, "insufficient_evidence"
    is_last = not asks_again(run, deps, "citation_missing")
    checked = check_reply(attempt, reply, sources, question, rejected, is_last=is_last)
    if fault := fault_of(checked):
        return replace(attempt, dropped=checked.dropped), fault
    return _beside(checked, question, sources, rejected), None


def final_attempt(run: Run, deps: Deps) -> Attempt:
    """Answer a research from all that it read; if its model cannot, by what is found without one."""
    try:
        return _synthesised(run, deps)
    except (ModelError, BudgetError) as error:
        return _unusable(_quoted_sources(run, deps), error)


def _synthesised(run: Run, deps: Deps) -> Attempt:
    """Let the models write an answer, and keep what its sources say; if nothing is left, the findings."""
    knowledge, question = knowledge_of(run.state), run.state.question
    if not knowledge.sources or deps.ladder.name == OFFLINE:
        return _quoted_sources(run, deps)
    memory = view(run, is_answer=True)
    material = material_of(run.state, memory, notes_of(knowledge, memory))
    reply = ask(run, deps.ladder, "synthesize", material, SynthesisResponse, key="answer", is_answer=True)
    rejected = rejections(run, deps)
    attempt = check_reply(_begun(run, deps), reply, knowledge.sources, question, rejected, is_last=True)
    attempt = _checked_again(run, deps.ladder, attempt)
    if not attempt.sentences:
        return answer_from(run.state, attempt)
    return _beside(attempt, question, knowledge.sources, rejected, known=knowledge.contradictions_found)


def _quoted_sources(run: Run, deps: Deps) -> Attempt:
    """Answer by passages of what was read; if none says it, by the findings, which sources say in parts."""
    knowledge, rejected = knowledge_of(run.state), rejections(run, deps)
    attempt = quoted(
        _begun(run, deps),
        run.state.question,
        knowledge.sources,
        rejected,
        known=knowledge.contradictions_found,
        index=_index(deps),
    )
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


def _checked_again(run: Run, ladder: Ladder, attempt: Attempt) -> Attempt:
    """Let a model judge the sentences that passed, if that was asked for."""
    if not (knowledge_of(run.state).request.second_check and attempt.sentences):
        return attempt
    notes = [f"sentence {number}: {text}" for number, text in enumerate(attempt.sentences, 1)]
    material = material_of(run.state, Memory(attempt.cited, ()), notes)
    reply = ask(run, ladder, "check", material, CheckResponse, key="check", is_answer=True)
    return without(attempt, reply.unsupported)


def _beside(
    attempt: Attempt,
    question: str,
    sources: Sequence[ReadSource],
    rejected: Rejected,
    *,
    known: Collection[Contradiction] = (),
) -> Attempt:
    """Put what the best passages say differently beside the sentences of a model."""
    pairs = quoted(attempt, question, sources, rejected, known=known).differing
    cited = dict.fromkeys([*attempt.cited, *(sources[n - 1] for pair in pairs for n in pair.sources)])
    return replace(attempt, cited=tuple(cited), differing=pairs)


def _unusable(attempt: Attempt, error: Exception) -> Attempt:
    """Show what was found without a model in place of an answer that it could not give."""
    return replace(attempt, sentences=(), quoted=attempt.sentences, failure=str(error))


def check_reply(
    attempt: Attempt,
    reply: LlmResponse | SynthesisResponse,
    sources: Sequence[ReadSource],
    question: str,
    rejected: Rejected,
    *,
    is_last: bool = False,
) -> Attempt:
    """Keep the sentences of a model's answer that its sources support.

    A sentence that names no source is checked against those of the reply's citations, or against all if
    nobody will be asked again.
    """
    named = [int(citation.id.strip("[]")) for citation in reply.citations]
    others = named or (range(1, len(sources) + 1) if is_last else ())
    return check_answer(attempt, reply.answer, sources, named=others, question=question, rejected=rejected)


def fault_of(attempt: Attempt) -> Reason | None:
    """Return why an answer cannot stand; it can if more of its sentences are kept than dropped."""
    if len(attempt.sentences) > len(attempt.dropped):
        return None
    is_uncited = all(dropped.reason == UNCITED for dropped in attempt.dropped)
    return "citation_missing" if is_uncited else "citation_unsupported"
