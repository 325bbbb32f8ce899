"""What an ended answer leaves behind: a record for the slow loop, and a gap that people should close."""

from datetime import UTC, datetime
from pathlib import Path

from coreloop.answer.deps import Deps
from coreloop.answer.repair.tables import AnswerRow
from coreloop.answer.research.answer import respond, tool_calls
from coreloop.answer.research.knowledge import Attempt, Knowledge, knowledge_of
from coreloop.observe.collector import OwnCollector
from coreloop.observe.written import is_recorded
from coreloop.runs.load import load_run
from coreloop.runs.state import State


def learn(deps: Deps, state: State) -> None:
    """Keep what an ended answer is worth to later ones: its record, its row, and its gap."""
    if knowledge_of(state).request.is_replay:
        return
    _record(deps, state)
    _keep(deps, state, datetime.now(UTC))


def learn_late(run_id: str, deps: Deps) -> None:
    """Keep what an answer left unsaid whose process died after its end."""
    state = load_run(deps.store, run_id)[0].state
    if knowledge_of(state).request.is_replay:
        return
    if not is_recorded(_data_dir(deps), run_id, since=state.clock):
        _record(deps, state)
    if not deps.tables.has_answer(run_id):
        _keep(deps, state, datetime.now(UTC))


def _keep(deps: Deps, state: State, now: datetime) -> None:
    """Keep the gap of an answer, then its row: with the row, all of it is there."""
    case, question = knowledge_of(state), state.question
    if respond(state).supported:
        deps.tables.close_gaps(question, by="repair", now=now)
    elif case.signals:
        last = case.signals[-1]
        deps.tables.open_gap(
            topic=question, file=last.context.file, symbol=last.context.symbol, reason=last.reason, now=now
        )
    _keep_row(deps, state, now)


def _record(deps: Deps, state: State) -> None:
    """Write one v2 record; a failed attempt is a failed call with its cause."""
    case, answer = knowledge_of(state), respond(state)
    audit = OwnCollector(
        question=state.question,
        model=answer.model or deps.ladder.name,
        session_id=answer.session_id,
        request_id=state.run_id,
        data_dir=_data_dir(deps),
    )
    for call, attempt in zip(tool_calls(state), case.attempts, strict=True):
        audit.observe_tool_call(
            call.name,
            call.args,
            error=_cause(case, attempt),
            result=[{"location": read.source.location} for read in attempt.cited],
        )
    audit.flush(
        chunk_len=len(answer.final_answer) if answer.supported else 0,
        rounds=len(case.attempts),
        error=state.stop_reason if state.status == "failed" else None,
        skill_used="ask",
    )


def _data_dir(deps: Deps) -> Path:
    return deps.workspace.root / deps.workspace.settings.data_dir


def _cause(case: Knowledge, attempt: Attempt) -> str | None:
    """Say why an attempt failed, and what the repair after it found to be missing."""
    if attempt.sentences:
        return None
    signals = [signal for signal in case.signals if signal.source == "critic"]
    reason = signals[attempt.number - 1].reason if attempt.number <= len(signals) else "failed"
    done = [line for repair in case.repairs if repair.attempt == attempt.number for line in repair.jobs]
    return f"{reason}: not found in the index; {'; '.join(done) or 'nothing to repair'}"


def _keep_row(deps: Deps, state: State, now: datetime) -> None:
    case, answer = knowledge_of(state), respond(state)
    deps.tables.keep_answer(
        AnswerRow(
            run_id=state.run_id,
            session_id=answer.session_id,
            ended_at=now,
            is_supported=answer.supported,
            repairs=answer.repairs,
            mends=case.request.mends,
            found=case.attempts[-1].found if case.attempts else {},
        )
    )
