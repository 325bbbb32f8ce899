"""The cycle of a run that answers: plan, search, judge what was found; its controller says when it stops.

`ask` judges by answering at once; an answer that cannot stand is repaired, and the next iteration asks again.
A research judges by a reflection, and answers in the end. Both answer by passages that say it, or by what a
model wrote and its sources support.
"""

from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Final

import msgspec

from coreloop.answer.deps import Deps
from coreloop.answer.models.contracts import CheckResponse, LlmResponse, PlanResponse, SynthesisResponse
from coreloop.answer.models.offline import plan_offline
from coreloop.answer.models.prompt import Material
from coreloop.answer.repair.actions import MAX_REPAIRS, OTHER_MODEL, STRICT, Context, Reason, Signal, envelope
from coreloop.answer.repair.actions import TYPE as SIGNALLED
from coreloop.answer.repair.rounds import asks_again, repair
from coreloop.answer.repair.tables import Rejected
from coreloop.answer.research.answer import answer_from, build_response
from coreloop.answer.research.asking import UNUSABLE, ask, ask_or_do_without
from coreloop.answer.research.best_passages import SHOWN, Grounds, numbered, quoted
from coreloop.answer.research.memory import Memory, material_of, notes_of, numbered_source, view
from coreloop.answer.research.next_queries import (
    START_STRATEGY,
    angled,
    first_queries,
    next_queries,
    plan_parts,
)
from coreloop.answer.research.reflect import reflect
from coreloop.answer.research.research_state import (
    AGAINST,
    ANSWERED,
    ASK,
    ATTEMPTED,
    DROPPED,
    NOTE,
    PLANNED,
    Attempt,
    PlanQuery,
    knowledge_of,
)
from coreloop.answer.research.run_searches import execute, search_step
from coreloop.answer.research.tiers import run_limits
from coreloop.answer.research.verify import UNCITED, check_answer, without
from coreloop.answer.retrieve import SearchResult, find_sources
from coreloop.answer.search.index.run import refresh_index
from coreloop.answer.search.provider import SearchLimits
from coreloop.answer.text.terms import search_words
from coreloop.base.errors import BudgetError, ModelError
from coreloop.runs import events
from coreloop.runs.active_run import Run
from coreloop.runs.decide import Stop
from coreloop.runs.drift import check_drift
from coreloop.runs.phases import phase
from coreloop.runs.state import State

RETRIEVE: Final = "retrieve"
"""Name of the steps that search for the sources of an attempt."""
_MAX_REASONS: Final = 3
"""Failed searches that an answer names."""


def iterate(run: Run, deps: Deps) -> None:
    """Do one iteration. It begins and ends with the state of the run."""
    if run.state.kind == ASK:
        _answer_and_repair(run, deps)
    else:
        _explore(run, deps)


def conclude(run: Run, _stop: Stop, deps: Deps) -> None:
    """Write the answer of a research once, from the share that was reserved for it; `ask` has its own."""
    if run.state.kind == ASK:
        return
    with phase(run, "synthesize"):
        attempt = final_attempt(run, deps)
    for claim in attempt.dropped:
        run.record(events.Noted, name=DROPPED, data=msgspec.to_builtins(claim))
    response = build_response(run.state, attempt)
    run.record(events.Noted, name=ANSWERED, data=msgspec.to_builtins(response))


def _read_index(run: Run, deps: Deps) -> None:
    """Bring the index up to date before the first search."""
    if not run.state.iteration:
        run.record(events.Noted, name=NOTE, data=refresh_index(deps.workspace, now=run.now()))


def _answer_and_repair(run: Run, deps: Deps) -> None:
    """Answer; if the answer cannot stand, do what can make the next one better, or give up."""
    if not run.state.sub_questions:
        run.record(events.Planned, sub_questions=(run.state.question,))
    number = run.state.iteration + 1
    if number == 1 and knowledge_of(run.state).request.mends:
        repair(run, deps, "thumbs_down", SearchResult())
    with phase(run, "search"):
        _read_index(run, deps)
        words = " ".join(search_words(run.state.question))
        find = partial(find_sources, deps, run.state.question, SearchLimits(), words=words)
        found = search_step(run, RETRIEVE, str(number), find)
    with phase(run, "synthesize"):
        attempt, reason = attempt_answer(run, deps, found)
        run.record(events.Noted, name=ATTEMPTED, data=msgspec.to_builtins(attempt))
    if reason is None:
        _cover(run, attempt)
        return
    _signal(run, reason, found)
    if number > MAX_REPAIRS or not repair(run, deps, reason, found):
        limits = msgspec.structs.replace(run.state.limits, max_iterations=number)
        run.record(events.Narrowed, limits=limits)


def _cover(run: Run, attempt: Attempt) -> None:
    """Record the sentences as findings: with them, the question counts as answered."""
    source = attempt.cited[0].source.location
    for part in run.state.sub_questions:
        for sentence in attempt.sentences:
            run.record(events.FindingRecorded, sub_question=part.id, text=sentence, source=source)


def _signal(run: Run, reason: Reason, found: SearchResult) -> None:
    """Record what went wrong, with the best file and the best symbol: where people would look first."""
    file = next(found.of("injected", "text"), None)
    symbol = next(found.of("symbol"), None)
    context = Context(file.location if file else "", symbol.title if symbol else "")
    session_id = knowledge_of(run.state).request.session_id
    signal = Signal(source="critic", reason=reason, session_id=session_id, context=context)
    message = envelope(signal, trace_id=run.state.trace_id, now=run.now())
    run.record(events.Noted, name=SIGNALLED, data=message)


def _explore(run: Run, deps: Deps) -> None:
    """Plan, search and reflect; the reflection is last, so that the controller decides by what it found."""
    with phase(run, "plan"):
        if deps.searches_index:
            _read_index(run, deps)
        if not run.state.sub_questions:
            _plan(run, deps)
        _turn(run)
        strategy = run.state.order.after if run.state.order else run.state.last_strategy or START_STRATEGY
        queries = next_queries(run.state, knowledge_of(run.state)) or _other_angle(run.state, strategy)
    with phase(run, "search"):
        if not execute(run, deps, queries, strategy):
            _turn(run)
            strategy = run.state.last_strategy
            execute(run, deps, _other_angle(run.state, strategy), strategy)
    with phase(run, "reflect"):
        reflect(run, deps.ladder, rejections(run, deps))


def _plan(run: Run, deps: Deps) -> None:
    material = Material(question=run.state.question)
    plan = ask_or_do_without(run, deps.ladder, "plan", material, PlanResponse, plan_offline)
    request = knowledge_of(run.state).request
    tier = request.tier or plan.complexity_tier or "standard"
    parts = plan_parts(run.state.question, plan)
    if run.state.mode == "exhaust":
        parts = (*parts, AGAINST)
    else:
        run.record(events.Narrowed, limits=run_limits(tier, request.wishes))
    run.record(events.Planned, sub_questions=parts)
    queries = msgspec.to_builtins(first_queries(run.state.question, plan, tier))
    run.record(events.Noted, name=PLANNED, data={"queries": queries, "tier": tier})


def _turn(run: Run) -> None:
    """Record drift, so that the strategy changes."""
    if turn := check_drift(run.state):
        run.record(events.Turned, rule=turn.rule, before=turn.before, after=turn.after)


def _other_angle(state: State, strategy: tuple[str, ...]) -> list[PlanQuery]:
    """Return queries for the open sub-questions, turned the way of a strategy."""
    open_parts = [part.text for part in state.sub_questions if part.is_open and part.text != AGAINST]
    number = state.iteration + 1
    searched = [search.query for search in state.search_history]
    texts = (angled(text, reversed(strategy), searched) for text in open_parts or [state.question])
    return [PlanQuery(text, "other angle", number) for text in texts]


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
    if not ladder.models:
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
        if not (ladder.is_optional or error.kind in UNUSABLE):
            raise
        attempt = quoted(attempt, grounds)
        if ladder.is_optional:
            return attempt, None if attempt.sentences else missed
        return _unusable(attempt, error), "contract_invalid"
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
    if not (knowledge.sources and deps.ladder.models):
        return _found(run, grounds, attempt)
    try:
        attempt = _synthesised(run, deps, grounds, attempt)
    except (ModelError, BudgetError) as error:
        found = _found(run, grounds, attempt)
        return found if deps.ladder.is_optional else _unusable(found, error)
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
