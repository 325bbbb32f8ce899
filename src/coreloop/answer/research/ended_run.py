"""What an ended run leaves behind: a record for the slow loop, and of `ask` its row and its gap."""

from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import msgspec

from coreloop.answer.deps import Deps
from coreloop.answer.repair.tables import AnswerRow
from coreloop.answer.research.answer import AgentResponse, attempt_call, respond
from coreloop.answer.research.research_state import ASK, Attempt, Knowledge, knowledge_of
from coreloop.answer.research.run_searches import PAGE, SEARCH
from coreloop.answer.retrieve import SearchResult
from coreloop.observe.collector import OwnCollector
from coreloop.runs.events import StepCommitted
from coreloop.runs.load import load_run
from coreloop.runs.state import State


def keep_ended(deps: Deps, state: State, *, is_late: bool = False) -> None:
    """Keep what an ended run is worth to later ones.

    Parameters
    ----------
    deps : Deps
        Where to keep it.
    state : State
        Of the run.
    is_late : bool
        The process that ended the run may have died just then: only what is missing is kept.
    """
    if knowledge_of(state).request.is_replay:
        return
    answer = respond(state)
    if not (is_late and is_recorded(_data_dir(deps), state.run_id, since=state.clock)):
        _record(deps, state, answer)
    if state.kind == ASK and not (is_late and deps.tables.has_answer(state.run_id)):
        _keep_gap(deps, state, answer)
        _keep_row(deps, state, answer)  # last: with the row, all of it is there


def keep_ended_late(run_id: str, deps: Deps) -> None:
    """Keep what is missing of a run whose process died just after its end."""
    keep_ended(deps, load_run(deps.store, run_id)[0].state, is_late=True)


def _record(deps: Deps, state: State, answer: AgentResponse) -> None:
    audit = OwnCollector(
        question=state.question,
        model=answer.model or deps.ladder.name,
        session_id=answer.session_id,
        request_id=state.run_id,
        data_dir=_data_dir(deps),
    )
    knowledge = knowledge_of(state)
    for attempt in knowledge.attempts:
        call, error = attempt_call(state, attempt), None if attempt.sentences else _cause(knowledge, attempt)
        located = [{"location": read.source.location} for read in attempt.cited]
        audit.observe_tool_call(call.name, call.args, error=error, result=located)
    for _seq, event in deps.store.read(state.run_id):
        if isinstance(event, StepCommitted) and event.name in {SEARCH, PAGE}:
            _observe(audit, msgspec.convert(event.result, SearchResult))
    audit.flush(
        chunk_len=len(answer.final_answer) if answer.supported else 0,
        rounds=len(knowledge.attempts) or state.iteration,
        error=state.stop_reason if state.status == "failed" else None,
        skill_used=state.kind,
    )


def _data_dir(deps: Deps) -> Path:
    return deps.workspace.root / deps.workspace.settings.data_dir


def _cause(knowledge: Knowledge, attempt: Attempt) -> str:
    """Say why an attempt failed, and what the repair after it did."""
    reasons = [signal.reason for signal in knowledge.signals if signal.source == "critic"]
    reason = reasons[attempt.number - 1] if attempt.number <= len(reasons) else "failed"
    done = [line for repair in knowledge.repairs if repair.attempt == attempt.number for line in repair.jobs]
    return f"{reason}: not found in the index; {'; '.join(done) or 'nothing to repair'}"


def _observe(audit: OwnCollector, result: SearchResult) -> None:
    """Add a search, or a page of a research."""
    error = None if result.outcome in {"found", "empty"} else f"{result.outcome}: {result.reason}"
    name, args = PAGE, {"url": result.query}
    found: Any = {"title": "".join(source.title for source in result.sources)}
    if result.provider != PAGE:
        name = result.provider if result.provider == "index" else SEARCH
        strategy = "+".join(result.strategy)
        args = {"query": result.query, "provider": result.provider, "strategy": strategy}
        found = [{"location": source.location, "title": source.title} for source in result.sources]
    audit.observe_tool_call(name, args, error=error, duration_ms=result.elapsed_ms, result=found)


def _keep_gap(deps: Deps, state: State, answer: AgentResponse) -> None:
    """Close the gap of a question that was answered; of another one, open it."""
    now, signals = datetime.now(UTC), knowledge_of(state).signals
    if answer.supported:
        deps.tables.close_gaps(state.question, by="repair", now=now)
    elif signals:
        last = signals[-1]
        deps.tables.open_gap(
            topic=state.question,
            file=last.context.file,
            symbol=last.context.symbol,
            reason=last.reason,
            now=now,
        )


def _keep_row(deps: Deps, state: State, answer: AgentResponse) -> None:
    knowledge = knowledge_of(state)
    deps.tables.keep_answer(
        AnswerRow(
            run_id=state.run_id,
            session_id=answer.session_id,
            ended_at=datetime.now(UTC),
            is_supported=answer.supported,
            repairs=answer.repairs,
            mends=knowledge.request.mends,
            found=knowledge.attempts[-1].found if knowledge.attempts else {},
        )
    )


def is_recorded(data_dir: Path, request_id: str, *, since: datetime) -> bool:
    """Whether the day files of own records from a time on have a request.

    Parameters
    ----------
    data_dir : Path
        Contains ``audit/own/``.
    request_id : str
        A ULID.
    since : datetime
        With a zone.

    Raises
    ------
    OSError
        A file cannot be read.
    """
    first, wanted = f"{since.astimezone(UTC).date()}.jsonl", f'"request_id":"{request_id}"'.encode()
    days = (path for path in (data_dir / "audit" / "own").glob("*.jsonl") if path.name >= first)
    return any(wanted in path.read_bytes() for path in days)
