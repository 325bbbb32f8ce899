"""Kills with SIGKILL at the boundaries of an answer's events: it ends as if nobody had killed it."""

import json
import os
from contextlib import ExitStack
from pathlib import Path

import pytest

from coreloop.answer.deps import Deps
from coreloop.answer.research.answer import AgentResponse
from coreloop.answer.research.research_state import ASK, Request
from coreloop.answer.research.run import begin_research, continue_research
from coreloop.base.project.workspace import open_workspace
from coreloop.runs.events import StepCommitted
from coreloop.runs.stores.store import Store, open_store
from repairing import SHIP_QUESTION, shop
from researching import counted_deps
from running import calls_in, count_appends, python
from weekly import WEEKLY

KILLED = """
import json, sys
from contextlib import ExitStack
from pathlib import Path
from coreloop.answer.research.run import continue_research
from running import Failpoint
sys.path.insert(0, json.loads(sys.argv[1])["tests"])
from test_kills import opened

words = json.loads(sys.argv[1])
with ExitStack() as stack:
    fail = lambda store: Failpoint(store, words["number"], is_before=words["is_before"])
    deps = opened(stack, Path(words["folder"]), fail)
    continue_research(words["run"], deps)
"""
pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="no SIGKILL here")


def opened(stack: ExitStack, folder: Path, wrap=lambda store: store) -> Deps:
    """Deps whose model calls and searches a file counts."""
    workspace = open_workspace(folder)
    store: Store = stack.enter_context(open_store(workspace, environ={}))
    return stack.enter_context(counted_deps(workspace, wrap(store), folder.parent / "calls"))


def finish(folder: Path, run_id: str) -> tuple[AgentResponse, list[StepCommitted]]:
    with ExitStack() as stack:
        deps = opened(stack, folder)
        found = continue_research(run_id, deps)
        steps = [event for _, event in deps.store.read(run_id) if isinstance(event, StepCommitted)]
        assert {job.status for job in deps.queue.jobs()} == {"done"}
        assert len(deps.tables.evidence_for(SHIP_QUESTION, folder)) == 1
    return found, steps


def begin(folder: Path) -> str:
    shop(folder)
    with ExitStack() as stack:
        return begin_research(SHIP_QUESTION, Request(), opened(stack, folder), kind=ASK)


def appends_of(folder: Path) -> int:
    """How often an undisturbed answer appends to its store."""
    run_id = begin(folder)
    with ExitStack() as stack:
        deps = opened(stack, folder)
        made = count_appends(deps.store)
        continue_research(run_id, deps)
    return len(made)


def check_kill(folder: Path, number: int, *, is_before: bool) -> None:
    run_id = begin(folder / "shop")
    words = {
        "folder": str(folder / "shop"),
        "run": run_id,
        "number": number,
        "is_before": is_before,
        "tests": str(Path(__file__).parent),
    }
    process = python(KILLED, json.dumps(words))
    assert process.communicate()[1] == ""
    assert process.returncode == -9
    found, steps = finish(folder / "shop", run_id)
    assert found.supported
    assert "2 working days" in found.final_answer
    assert found.repairs == 1
    asked = [count for call, count in calls_in(folder / "calls").items() if call.startswith("LlmResponse")]
    assert len([step for step in steps if step.name.startswith("ask")]) == 3
    assert sum(asked) in {2, 3}  # the call that was under way is made again


@pytest.mark.slow
def test_an_answer_killed_at_any_step_ends_as_if_it_was_not_killed(tmp_path: Path):
    """Killed before and after each append in the weekly run, at every third of these points in others."""
    number = appends_of(tmp_path / "counted" / "shop")
    assert number > 6
    points = [(place, is_before) for place in range(2, number) for is_before in (True, False)]
    for place, is_before in points if WEEKLY else points[::3]:
        check_kill(tmp_path / f"{place}{is_before}", place, is_before=is_before)
