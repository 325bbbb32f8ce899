"""The cycle of a run that answers: plan, search, judge what was found; its controller says when it stops.

`ask` judges by answering at once; an answer that cannot stand is repaired, and the next iteration asks again.
A research judges by a reflection, and answers in the end. Both answer by passages that say it, or by what a
model wrote and its sources support.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import Final

import msgspec

from coreloop.answer.deps import Deps
from coreloop.answer.models import contracts
from coreloop.answer.models.ladder import Ladder
from coreloop.answer.repair.actions import MAX_REPAIRS, OTHER_MODEL, STRICT, Reason, signalled
from coreloop.answer.repair.rounds import asks_again, repair
from coreloop.answer.research import asking, next_queries, run_searches
from coreloop.answer.research import research_state as names
from coreloop.answer.research.answer import answer_from, build_response
from coreloop.answer.research.reflect import reflect
from coreloop.answer.research.verify import UNCITED, Grounds, check_answer, numbered, quoted, reorder, without
from coreloop.answer.search.index.run import refresh_index
from coreloop.answer.search.provider import SearchLimits
from coreloop.answer.text.claims import plain
from coreloop.answer.text.rank import asks_for_fact, rank
from coreloop.answer.text.terms import keys, search_words
from coreloop.base.errors import BudgetError, ModelError
from coreloop.runs import events
from coreloop.runs.active_run import Run, phase
from coreloop.runs.decide import Stop
from coreloop.runs.drift import check_drift
from coreloop.runs.state import State

_MAX_REASONS: Final = 3  # failed searches that an answer names
_MOST_PASSAGES: Final = 6  # that a model gets: three by the question's words, and three more


def iterate(run: Run, deps: Deps) -> None:
    """Do one iteration. It begins and ends with the state of the run."""
    if run.state.kind == names.ASK:
        _answer_and_repair(run, deps)
    else:
        _explore(run, deps)


def conclude(run: Run, _stop: Stop, deps: Deps) -> None:
    """Write the answer of a research once, from the share that was reserved for it; `ask` has its own."""
    if run.state.kind == names.ASK:
        return
    knowledge = names.knowledge_of(run.state)
    reasons = dict.fromkeys(failed.reason for failed in knowledge.failed_queries)
    problem = "\n".join([*reasons][:_MAX_REASONS])
    with phase(run, "synthesize"):
        attempt = names.Attempt(number=run.state.iteration, problem=problem)
        if deps.searches_index and not deps.ladder.models:
            asked = _retrieve(run, deps, "answer", run.state.question).sources
            run_searches.number_sources(run, [(source, "") for source in asked])
        attempt, _ = write_answer(run, deps, names.knowledge_of(run.state).sources, attempt)
    for claim in attempt.dropped:
        run.record(events.Noted, name=names.DROPPED, data=msgspec.to_builtins(claim))
    response = build_response(run.state, attempt)
    run.record(events.Noted, name=names.ANSWERED, data=msgspec.to_builtins(response))


def _read_index(run: Run, deps: Deps) -> None:
    """Bring the index up to date before the first search, if it is searched."""
    if deps.searches_index and not run.state.iteration:
        run.record(events.Noted, name=names.NOTE, data=refresh_index(deps.workspace, now=run.now()))


def _answer_and_repair(run: Run, deps: Deps) -> None:
    """Answer; if the answer cannot stand, do what can make the next one better, or give up."""
    if not run.state.sub_questions:
        run.record(events.Planned, sub_questions=(run.state.question,))
    number = run.state.iteration + 1
    if number == 1 and names.knowledge_of(run.state).request.mends:
        repair(run, deps, "thumbs_down", run_searches.SearchResult())
    with phase(run, "search"):
        _read_index(run, deps)
        found = _reworded(run, deps, _retrieve(run, deps, str(number), run.state.question))
    with phase(run, "synthesize"):
        attempt = names.Attempt(number=number, found=Counter(found.origins), problem=found.reason)
        attempt, reason = write_answer(run, deps, numbered(found.sources), attempt)
        run.record(events.Noted, name=names.ATTEMPTED, data=msgspec.to_builtins(attempt))
    _cover(run, attempt)
    if reason:
        _signal(run, reason, found)
    may_repair = reason is not None and number <= MAX_REPAIRS and repair(run, deps, reason, found)
    if not (attempt.sentences or may_repair):
        limits = msgspec.structs.replace(run.state.limits, max_iterations=number)
        run.record(events.Narrowed, limits=limits)


def _retrieve(run: Run, deps: Deps, key: str, query: str) -> run_searches.SearchResult:
    """Search for the sources of an attempt."""
    about = {"question": run.state.question, "words": " ".join(search_words(query))}
    find = partial(run_searches.find_sources, deps, query, SearchLimits(), **about)
    return run_searches.search_step(run, "retrieve", key, find)


def _reworded(run: Run, deps: Deps, found: run_searches.SearchResult) -> run_searches.SearchResult:
    """Add what a model's other words find, if no sentence has those of a part of the question.

    They are said once for all attempts. They are untrusted: nothing but a search gets them.
    """
    asked = contracts.Material(question=run.state.question)
    parts = next_queries.question_parts(asked.question)
    if not deps.ladder.models or any(hit.is_near for part in parts for hit in rank(part, found.sources)):
        return found
    same, schema = contracts.PlannedQuery(query=asked.question, intent=""), contracts.PlannedQuery
    reply = asking.ask_or_do_without(run, deps.ladder, asking.REWORD, asked, schema, lambda _: same)
    (query,) = next_queries.new_queries([reply], iteration=0) or [names.PlanQuery(asked.question)]
    more = _retrieve(run, deps, f"{asking.REWORD}-{run.state.iteration + 1}", query.query)
    both = {"sources": more.sources + found.sources, "origins": more.origins + found.origins}
    return msgspec.structs.replace(found, **both)


def _cover(run: Run, attempt: names.Attempt) -> None:
    """Record the sentences as findings: with them, the question counts as answered."""
    for part in run.state.sub_questions:
        for sentence in attempt.sentences:
            source = attempt.cited[0].source.location
            run.record(events.FindingRecorded, sub_question=part.id, text=sentence, source=source)


def _signal(run: Run, reason: Reason, found: run_searches.SearchResult) -> None:
    """Record what went wrong, with the best file and the best symbol: where people would look first."""
    file, symbol = next(found.of("injected", "text"), None), next(found.of("symbol"), None)
    about = {"file": file.location if file else "", "symbol": symbol.title if symbol else ""}
    about["session_id"] = names.knowledge_of(run.state).request.session_id
    noted = signalled("critic", reason, trace_id=run.state.trace_id, now=run.now(), **about)
    run.record(events.Noted, name=noted.name, data=noted.data)


def _explore(run: Run, deps: Deps) -> None:
    """Plan, search and reflect; the reflection is last, so that the controller decides by what it found."""
    with phase(run, "plan"):
        _read_index(run, deps)
        if not run.state.sub_questions:
            _plan(run, deps)
        _turn(run)
        strategy = run.state.last_strategy or ("positive", "broad")
        known = names.knowledge_of(run.state)
        queries = next_queries.next_queries(run.state, known) or _other_angle(run.state, strategy)
    with phase(run, "search"):
        if not run_searches.execute(run, deps, queries, strategy):
            _turn(run)
            strategy = run.state.last_strategy
            run_searches.execute(run, deps, _other_angle(run.state, strategy), strategy)
    with phase(run, "reflect"):
        reflect(run, deps.ladder, rejections(run, deps))


def _plan(run: Run, deps: Deps) -> None:
    material = contracts.Material(question=run.state.question)
    plan = asking.ask_or_do_without(
        run, deps.ladder, "plan", material, contracts.PlanResponse, next_queries.plan_offline
    )
    request = names.knowledge_of(run.state).request
    tier = request.tier or plan.complexity_tier or "standard"
    parts = next_queries.plan_parts(run.state.question, plan)
    if run.state.mode == "exhaust":
        parts = (*parts, names.AGAINST)
    else:
        run.record(events.Narrowed, limits=names.run_limits(tier, request.wishes))
    run.record(events.Planned, sub_questions=parts)
    planned = plan.queries or next_queries.plan_offline(material).queries
    queries = msgspec.to_builtins(next_queries.new_queries(planned, iteration=1))
    run.record(events.Noted, name=names.PLANNED, data={"queries": queries, "tier": tier})


def _turn(run: Run) -> None:
    """Record drift, so that the strategy changes."""
    if turn := check_drift(run.state):
        run.record(events.Turned, rule=turn.rule, before=turn.before, after=turn.after)


def _other_angle(state: State, strategy: tuple[str, ...]) -> list[names.PlanQuery]:
    """Return queries for the open sub-questions, turned the way of a strategy."""
    parts = [part.text for part in state.sub_questions if part.is_open and part.text != names.AGAINST]
    number = state.iteration + 1
    searched = [search.query for search in state.search_history]
    turned = (next_queries.angled(text, reversed(strategy), searched) for text in parts or [state.question])
    return [names.PlanQuery(text, "other angle", number) for text in turned]


def write_answer(
    run: Run, deps: Deps, sources: Sequence[names.ReadSource], attempt: names.Attempt
) -> tuple[names.Attempt, Reason | None]:
    """Answer by what the models write and sources support, else by passages that say it, else by findings.

    The reason says why an answer of `ask` cannot stand.
    """
    knowledge, is_ask = names.knowledge_of(run.state), run.state.kind == names.ASK
    rejected, ladder = rejections(run, deps), _ladder(run, deps)
    project = deps.workspace if deps.searches_index else None
    grounds = Grounds(run.state.question, sources, rejected, knowledge.contradictions_found, project)
    attempt, grounds = replace(attempt, model=ladder.name), reorder(grounds) if is_ask else grounds
    found = quoted(attempt, grounds)
    if ladder.models and not (found.sentences or rejected):
        known = answer_from(run.state, found)
        found = replace(known, cited=(*known.cited, *found.cited)) if known.sentences else found
    missed: Reason = "insufficient_evidence" if sources else "search_miss"
    is_shown = not asks_for_fact(run.state.question) and any(part.end for part in found.passages[:1])
    if not (sources and ladder.models):
        return found, None if found.sentences or is_shown else missed
    try:
        checked = _written(run, deps, grounds, attempt)
        checked = _confirmed(run, ladder, checked, found) if is_ask else checked
    except (ModelError, BudgetError) as error:
        if ladder.is_optional:
            return found, None if found.sentences or is_shown else missed
        if is_ask and not knowledge.attempts and getattr(error, "kind", "") not in asking.UNUSABLE:
            raise
        return replace(found, sentences=(), quoted=found.sentences, failure=str(error)), "contract_invalid"
    if is_ask and not checked.sentences:
        is_uncited = all(one.reason == UNCITED for one in checked.dropped)
        fault: Reason = "citation_missing" if is_uncited else "citation_unsupported"
        found = replace(found, sentences=(), unsaid=(), differing=(), dropped=checked.dropped)
        return replace(found, verdict="nothing said so"), fault if checked.dropped else missed
    if not checked.sentences:
        return answer_from(run.state, checked), missed
    sides = {number for pair in found.differing for number in pair.sources}
    apart = [read for read in found.cited if read.number in sides]
    cited = {read.number: read for read in (*checked.cited, *apart)}
    return replace(checked, cited=tuple(cited.values()), differing=found.differing), None


def _written(run: Run, deps: Deps, grounds: Grounds, attempt: names.Attempt) -> names.Attempt:
    """Let the models write an answer, and keep the sentences that its sources support.

    A sentence that names no source is checked against those of the reply's citations, or against all if
    nobody will be asked again.
    """
    knowledge, ladder, is_last = names.knowledge_of(run.state), _ladder(run, deps), True
    reply: contracts.LlmResponse | contracts.SynthesisResponse
    if run.state.kind == names.ASK:
        left = [read for read in grounds.sources if grounds.may_mark(read.source.text)]
        prompt = "strict" if STRICT in knowledge.actions else "answer"
        material = asking.material_of(run.state, asking.Memory(tuple(left[:_MOST_PASSAGES]), ()))
        reply = asking.ask(run, ladder, prompt, material, contracts.LlmResponse)
        if not (reply.confidence or reply.citations):
            return attempt
        is_last = not asks_again(run, deps, "citation_missing")
    else:
        memory = asking.view(run, is_answer=True)
        material = asking.material_of(run.state, memory, asking.notes_of(knowledge, memory))
        reply = asking.ask(run, ladder, "synthesize", material, contracts.SynthesisResponse)
    cited = [int(citation.id.strip("[]")) for citation in reply.citations]
    every = range(1, len(grounds.sources) + 1) if is_last else ()
    attempt = check_answer(attempt, reply.answer, grounds, named=cited or every)
    if not (knowledge.request.second_check and attempt.sentences):
        return attempt
    notes = [f"sentence {number}: {text}" for number, text in enumerate(attempt.sentences, 1)]
    material = asking.material_of(run.state, asking.Memory(attempt.cited, ()), notes)
    checked = asking.ask(run, ladder, "check", material, contracts.CheckResponse)
    return without(attempt, checked.unsupported)


def _confirmed(run: Run, ladder: Ladder, checked: names.Attempt, found: names.Attempt) -> names.Attempt:
    """Take back an answer if a model says that it does not answer the question; not asked if two agree.

    Where a model is silent, what was found without it is asked about.
    """
    is_silent = not (checked.sentences or checked.dropped)
    answer = found if is_silent else checked
    quotes = keys(" ".join(found.sentences))
    new = [keys(plain(one)) - keys(run.state.question) for one in checked.sentences]
    if not answer.sentences or any(words and words <= quotes for words in new):
        return answer
    asked = contracts.Material(question=run.state.question, notes=tuple(map(plain, answer.sentences)))
    try:
        reply = asking.ask(run, ladder, "confirm", asked, contracts.ConfirmResponse)
    except (ModelError, BudgetError):  # no time, no money or no usable reply: nobody knows
        return checked
    return answer if reply.answers else replace(checked, sentences=())


def _ladder(run: Run, deps: Deps) -> Ladder:
    """Return the models to ask: after the last repair of an answer, the others."""
    is_other = OTHER_MODEL in names.knowledge_of(run.state).actions
    return (deps.ladder.rest if is_other else None) or deps.ladder


def rejections(run: Run, deps: Deps) -> frozenset[str]:
    """Return what persons rejected as an answer to a run's question, or to a part of it."""
    return deps.tables.rejections(run.state.question, *(part.text for part in run.state.sub_questions))
