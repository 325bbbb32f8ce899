"""One record of a research for the slow loop: the searches that a run made, as calls of tools."""

from collections.abc import Iterator

import msgspec

from coreloop.observe.collector import AuditCollector
from coreloop.research.answer import respond
from coreloop.research.desk import Desk
from coreloop.research.execute import SEARCH, SearchResult
from coreloop.runs.events import StepCommitted
from coreloop.runs.state import State
from coreloop.runs.stores.store import Store


def record_research(desk: Desk, state: State) -> None:
    """Write the record of an ended research, from its committed steps: one, however often it was resumed."""
    workspace = desk.workspace
    response = respond(state)
    audit = AuditCollector(
        question=state.question,
        model=desk.ladder.name,
        session_id=state.run_id,
        data_dir=workspace.root / workspace.settings.data_dir,
    )
    for result in _searches(desk.store, state.run_id):
        is_ok = result.outcome in {"found", "empty"}
        audit.observe_tool_call(
            SEARCH,
            {"query": result.query, "provider": result.provider, "strategy": "+".join(result.strategy)},
            ok=is_ok,
            error=None if is_ok else f"{result.outcome}: {result.reason}",
            duration_ms=result.elapsed_ms,
            result=[{"location": one.location, "title": one.title} for one in result.sources],
        )
    audit.flush(
        chunk_len=len(response.final_answer) if response.sources else 0,
        rounds=state.iteration,
        error=state.stop_reason if state.status == "failed" else None,
        skill_used="research",
    )


def _searches(store: Store, run_id: str) -> Iterator[SearchResult]:
    for _seq, event in store.read(run_id):
        if isinstance(event, StepCommitted) and event.name == SEARCH:
            yield msgspec.convert(event.result, SearchResult)
