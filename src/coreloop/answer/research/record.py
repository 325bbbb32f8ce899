"""One record of a research for the slow loop: the searches that a run made, as calls of tools."""

from collections.abc import Iterator
from pathlib import Path

import msgspec

from coreloop.answer.deps import Deps
from coreloop.answer.research.answer import respond
from coreloop.answer.research.execute import SEARCH
from coreloop.answer.research.pages import PAGE, PageResult
from coreloop.answer.retrieve import SearchResult
from coreloop.observe.collector import OwnCollector
from coreloop.observe.written import is_recorded
from coreloop.runs.events import Outcome, StepCommitted
from coreloop.runs.load import load_run
from coreloop.runs.state import State
from coreloop.runs.stores.store import Store


def record_ended_research(run_id: str, deps: Deps) -> None:
    """Write the record of a research whose process died between its end and its record."""
    state = load_run(deps.store, run_id)[0].state
    if not is_recorded(_data_dir(deps), run_id, since=state.clock):
        record_research(deps, state)


def record_research(deps: Deps, state: State) -> None:
    """Write the record of an ended research, from its committed steps: one, however often it was resumed."""
    response = respond(state)
    audit = OwnCollector(
        question=state.question,
        model=deps.ladder.name,
        session_id=state.run_id,
        request_id=state.run_id,
        data_dir=_data_dir(deps),
    )
    for event in _calls(deps.store, state.run_id):
        if event.name == SEARCH:
            _observe_search(audit, msgspec.convert(event.result, SearchResult))
        else:
            _observe_page(audit, msgspec.convert(event.result, PageResult))
    audit.flush(
        chunk_len=len(response.final_answer) if response.sources else 0,
        rounds=state.iteration,
        error=state.stop_reason if state.status == "failed" else None,
        skill_used="research",
    )


def _data_dir(deps: Deps) -> Path:
    return deps.workspace.root / deps.workspace.settings.data_dir


def _calls(store: Store, run_id: str) -> Iterator[StepCommitted]:
    for _seq, event in store.read(run_id):
        if isinstance(event, StepCommitted) and event.name in {SEARCH, PAGE}:
            yield event


def _observe_search(audit: OwnCollector, result: SearchResult) -> None:
    audit.observe_tool_call(
        result.provider if result.provider == "index" else SEARCH,
        {"query": result.query, "provider": result.provider, "strategy": "+".join(result.strategy)},
        error=_error(result.outcome, result.reason),
        duration_ms=result.elapsed_ms,
        result=[{"location": one.location, "title": one.title} for one in result.sources],
    )


def _observe_page(audit: OwnCollector, result: PageResult) -> None:
    audit.observe_tool_call(
        PAGE,
        {"url": result.url},
        error=_error(result.outcome, result.reason),
        duration_ms=result.elapsed_ms,
        result={"title": result.source.title if result.source else ""},
    )


def _error(outcome: Outcome, reason: str) -> str | None:
    return None if outcome in {"found", "empty"} else f"{outcome}: {reason}"
