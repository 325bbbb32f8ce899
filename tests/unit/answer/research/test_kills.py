"""Kills with SIGKILL at the boundaries of a research's events: it ends as if nobody had killed it."""

import os
from dataclasses import asdict
from pathlib import Path

import pytest

from coreloop.answer.research.answer import AgentResponse, markdown_report, respond
from coreloop.answer.research.earlier_researches import read_session
from coreloop.answer.research.research_state import Request
from coreloop.answer.research.run import begin_research, continue_research
from coreloop.base.project.workspace import Workspace
from coreloop.runs.events import StepCommitted
from coreloop.runs.stores.store import open_store
from researching import counted_deps, project
from running import calls_in, count_appends, kill_each
from weekly import WEEKLY

QUESTION = "How long is the Han river? When was the Banpo bridge opened? Who painted the Mona Lisa?"
REQUEST = Request(tier="standard", wishes={"max_iters": 3, "max_execution_time_s": 600})
KILLED = """
from dataclasses import replace
from pathlib import Path
from coreloop.base.project.workspace import open_workspace
from coreloop.answer.research.run import continue_research
from coreloop.runs.stores.store import open_store
from researching import counted_deps
from running import Failpoint

def work(folder, run_id, calls, number, is_before):
    workspace = open_workspace(Path(folder))
    with open_store(workspace) as store:
        failing = Failpoint(store, number, is_before=is_before)
        with counted_deps(workspace, failing, Path(calls)) as deps:
            continue_research(run_id, deps)
"""
pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork and no SIGKILL here")


def begin(workspace: Workspace, calls: Path) -> str:
    with open_store(workspace) as store, counted_deps(workspace, store, calls) as deps:
        return begin_research(QUESTION, REQUEST, deps)


def finish(workspace: Workspace, run_id: str, calls: Path) -> AgentResponse:
    with open_store(workspace) as store, counted_deps(workspace, store, calls) as deps:
        return continue_research(run_id, deps)


def comparable(response: AgentResponse) -> dict:
    """A response without its usage, which a restart may change, and what names its run."""
    shown = asdict(response)
    return {name: value for name, value in shown.items() if name not in {"run_id", "session_id", "usage"}}


def check_kills(folder: Path, points: list[tuple[int, bool]]) -> None:
    """Kill a research at each point, look at its partial report, and let it go on."""
    workspace = project(folder)
    whole = finish(workspace, begin(workspace, folder / "whole"), folder / "whole")
    assert whole.sources
    ids = [begin(workspace, folder / "none") for _ in points]
    words = [
        (str(folder), run_id, str(folder / run_id), *point) for run_id, point in zip(ids, points, strict=True)
    ]
    kill_each(KILLED, words)
    for run_id in ids:
        check_going_on(workspace, run_id, folder / run_id, whole)


def check_going_on(workspace: Workspace, run_id: str, calls: Path, whole: AgentResponse) -> None:
    before = calls_in(calls)
    with open_store(workspace) as store:
        state = read_session(store, run_id)
        assert "this report is partial" in markdown_report(state)
        assert respond(state).run_id == run_id
        done = [event for _, event in store.read(run_id) if isinstance(event, StepCommitted)]
    response = finish(workspace, run_id, calls)
    after = calls_in(calls)
    assert (response.run_id, response.session_id) == (run_id, run_id)
    assert comparable(response) == comparable(whole)
    searched = {f"search {event.result['query']}" for event in done if event.name == "search"}
    assert {call: after[call] for call in searched} == dict.fromkeys(searched, 1)
    repeated = sum(after.values()) - len(after)
    assert repeated <= max(0, sum(before.values()) - len(done))


def appends_of(folder: Path) -> int:
    """How often an undisturbed research appends to its store."""
    workspace = project(folder)
    calls = folder / "calls"
    run_id = begin(workspace, calls)
    with open_store(workspace) as store, counted_deps(workspace, store, calls) as deps:
        made = count_appends(store)
        continue_research(run_id, deps)
    return len(made)


@pytest.mark.slow
def test_a_killed_research_ends_as_if_it_was_not_killed(tmp_path: Path):
    """Killed before and after the plan, in and after the searches, in the reflection; weekly at any step."""
    number = appends_of(tmp_path / "counted")
    points = [(place, is_before) for place in range(2, number) for is_before in (True, False)]
    few = [(3, True), (3, False), (5, True), (6, False), (9, False)]
    assert set(few) < set(points)
    check_kills(tmp_path / "killed", points if WEEKLY else few)
