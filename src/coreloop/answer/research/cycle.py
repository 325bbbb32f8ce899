"""The cycle of a run that answers: plan, search, judge what was found; its controller says when it stops.

`ask` judges by answering at once; an answer that cannot stand is repaired, and the next iteration asks again.
A research judges by a reflection, and answers in the end.
"""

from dataclasses import replace
from typing import Final

import msgspec

from coreloop.answer.deps import Deps
from coreloop.answer.models.contracts import CheckResponse, LlmResponse, PlanResponse, SynthesisResponse
from coreloop.answer.models.ladder import Ladder
from coreloop.answer.models.offline import NAME as OFFLINE
from coreloop.answer.models.prompt import Material
from coreloop.answer.models.questions import search_words
from coreloop.answer.repair.actions import MAX_REPAIRS, OTHER_MODEL, STRICT
from coreloop.answer.repair.rounds import asks_again, repair
from coreloop.answer.repair.signals import TYPE as SIGNALLED
from coreloop.answer.repair.signals import Context, Reason, Signal, envelope
from coreloop.answer.research.answer import answer_from, build_response
from coreloop.answer.research.asking import (
    AGAINST,
    UNUSABLE,
    ask,
    ask_or_do_without,
    material_of,
    notes_of,
    numbered_source,
)
from coreloop.answer.research.attempt import check_reply, fault_of, numbered, quoted, unusable, written
from coreloop.answer.research.execute import execute, search_step
from coreloop.answer.research.knowledge import (
    ANSWERED,
    ASK,
    ATTEMPTED,
    DROPPED,
    KIND,
    NOTE,
    PLANNED,
    Attempt,
    PlanQuery,
    knowledge_of,
)
from coreloop.answer.research.memory import Memory
from coreloop.answer.research.passages import SHOWN
from coreloop.answer.research.plan import (
    START_STRATEGY,
    angled,
    first_queries,
    is_stuck,
    next_queries,
    plan_parts,
)
from coreloop.answer.research.reflect import reflect, view
from coreloop.answer.research.tiers import run_limits
from coreloop.answer.research.verify import CheckedAnswer, without
from coreloop.answer.retrieve import SearchResult
from coreloop.answer.search.index.fresh import refresh_index
from coreloop.answer.search.provider import SearchLimits
from coreloop.base.errors import BudgetError, ModelError
from coreloop.runs import events
from coreloop.runs.decide import Stop
from coreloop.runs.drift import check_drift
from coreloop.runs.lessons import read_reflexion
from coreloop.runs.phases import phase
from coreloop.runs.run import Run
from coreloop.runs.state import State
from coreloop.runs.stores.store import Store

RETRIEVE: Final = "retrieve"
"""Name of the steps that search for the sources of an attempt."""
_ADVICE: Final = "Searches in a row found nothing: go back to first principles."
_MAX_REASONS: Final = 3
"""Of failed searches, in an answer."""
_MAX_ADVICE: Final = 3
"""Strategies and solutions of similar situations that a stuck research is told."""


def iterate(run: Run, deps: Deps) -> None:
    """Do one iteration. It begins and ends with the state of the run."""
    if run.state.kind == ASK:
        _attempt_answer(run, deps)
    else:
        _explore(run, deps)


def conclude(run: Run, _stop: Stop, deps: Deps) -> None:
    """Write the answer of a research once, from the share that was reserved for it; `ask` has its own."""
    if run.state.kind == ASK:
        return
    try:
        with phase(run, "synthesize"):
            attempt = _synthesised(run, deps)
    except (ModelError, BudgetError) as error:
        attempt = unusable(_quoted(run, deps), error)
    for claim in attempt.dropped:
        run.record(events.Noted, name=DROPPED, data=msgspec.to_builtins(claim))
    response = build_response(run.state, attempt)
    run.record(events.Noted, name=ANSWERED, data=msgspec.to_builtins(response))


def _read_index(run: Run, deps: Deps) -> None:
    """Bring the index up to date before the first search."""
    if not run.state.iteration and (deps.searches_index or run.state.kind == ASK):
        run.record(events.Noted, name=NOTE, data=refresh_index(deps.workspace, now=run.now()))


def _attempt_answer(run: Run, deps: Deps) -> None:
    """Answer; if the answer cannot stand, do what can make the next one better, or give up."""
    if not run.state.sub_questions:
        run.record(events.Planned, sub_questions=(run.state.question,))
    number = run.state.iteration + 1
    if number == 1 and knowledge_of(run.state).request.mends:
        repair(run, deps, "thumbs_down", SearchResult())
    with phase(run, "search"):
        _read_index(run, deps)
        words = " ".join(search_words(run.state.question))
        found = search_step(run, deps, RETRIEVE, str(number), run.state.question, SearchLimits(), words=words)
    with phase(run, "synthesize"):
        reason = _attempted(run, deps, found, number)
    if reason is None:
        _cover(run)
        return
    _signal(run, reason, found)
    if number > MAX_REPAIRS or not repair(run, deps, reason, found):
        limits = msgspec.structs.replace(run.state.limits, max_iterations=number)
        run.record(events.Narrowed, limits=limits)


def _attempted(run: Run, deps: Deps, found: SearchResult, number: int) -> Reason | None:
    """Answer from the sources, by the models if there are any; returns why it cannot stand, or None."""
    question, knowledge = run.state.question, knowledge_of(run.state)
    rejected = deps.tables.rejections(question)
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
        attempt = quoted(attempt, question, numbered(found.sources), rejected, most=most)
        reason = None if attempt.sentences else missed
    else:
        left = found.without(rejected.passages)
        attempt, reason = _of_model(run, deps, ladder, left, attempt)
    run.record(events.Noted, name=ATTEMPTED, data=msgspec.to_builtins(attempt))
    return missed if reason == "insufficient_evidence" else reason


def _of_model(
    run: Run, deps: Deps, ladder: Ladder, found: SearchResult, attempt: Attempt
) -> tuple[Attempt, Reason | None]:
    """Ask for an answer, and keep what its sources support; of a reply that cannot be used, what is found."""
    question, sources = run.state.question, numbered(found.sources)
    prompt = "strict" if STRICT in knowledge_of(run.state).actions else "answer"
    material = Material(question=question, sources=tuple(map(numbered_source, sources)))
    try:
        reply = ask(run, ladder, prompt, material, LlmResponse, key=f"{prompt}-{attempt.number}")
    except ModelError as error:
        if error.kind not in UNUSABLE:
            raise
        rejected = deps.tables.rejections(question)
        return unusable(quoted(attempt, question, sources, rejected), error), "contract_invalid"
    attempt = replace(attempt, intent=reply.intent)
    if not reply.answer.strip() or (not reply.confidence and not reply.citations):
        return attempt, "insufficient_evidence"
    is_last = not asks_again(run, deps, "citation_missing")
    checked = check_reply(reply.answer, reply.citations, sources, question, is_last=is_last)
    if reason := fault_of(checked):
        return replace(attempt, dropped=checked.dropped), reason
    return written(attempt, checked, question, sources), None


def _cover(run: Run) -> None:
    """Record the sentences as findings: with them, the question counts as answered."""
    attempt = knowledge_of(run.state).attempts[-1]
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
        _read_index(run, deps)
        if not run.state.sub_questions:
            _plan(run, deps)
        _turn(run)
        strategy = run.state.order.after if run.state.order else run.state.last_strategy or START_STRATEGY
        queries = next_queries(run.state, knowledge_of(run.state)) or _other_angle(run.state, deps, strategy)
    with phase(run, "search"):
        if not execute(run, deps, queries, strategy):
            _turn(run)
            other = _other_angle(run.state, deps, run.state.last_strategy)
            execute(run, deps, other, run.state.last_strategy)
    with phase(run, "reflect"):
        reflect(run, deps.ladder, _notes(run, deps))


def _plan(run: Run, deps: Deps) -> None:
    material = Material(question=run.state.question)
    plan = ask_or_do_without(run, deps.ladder, "plan", material, PlanResponse, key="plan", what="plan")
    request = knowledge_of(run.state).request
    tier = request.tier or plan.complexity_tier or "standard"
    parts = plan_parts(run.state.question, plan)
    is_exhaustive = run.state.mode == "exhaust"
    if not is_exhaustive:
        run.record(events.Narrowed, limits=run_limits(tier, request.wishes))
    run.record(events.Planned, sub_questions=(*parts, AGAINST) if is_exhaustive else parts)
    queries = msgspec.to_builtins(first_queries(run.state.question, plan, tier))
    run.record(events.Noted, name=PLANNED, data={"queries": queries, "tier": tier})


def _turn(run: Run) -> None:
    """Record drift, so that the strategy changes."""
    if turn := check_drift(run.state):
        run.record(events.Turned, rule=turn.rule, before=turn.before, after=turn.after)


def _other_angle(state: State, deps: Deps, strategy: tuple[str, ...]) -> list[PlanQuery]:
    """Return queries for the open sub-questions, turned the way of a strategy; none offline if exhaustive."""
    if state.mode == "exhaust" and deps.ladder.name == OFFLINE:
        return []
    open_parts = [part.text for part in state.sub_questions if part.is_open and part.text != AGAINST]
    number = state.iteration + 1
    searched = [search.query for search in state.search_history]
    texts = (angled(text, reversed(strategy), searched) for text in open_parts or [state.question])
    return [PlanQuery(text, "other angle", "", number) for text in texts]


def _notes(run: Run, deps: Deps) -> list[str]:
    """Return what helped in similar situations, if the run gets nowhere."""
    if not is_stuck(run.state, knowledge_of(run.state)):
        return []
    strategies = helped_before(deps.store, run.state)
    return [_ADVICE, *(f"helped before: {strategy}" for strategy in strategies)]


def helped_before(store: Store, state: State) -> tuple[str, ...]:
    """Return what made progress in similar situations, best first: strategies, then what solved failures."""
    advice = read_reflexion(store.reflexion(KIND)).similar(state.question, limit=_MAX_ADVICE)
    strategies = [pattern.strategy for pattern in advice.success_patterns]
    solutions = [failure.solution for failure in advice.failures if failure.result == "progress"]
    return tuple(dict.fromkeys([*strategies, *solutions]))


def _synthesised(run: Run, deps: Deps) -> Attempt:
    """Let the models write an answer, and keep what its sources say; if nothing is left, the findings."""
    knowledge, question = knowledge_of(run.state), run.state.question
    if not knowledge.sources or deps.ladder.name == OFFLINE:
        return _quoted(run, deps)
    memory = view(run, is_answer=True)
    material = material_of(run.state, memory, notes_of(knowledge, memory))
    reply = ask(run, deps.ladder, "synthesize", material, SynthesisResponse, key="answer", is_answer=True)
    checked = check_reply(reply.answer, reply.citations, knowledge.sources, question, is_last=True)
    checked = _checked_again(run, deps.ladder, checked)
    attempt = replace(_begun(run, deps), dropped=checked.dropped)
    if not checked.sentences:
        return answer_from(run.state, attempt)
    return written(attempt, checked, question, knowledge.sources, known=knowledge.contradictions_found)


def _quoted(run: Run, deps: Deps) -> Attempt:
    """Answer by passages of what was read; if none says it, by the findings, which sources say in parts."""
    knowledge, question = knowledge_of(run.state), run.state.question
    rejected = deps.tables.rejections(question)
    known = knowledge.contradictions_found
    attempt = quoted(_begun(run, deps), question, knowledge.sources, rejected, known=known)
    if attempt.sentences or rejected:
        return attempt
    found = answer_from(run.state, attempt)
    return replace(found, cited=(*found.cited, *attempt.cited)) if found.sentences else attempt


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
