"""An attempt at an answer: retrieve, generate, critique; and what is done if it cannot stand."""

from collections.abc import Iterable
from dataclasses import replace

import msgspec

from coreloop.answer.deps import Deps
from coreloop.answer.models.contracts import LlmResponse
from coreloop.answer.models.ladder import Ladder
from coreloop.answer.models.offline import NAME as OFFLINE
from coreloop.answer.models.prompt import Material, NumberedSource
from coreloop.answer.repair.actions import MAX_REPAIRS, OTHER_MODEL, STRICT
from coreloop.answer.repair.case import ATTEMPTED, SIGNALLED, Attempt, case_of
from coreloop.answer.repair.critique import criticise
from coreloop.answer.repair.mend import asks_again, mend
from coreloop.answer.repair.retrieve import Retrieved, retrieve
from coreloop.answer.repair.signals import Context, Reason, Signal, envelope
from coreloop.answer.research.asking import UNUSABLE, ask
from coreloop.answer.research.knowledge import ReadSource
from coreloop.answer.research.passages import SHOWN, Rejected, find_passages
from coreloop.answer.search.source import Source
from coreloop.base.errors import ModelError
from coreloop.runs import events
from coreloop.runs.phases import phase
from coreloop.runs.run import Run


def iterate(run: Run, deps: Deps) -> None:
    """Answer once; if the answer cannot stand, do what can make the next one better, or give up."""
    if not run.state.sub_questions:
        run.record(events.Planned, sub_questions=(run.state.question,))
    number = run.state.iteration + 1
    asked = case_of(run.state).asked
    if number == 1 and asked.mends:
        mend(run, deps, "thumbs_down", Retrieved())
    with phase(run, "search"):
        found = retrieve(run, deps, number=number)
    with phase(run, "synthesize"):
        reason = _attempt(run, deps, found, number)
    if reason is None:
        _cover(run)
        return
    signal = Signal(source="critic", reason=reason, session_id=_session(run), context=_context(found))
    _signal(run, signal)
    if number > MAX_REPAIRS or not mend(run, deps, reason, found):
        limits = msgspec.structs.replace(run.state.limits, max_iterations=number)
        run.record(events.Narrowed, limits=limits)


def _attempt(run: Run, deps: Deps, found: Retrieved, number: int) -> Reason | None:
    """Answer from the sources, by the models if there are any; returns why it cannot stand, or None."""
    reason: Reason | None
    case, rejected = case_of(run.state), deps.tables.rejections(run.state.question)
    ladder = deps.ladder.rest if OTHER_MODEL in case.does and deps.ladder.rest else deps.ladder
    said = Attempt(
        number=number, model=ladder.name, found=found.counts, problem=found.problem, note=found.note
    )
    if ladder.name == OFFLINE:
        said = _without_model(run, found, rejected, said)
        missed: Reason = "insufficient_evidence" if found.sources else "search_miss"
        reason = None if said.sentences else missed
    else:
        is_last = not asks_again(run, deps, "citation_missing")
        left = found.without(rejected.passages)
        said, reason = _of_model(run, ladder, left, said, rejected, is_last=is_last)
    run.record(events.Noted, name=ATTEMPTED, data=msgspec.to_builtins(said))
    return reason


def _without_model(run: Run, found: Retrieved, rejected: Rejected, said: Attempt) -> Attempt:
    most = 2 * SHOWN if case_of(run.state).asked.wants_more else SHOWN
    best = find_passages(run.state.question, found.sources, rejected=rejected, most=most)
    numbers = [number for _, number in best.quoted] + [passage.number for passage in best.shown]
    numbers += [number for pair in best.differing for side in (pair.a, pair.b) for number in side.sources]
    return replace(
        said,
        verdict=best.verdict,
        sentences=tuple(f"{text} [{number}]" for text, number in best.quoted),
        cited=_cited(numbers, found.sources),
        passages=best.shown,
        differing=best.differing,
    )


def _of_model(
    run: Run, ladder: Ladder, found: Retrieved, said: Attempt, rejected: Rejected, *, is_last: bool
) -> tuple[Attempt, Reason | None]:
    """Ask for an answer, and keep what its sources support; of a reply that cannot be used, what is found."""
    prompt = "strict" if STRICT in case_of(run.state).does else "answer"
    package = "coreloop.answer.repair"
    key = f"{prompt}-{said.number}"
    try:
        reply = ask(run, ladder, prompt, _material(run, found), LlmResponse, key=key, package=package)
    except ModelError as error:
        if error.kind not in UNUSABLE:
            raise
        other = _without_model(run, found, rejected, said)
        return replace(other, sentences=(), quoted=other.sentences, failure=str(error)), "contract_invalid"
    critique = criticise(reply, found.sources, run.state.question, is_last=is_last)
    if critique.reason is not None:
        return replace(said, intent=reply.intent, dropped=critique.checked.dropped), critique.reason
    pairs = find_passages(run.state.question, found.sources, rejected=rejected).differing
    numbers = [number for pair in pairs for side in (pair.a, pair.b) for number in side.sources]
    whole = replace(
        said,
        intent=reply.intent,
        verdict="says so",
        sentences=critique.checked.sentences,
        cited=_cited([*critique.checked.cited, *numbers], found.sources),
        dropped=critique.checked.dropped,
        differing=pairs,
    )
    return whole, None


def _material(run: Run, found: Retrieved) -> Material:
    sources = tuple(
        NumberedSource(
            number=number, title=source.title, text=source.text, type=source.type, location=source.location
        )
        for number, source in enumerate(found.sources, 1)
    )
    return Material(question=run.state.question, sources=sources)


def _cited(numbers: Iterable[int], sources: tuple[Source, ...]) -> tuple[ReadSource, ...]:
    return tuple(ReadSource(number, sources[number - 1], "", "", 1) for number in dict.fromkeys(numbers))


def _cover(run: Run) -> None:
    """Record the sentences as findings: with them, the question counts as answered."""
    attempt = case_of(run.state).attempts[-1]
    source = attempt.cited[0].source.location
    for part in run.state.sub_questions:
        for sentence in attempt.sentences:
            run.record(events.FindingRecorded, sub_question=part.id, text=sentence, source=source)


def _signal(run: Run, signal: Signal) -> None:
    message = envelope(signal, trace_id=run.state.trace_id, now=run.now())
    run.record(events.Noted, name=SIGNALLED, data=msgspec.to_builtins(message))


def _session(run: Run) -> str:
    return case_of(run.state).asked.session_id


def _context(found: Retrieved) -> Context:
    """Return the best file and the best symbol: where people would look first."""
    file = next(found.of("injected", "text"), None)
    symbol = next(found.of("symbol"), None)
    return Context(file.location if file else "", symbol.title if symbol else "")
