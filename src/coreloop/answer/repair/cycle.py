"""An attempt of `ask`: retrieve, answer, check; and what is done if the answer cannot stand."""

from dataclasses import replace
from datetime import UTC, datetime
from typing import Any, Final

import msgspec

from coreloop.answer.deps import Deps
from coreloop.answer.models.contracts import LlmResponse
from coreloop.answer.models.ladder import Ladder
from coreloop.answer.models.offline import NAME as OFFLINE
from coreloop.answer.models.prompt import Material
from coreloop.answer.models.questions import search_words
from coreloop.answer.repair.actions import MAX_REPAIRS, OTHER_MODEL, STRICT
from coreloop.answer.repair.mend import asks_again, mend
from coreloop.answer.repair.signals import TYPE as SIGNALLED
from coreloop.answer.repair.signals import Context, Reason, Signal, envelope
from coreloop.answer.repair.tables import Rejected
from coreloop.answer.research.asking import UNUSABLE, ask, numbered_source
from coreloop.answer.research.attempt import check_reply, fault_of, numbered, quoted, written
from coreloop.answer.research.knowledge import ATTEMPTED, Attempt, knowledge_of
from coreloop.answer.research.passages import SHOWN
from coreloop.answer.retrieve import SearchResult, find_sources
from coreloop.answer.search.index.fresh import refresh_index
from coreloop.answer.search.provider import SearchLimits
from coreloop.base.errors import ModelError
from coreloop.runs import events
from coreloop.runs.amounts import NOTHING, Amount
from coreloop.runs.phases import phase
from coreloop.runs.run import Run

RETRIEVE: Final = "retrieve"
"""Name of the steps."""


def iterate(run: Run, deps: Deps) -> None:
    """Answer once; if the answer cannot stand, do what can make the next one better, or give up."""
    if not run.state.sub_questions:
        run.record(events.Planned, sub_questions=(run.state.question,))
    number = run.state.iteration + 1
    if number == 1 and knowledge_of(run.state).request.mends:
        mend(run, deps, "thumbs_down", SearchResult())
    with phase(run, "search"):
        found = _retrieve(run, deps, number)
    with phase(run, "synthesize"):
        reason = _attempt(run, deps, found, number)
    if reason is None:
        _cover(run)
        return
    _signal(run, reason, found)
    if number > MAX_REPAIRS or not mend(run, deps, reason, found):
        limits = msgspec.structs.replace(run.state.limits, max_iterations=number)
        run.record(events.Narrowed, limits=limits)


def _retrieve(run: Run, deps: Deps, number: int) -> SearchResult:
    """Search for the sources of an attempt, as a step of its run; the first one reads changed files first."""
    question = run.state.question

    def call(_key: str) -> tuple[Any, Amount]:
        note = refresh_index(deps.workspace, now=datetime.now(UTC)) if number == 1 else ""
        words = " ".join(search_words(question))
        found = find_sources(deps, question, SearchLimits(), words=words)
        return msgspec.to_builtins(msgspec.structs.replace(found, note=note)), NOTHING

    stored = run.step(RETRIEVE, f"{RETRIEVE}-{number}", call, at_most=NOTHING)
    return msgspec.convert(stored, SearchResult)


def _attempt(run: Run, deps: Deps, found: SearchResult, number: int) -> Reason | None:
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
        note=found.note,
    )
    missed: Reason = "insufficient_evidence" if found.sources else "search_miss"
    if ladder.name == OFFLINE:
        most = 2 * SHOWN if knowledge.request.wants_more else SHOWN
        attempt = quoted(attempt, question, numbered(found.sources), rejected, most=most)
        reason = None if attempt.sentences else missed
    else:
        left = found.without(rejected.passages)
        attempt, reason = _of_model(run, deps, ladder, left, attempt, rejected)
    run.record(events.Noted, name=ATTEMPTED, data=msgspec.to_builtins(attempt))
    return missed if reason == "insufficient_evidence" else reason


def _of_model(
    run: Run, deps: Deps, ladder: Ladder, found: SearchResult, attempt: Attempt, rejected: Rejected
) -> tuple[Attempt, Reason | None]:
    """Ask for an answer, and keep what its sources support; of a reply that cannot be used, what is found."""
    question, sources = run.state.question, numbered(found.sources)
    prompt = "strict" if STRICT in knowledge_of(run.state).actions else "answer"
    material = Material(question=question, sources=tuple(map(numbered_source, sources)))
    key, package = f"{prompt}-{attempt.number}", "coreloop.answer.repair"
    try:
        reply = ask(run, ladder, prompt, material, LlmResponse, key=key, package=package)
    except ModelError as error:
        if error.kind not in UNUSABLE:
            raise
        other = quoted(attempt, question, sources, rejected)
        return replace(other, sentences=(), quoted=other.sentences, failure=str(error)), "contract_invalid"
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
    run.record(events.Noted, name=SIGNALLED, data=msgspec.to_builtins(message))
