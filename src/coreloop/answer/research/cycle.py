"""The cycle of a run that answers: plan, search, judge what was found; its controller says when it stops.

`ask` judges by answering at once; an answer that cannot stand is repaired, and the next iteration asks again.
A research judges by a reflection, and answers in the end.
"""

from typing import Final

import msgspec

from coreloop.answer.deps import Deps
from coreloop.answer.models.contracts import PlanResponse
from coreloop.answer.models.offline import NAME as OFFLINE
from coreloop.answer.models.prompt import Material
from coreloop.answer.repair.actions import MAX_REPAIRS, Context, Reason, Signal, envelope
from coreloop.answer.repair.actions import TYPE as SIGNALLED
from coreloop.answer.repair.rounds import repair
from coreloop.answer.research.answer import build_response
from coreloop.answer.research.answer_attempt import (
    attempt_answer,
    quoted_sources,
    rejections,
    synthesised,
    unusable,
)
from coreloop.answer.research.asking import AGAINST, ask_or_do_without
from coreloop.answer.research.next_queries import (
    START_STRATEGY,
    angled,
    first_queries,
    is_stuck,
    next_queries,
    plan_parts,
)
from coreloop.answer.research.reflect import reflect
from coreloop.answer.research.research_state import (
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
from coreloop.answer.research.run_searches import execute, search_step
from coreloop.answer.research.tiers import run_limits
from coreloop.answer.retrieve import SearchResult
from coreloop.answer.search.index.run import refresh_index
from coreloop.answer.search.provider import SearchLimits
from coreloop.answer.text.terms import search_words
from coreloop.base.errors import BudgetError, ModelError
from coreloop.runs import events
from coreloop.runs.active_run import Run
from coreloop.runs.decide import Stop
from coreloop.runs.drift import check_drift
from coreloop.runs.lessons import read_reflexion
from coreloop.runs.phases import phase
from coreloop.runs.state import State
from coreloop.runs.stores.store import Store

RETRIEVE: Final = "retrieve"
"""Name of the steps that search for the sources of an attempt."""
_ADVICE: Final = "Searches in a row found nothing: go back to first principles."
_MAX_ADVICE: Final = 3
"""Strategies and solutions of similar situations that a stuck research is told."""


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
    try:
        with phase(run, "synthesize"):
            attempt = synthesised(run, deps)
    except (ModelError, BudgetError) as error:
        attempt = unusable(quoted_sources(run, deps), error)
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
        found = search_step(run, deps, RETRIEVE, str(number), run.state.question, SearchLimits(), words=words)
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
        queries = next_queries(run.state, knowledge_of(run.state)) or _other_angle(run.state, deps, strategy)
    with phase(run, "search"):
        if not execute(run, deps, queries, strategy):
            _turn(run)
            other = _other_angle(run.state, deps, run.state.last_strategy)
            execute(run, deps, other, run.state.last_strategy)
    with phase(run, "reflect"):
        reflect(run, deps.ladder, rejections(run, deps), _notes(run, deps))


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
