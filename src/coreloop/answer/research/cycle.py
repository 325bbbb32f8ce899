"""An iteration of a research, and its answer: everything that a run repeats until its controller stops it."""

from dataclasses import replace
from typing import Final

import msgspec

from coreloop.answer.deps import Deps
from coreloop.answer.models.contracts import CheckResponse, PlanResponse, SynthesisResponse
from coreloop.answer.models.ladder import Ladder
from coreloop.answer.models.offline import NAME as OFFLINE
from coreloop.answer.models.prompt import Material
from coreloop.answer.research.answer import answer_from, build_response
from coreloop.answer.research.asking import AGAINST, ask, ask_or_do_without, material_of, notes_of
from coreloop.answer.research.attempt import check_reply, quoted, written
from coreloop.answer.research.execute import execute
from coreloop.answer.research.knowledge import (
    ANSWERED,
    DROPPED,
    NOTE,
    PLANNED,
    Attempt,
    PlanQuery,
    knowledge_of,
)
from coreloop.answer.research.learn import helped_before
from coreloop.answer.research.memory import Memory
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
from coreloop.answer.search.index.fresh import refresh_index
from coreloop.base.errors import BudgetError, ModelError
from coreloop.runs import events
from coreloop.runs.decide import Stop
from coreloop.runs.drift import check_drift
from coreloop.runs.phases import phase
from coreloop.runs.run import Run
from coreloop.runs.state import State

_ADVICE: Final = "Searches in a row found nothing: go back to first principles."
_MAX_REASONS: Final = 3
"""Of failed searches, in an answer."""


def iterate(run: Run, deps: Deps) -> None:
    """Do one iteration: plan, search, reflect. It begins and ends with the state of the run.

    The reflection is the end of an iteration, so that the controller decides with what was just found.
    """
    with phase(run, "plan"):
        if not run.state.iteration and deps.searches_index:
            note = refresh_index(deps.workspace, now=run.now())
            run.record(events.Noted, name=NOTE, data=note)
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


def answer(run: Run, _stop: Stop, deps: Deps) -> None:
    """Write the answer once, from the share that was reserved for it; without a model, from what was read."""
    try:
        with phase(run, "synthesize"):
            attempt = _synthesised(run, deps)
    except (ModelError, BudgetError) as error:
        other = _quoted(run, deps)
        attempt = replace(other, sentences=(), quoted=other.sentences, failure=str(error))
    for claim in attempt.dropped:
        run.record(events.Noted, name=DROPPED, data=msgspec.to_builtins(claim))
    response = build_response(run.state, attempt)
    run.record(events.Noted, name=ANSWERED, data=msgspec.to_builtins(response))


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
