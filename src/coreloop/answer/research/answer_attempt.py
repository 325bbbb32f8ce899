"""Attempts at an answer: passages that say it, or what a model wrote and its sources support."""

from dataclasses import replace
from pathlib import Path
from typing import Final

from coreloop.answer.deps import Deps
from coreloop.answer.models.contracts import CheckResponse, LlmResponse, SynthesisResponse
from coreloop.answer.models.offline import NAME as OFFLINE
from coreloop.answer.models.prompt import Material
from coreloop.answer.repair.actions import OTHER_MODEL, STRICT, Reason
from coreloop.answer.repair.rounds import asks_again
from coreloop.answer.repair.tables import Rejected
from coreloop.answer.research.answer import answer_from
from coreloop.answer.research.asking import UNUSABLE, ask
from coreloop.answer.research.best_passages import SHOWN, Grounds, numbered, quoted
from coreloop.answer.research.memory import Memory, material_of, notes_of, numbered_source, view
from coreloop.answer.research.research_state import Attempt, knowledge_of
from coreloop.answer.research.verify import UNCITED, check_answer, without
from coreloop.answer.retrieve import SearchResult
from coreloop.base.errors import BudgetError, ModelError
from coreloop.runs.active_run import Run

_MAX_REASONS: Final = 3
"""Failed searches that an answer names."""


def attempt_answer(run: Run, deps: Deps, found: SearchResult) -> tuple[Attempt, Reason | None]:
    """Answer from what was found, by the models if there are any; the reason says why it cannot stand."""
    knowledge, number, question = knowledge_of(run.state), run.state.iteration + 1, run.state.question
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
        grounds = Grounds(question, numbered(found.sources), rejected, index=_index(deps))
        attempt = quoted(attempt, grounds, most=2 * SHOWN if knowledge.request.wants_more else SHOWN)
        return attempt, None if attempt.sentences else missed
    left = [source for source in found.sources if source.hash not in rejected.passages]
    grounds = Grounds(question, numbered(left), rejected, index=_index(deps))
    prompt = "strict" if STRICT in knowledge.actions else "answer"
    material = Material(question=question, sources=tuple(map(numbered_source, grounds.sources)))
    try:
        reply = ask(run, ladder, prompt, material, LlmResponse, key=f"{prompt}-{number}")
    except ModelError as error:
        if error.kind not in UNUSABLE:
            raise
        return _unusable(quoted(attempt, grounds), error), "contract_invalid"
    attempt = replace(attempt, intent=reply.intent)
    if not reply.answer.strip() or (not reply.confidence and not reply.citations):
        return attempt, missed
    checked = _checked(attempt, reply, grounds, is_last=not asks_again(run, deps, "citation_missing"))
    if fault := fault_of(checked):
        return replace(attempt, dropped=checked.dropped), fault
    return _beside(checked, grounds), None


def final_attempt(run: Run, deps: Deps) -> Attempt:
    """Answer a research from all that it read; if its model cannot, by what is found without one."""
    knowledge, question, rejected = knowledge_of(run.state), run.state.question, rejections(run, deps)
    known = knowledge.contradictions_found
    grounds = Grounds(question, knowledge.sources, rejected, known, _index(deps))
    reasons = list(dict.fromkeys(failed.reason for failed in knowledge.failed_queries))[:_MAX_REASONS]
    attempt = Attempt(
        number=run.state.iteration,
        model=deps.ladder.name,
        problem="\n".join(reasons),
        is_down=bool(reasons) and not knowledge.sources,
        note=knowledge.note,
    )
    if not knowledge.sources or deps.ladder.name == OFFLINE:
        return _found(run, grounds, attempt)
    try:
        attempt = _synthesised(run, deps, grounds, attempt)
    except (ModelError, BudgetError) as error:
        return _unusable(_found(run, grounds, attempt), error)
    return _beside(attempt, grounds) if attempt.sentences else answer_from(run.state, attempt)


def _synthesised(run: Run, deps: Deps, grounds: Grounds, attempt: Attempt) -> Attempt:
    """Let the models write an answer, and judge its sentences once more if that was asked for."""
    knowledge, memory = knowledge_of(run.state), view(run, is_answer=True)
    material = material_of(run.state, memory, notes_of(knowledge, memory))
    reply = ask(run, deps.ladder, "synthesize", material, SynthesisResponse, key="answer", is_answer=True)
    attempt = _checked(attempt, reply, grounds, is_last=True)
    if not (knowledge.request.second_check and attempt.sentences):
        return attempt
    notes = [f"sentence {number}: {text}" for number, text in enumerate(attempt.sentences, 1)]
    material = material_of(run.state, Memory(attempt.cited, ()), notes)
    check = ask(run, deps.ladder, "check", material, CheckResponse, key="check", is_answer=True)
    return without(attempt, check.unsupported)


def _found(run: Run, grounds: Grounds, attempt: Attempt) -> Attempt:
    """Answer by passages of what was read; if none says it, by the findings, which sources say in parts."""
    attempt = quoted(attempt, grounds)
    if attempt.sentences or grounds.rejected:
        return attempt
    found = answer_from(run.state, attempt)
    return replace(found, cited=(*found.cited, *attempt.cited)) if found.sentences else attempt


def rejections(run: Run, deps: Deps) -> Rejected:
    """Return what persons rejected as an answer to a run's question, or to a part of it."""
    return deps.tables.rejections(run.state.question, *(part.text for part in run.state.sub_questions))


def _index(deps: Deps) -> Path | None:
    return deps.workspace.index_file if deps.searches_index else None


def _unusable(attempt: Attempt, error: Exception) -> Attempt:
    """Show what was found without a model in place of an answer that it could not give."""
    return replace(attempt, sentences=(), quoted=attempt.sentences, failure=str(error))


def _checked(
    attempt: Attempt, reply: LlmResponse | SynthesisResponse, grounds: Grounds, *, is_last: bool
) -> Attempt:
    """Keep the sentences of a model's answer that its sources support.

    A sentence that names no source is checked against those of the reply's citations, or against all if
    nobody will be asked again.
    """
    cited = [int(citation.id.strip("[]")) for citation in reply.citations]
    every = range(1, len(grounds.sources) + 1)
    return check_answer(attempt, reply.answer, grounds, named=cited or (every if is_last else ()))


def _beside(attempt: Attempt, grounds: Grounds) -> Attempt:
    """Put what the best passages say differently beside the sentences of a model."""
    pairs = quoted(attempt, replace(grounds, index=None)).differing
    cited = [*attempt.cited, *(grounds.sources[number - 1] for pair in pairs for number in pair.sources)]
    return replace(attempt, cited=tuple({read.number: read for read in cited}.values()), differing=pairs)


def fault_of(attempt: Attempt) -> Reason | None:
    """Return why an answer cannot stand; it can if more of its sentences are kept than dropped."""
    if len(attempt.sentences) > len(attempt.dropped):
        return None
    is_uncited = all(dropped.reason == UNCITED for dropped in attempt.dropped)
    return "citation_missing" if is_uncited else "citation_unsupported"
