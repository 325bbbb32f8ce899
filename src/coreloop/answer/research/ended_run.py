"""What an ended run leaves behind: a record for the slow loop, and of `ask` its row and its gap."""

from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import msgspec

from coreloop.answer.deps import Deps
from coreloop.answer.repair.tables import AnswerRow
from coreloop.answer.research.answer import AgentResponse, attempt_calls, respond
from coreloop.answer.research.pages import PAGE, PageResult
from coreloop.answer.research.research_state import ASK, Attempt, Knowledge, knowledge_of
from coreloop.answer.research.run_searches import SEARCH
from coreloop.answer.retrieve import SearchResult
from coreloop.observe.collector import OwnCollector
from coreloop.runs.events import Outcome, StepCommitted
from coreloop.runs.load import load_run
from coreloop.runs.state import State
from coreloop.runs.stores.store import Store


def keep_ended(deps: Deps, state: State) -> None:
    """Keep what an ended run is worth to later ones, once, however often it was resumed."""
    _keep(deps, state, has_record=False, has_row=False)


def keep_ended_late(run_id: str, deps: Deps) -> None:
    """Keep what is missing of a run whose process died just after its end."""
    state = load_run(deps.store, run_id)[0].state
    has_record = is_recorded(_data_dir(deps), run_id, since=state.clock)
    _keep(deps, state, has_record=has_record, has_row=deps.tables.has_answer(run_id))


def _keep(deps: Deps, state: State, *, has_record: bool, has_row: bool) -> None:
    if knowledge_of(state).request.is_replay:
        return
    answer = respond(state)
    if not has_record:
        _record(deps, state, answer)
    if state.kind == ASK and not has_row:
        _keep_gap(deps, state, answer)
        _keep_row(deps, state, answer)  # last: with the row, all of it is there


def _record(deps: Deps, state: State, answer: AgentResponse) -> None:
    audit = OwnCollector(
        question=state.question,
        model=answer.model or deps.ladder.name,
        session_id=answer.session_id,
        request_id=state.run_id,
        data_dir=_data_dir(deps),
    )
    for call in (*_attempts(state), *_steps(deps.store, state.run_id)):
        audit.observe_tool_call(**call)
    audit.flush(
        chunk_len=len(answer.final_answer) if answer.supported else 0,
        rounds=len(knowledge_of(state).attempts) or state.iteration,
        error=state.stop_reason if state.status == "failed" else None,
        skill_used=state.kind,
    )


def _data_dir(deps: Deps) -> Path:
    return deps.workspace.root / deps.workspace.settings.data_dir


def _attempts(state: State) -> Iterator[Mapping[str, Any]]:
    """Yield the attempts of an answer; a failed one is a failed call with its cause."""
    knowledge = knowledge_of(state)
    for call, attempt in zip(attempt_calls(state), knowledge.attempts, strict=True):
        located = [{"location": read.source.location} for read in attempt.cited]
        yield {
            "name": call.name,
            "args": call.args,
            "error": _cause(knowledge, attempt),
            "result": located,
        }


def _cause(knowledge: Knowledge, attempt: Attempt) -> str | None:
    """Say why an attempt failed, and what the repair after it found to be missing."""
    if attempt.sentences:
        return None
    signals = [signal for signal in knowledge.signals if signal.source == "critic"]
    reason = signals[attempt.number - 1].reason if attempt.number <= len(signals) else "failed"
    done = [line for repair in knowledge.repairs if repair.attempt == attempt.number for line in repair.jobs]
    return f"{reason}: not found in the index; {'; '.join(done) or 'nothing to repair'}"


def _steps(store: Store, run_id: str) -> Iterator[Mapping[str, Any]]:
    """Yield the searches and the pages of a research, from its committed steps."""
    for _seq, event in store.read(run_id):
        if isinstance(event, StepCommitted) and event.name == SEARCH:
            yield _search(msgspec.convert(event.result, SearchResult))
        elif isinstance(event, StepCommitted) and event.name == PAGE:
            yield _page(msgspec.convert(event.result, PageResult))


def _search(result: SearchResult) -> Mapping[str, Any]:
    return {
        "name": result.provider if result.provider == "index" else SEARCH,
        "args": {
            "query": result.query,
            "provider": result.provider,
            "strategy": "+".join(result.strategy),
        },
        "error": _error(result.outcome, result.reason),
        "duration_ms": result.elapsed_ms,
        "result": [{"location": source.location, "title": source.title} for source in result.sources],
    }


def _page(result: PageResult) -> Mapping[str, Any]:
    return {
        "name": PAGE,
        "args": {"url": result.url},
        "error": _error(result.outcome, result.reason),
        "duration_ms": result.elapsed_ms,
        "result": {"title": result.source.title if result.source else ""},
    }


def _error(outcome: Outcome, reason: str) -> str | None:
    return None if outcome in {"found", "empty"} else f"{outcome}: {reason}"


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
    return any(_has(path, wanted) for path in days)


def _has(path: Path, wanted: bytes) -> bool:
    with path.open("rb") as file:
        return any(wanted in line for line in file)
