"""An attempt at an answer: retrieve, generate, critique; and what is done if it cannot stand."""

from typing import Final

import msgspec

from coreloop.answer.models.contracts import LlmResponse
from coreloop.answer.models.prompt import Material, NumberedSource
from coreloop.answer.repair.actions import MAX_REPAIRS, OTHER_MODEL, STRICT
from coreloop.answer.repair.case import ATTEMPTED, SIGNALLED, Attempt, case_of
from coreloop.answer.repair.critique import Critique, criticise
from coreloop.answer.repair.desk import RepairDesk
from coreloop.answer.repair.mend import mend
from coreloop.answer.repair.retrieve import Retrieved, retrieve
from coreloop.answer.repair.signals import Context, Signal, envelope
from coreloop.answer.research.asking import ask
from coreloop.answer.research.knowledge import ReadSource
from coreloop.answer.research.verify import CheckedAnswer
from coreloop.answer.search.source import Source
from coreloop.base.errors import ModelError
from coreloop.runs import events
from coreloop.runs.phases import phase
from coreloop.runs.run import Run

_UNUSABLE: Final = frozenset({"malformed", "cut", "refused"})
"""Kinds of model errors after which another prompt or model can help."""


def iterate(run: Run, desk: RepairDesk) -> None:
    """Answer once; if the answer cannot stand, do what can make the next one better, or give up."""
    if not run.state.sub_questions:
        run.record(events.Planned, sub_questions=(run.state.question,))
    number = run.state.iteration + 1
    asked = case_of(run.state).asked
    if number == 1 and asked.mends:
        mend(run, desk, "thumbs_down", Retrieved())
    with phase(run, "search"):
        found = retrieve(run, desk, number=number).without(asked.rejected)
    with phase(run, "synthesize"):
        critique = _attempt(run, desk, found, number)
    if critique.reason is None:
        _cover(run)
        return
    signal = Signal(
        source="critic", reason=critique.reason, session_id=_session(run), context=_context(found)
    )
    _signal(run, signal)
    if number > MAX_REPAIRS or not mend(run, desk, critique.reason, found):
        limits = msgspec.structs.replace(run.state.limits, max_iterations=number)
        run.record(events.Narrowed, limits=limits)


def _attempt(run: Run, desk: RepairDesk, found: Retrieved, number: int) -> Critique:
    """Ask the models for an answer, and keep what its sources support."""
    does = case_of(run.state).does
    ladder = desk.desk.ladder.rest if OTHER_MODEL in does and desk.desk.ladder.rest else desk.desk.ladder
    prompt = "strict" if STRICT in does else "answer"
    intent, confidence = "", 0.0
    try:
        reply = ask(
            run,
            ladder,
            prompt,
            _material(run, found),
            LlmResponse,
            key=f"{prompt}-{number}",
            package="coreloop.answer.repair",
        )
        critique = criticise(reply, found.sources)
        intent, confidence = reply.intent, reply.confidence
    except ModelError as error:
        if error.kind not in _UNUSABLE:
            raise
        critique = Critique(CheckedAnswer((), ()), "contract_invalid")
    stands = critique.reason is None
    attempt = Attempt(
        number=number,
        model=ladder.name,
        intent=intent,
        confidence=confidence if stands else 0.0,
        sentences=critique.checked.sentences if stands else (),
        cited=_cited(critique.checked, found.sources) if stands else (),
        dropped=critique.checked.dropped,
        found=found.counts,
        problem=found.problem,
    )
    run.record(events.Noted, name=ATTEMPTED, data=msgspec.to_builtins(attempt))
    return critique


def _material(run: Run, found: Retrieved) -> Material:
    sources = tuple(
        NumberedSource(
            number=number, title=source.title, text=source.text, type=source.type, location=source.location
        )
        for number, source in enumerate(found.sources, 1)
    )
    return Material(question=run.state.question, sources=sources)


def _cited(checked: CheckedAnswer, sources: tuple[Source, ...]) -> tuple[ReadSource, ...]:
    return tuple(ReadSource(number, sources[number - 1], "", "", 1) for number in checked.cited)


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
