"""Runs that an agent drives, and reports that reach a run which another process holds."""

import os
import signal
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from coreloop.base.errors import RunEndedError, UsageError
from coreloop.runs import events as happened
from coreloop.runs.active_run import work_on
from coreloop.runs.agent.agent_report import (
    AgentReport,
    Learnt,
    ReportedUsage,
    Waiver,
    read_report,
)
from coreloop.runs.agent.agent_runs import agree, close_if_over
from coreloop.runs.agent.next_step import next_step
from coreloop.runs.limits import Limits
from coreloop.runs.load import load_run
from coreloop.runs.manage import create_run, pause_run, resume_run
from coreloop.runs.state import State, state_json
from coreloop.runs.stores.store import Store
from running import MOMENT, SetClock, new_run, python, record_report, store_at


def open_run(store: Store, question: str = "The first or the second?", **limits: Any) -> str:
    clock = SetClock()
    return create_run(store, question, kind="agent", limits=Limits(**limits), clock=clock)


def state_of(store: Store, run_id: str) -> State:
    return load_run(store, run_id)[0].state


def at(seconds: float) -> SetClock:
    return SetClock(MOMENT + timedelta(seconds=seconds))


@pytest.mark.parametrize(
    ("limits", "report", "ended"),
    [
        ({"tokens": 9}, AgentReport(usage=ReportedUsage(tokens=9)), ("stopped", "tokens")),
        ({"deadline_s": 4.0}, AgentReport(), ("stopped", "deadline")),
        ({"usd_per_day": 1.0}, AgentReport(usage=ReportedUsage(usd=1.0)), ("budget_exceeded", "usd_per_day")),
    ],
)
def test_coreloop_ends_a_run_that_drives_itself(
    store: Store, limits: dict[str, Any], report: AgentReport, ended: tuple[str, str | None]
):
    run_id = open_run(store, **limits)
    state = record_report(store, run_id, report, clock=at(5))
    assert (state.status, state.stop_reason) == ended
    with pytest.raises(RunEndedError):
        record_report(store, run_id, AgentReport())


def test_a_deadline_that_passes_between_reports_ends_the_run(store: Store):
    run_id = open_run(store, deadline_s=60.0)
    assert close_if_over(store, run_id, clock=at(59)).status == "running"
    assert close_if_over(store, run_id, clock=at(61)).stop_reason == "deadline"


def test_a_pause_does_not_count_as_work(store: Store):
    run_id = open_run(store, deadline_s=60.0)
    pause_run(store, run_id, clock=at(10))
    resume_run(store, run_id, clock=at(1_000))
    assert record_report(store, run_id, AgentReport(), clock=at(1_020)).elapsed_s == 30.0


def test_a_waiver_keeps_its_sub_question_open_until_a_person_agrees(store: Store):
    run_id = open_run(store)
    record_report(store, run_id, AgentReport(sub_questions=("first?",)))
    with pytest.raises(UsageError, match="q1 was not proposed to fall away; proposed: none"):
        agree(store, run_id, ["q1"], is_waived=True)
    state = record_report(store, run_id, AgentReport(sub_questions=(Waiver("q1", "moot"),)))
    assert state.status == "running"
    assert next_step(store, state)["sub_questions"][0]["state"].startswith("open; a person has not yet")
    assert agree(store, run_id, ["q1"], is_waived=True).status == "completed"


# --- a driver holds the run ------------------------------------------------------------------------


def test_a_report_between_a_drivers_events_gives_the_state_that_the_store_has(store: Store):
    run_id = new_run(store)
    with work_on(store, run_id) as run:
        run.record(happened.Planned, sub_questions=("the driver's?",))
        record_report(store, run_id, AgentReport(sub_questions=("the agent's?",)))
        run.commit_iteration()
        run.record(happened.Progressed)
        run.commit_iteration()
        assert state_json(run.state) == state_json(state_of(store, run_id))
    assert [part.text for part in run.state.sub_questions] == ["the agent's?", "the driver's?"]


DRIVER = """
import os, signal, sys
from coreloop.runs.active_run import work_on
from running import store_at
with store_at(sys.argv[1]) as store, work_on(store, sys.argv[2]):
    print("holds", flush=True)
    sys.stdin.readline()
"""


def test_a_report_survives_the_driver_that_is_killed_before_it_commits(place: str):
    with store_at(place) as store:
        run_id = new_run(store)
        driver = python(DRIVER, place, run_id)
        assert driver.stdout is not None
        assert driver.stdout.readline() == "holds\n"
        record_report(
            store, run_id, AgentReport(sub_questions=("one?",), findings=(Learnt("up", ("s",), "one?"),))
        )
        os.kill(driver.pid, signal.SIGKILL)
        driver.communicate()
        with work_on(store, run_id) as run:
            assert (run.state.iteration, run.state.sub_questions[0].is_answered) == (0, True)
            assert run.state.progress.reports == 1


MANY = """
import sys
from running import record_report
from coreloop.runs.agent.agent_report import AgentReport, ReportedUsage
from running import store_at
with store_at(sys.argv[1]) as store:
    for _ in range(10):
        record_report(store, sys.argv[2], AgentReport(usage=ReportedUsage(usd=0.01)))
"""


@pytest.mark.slow
def test_reports_of_several_processes_are_counted_once_each(tmp_path: Path):
    place = str(tmp_path / "runs.db")
    with store_at(place) as store:
        run_id = open_run(store, max_iterations=31)
        agents = [python(MANY, place, run_id) for _ in range(3)]
        assert [agent.communicate() for agent in agents] == [("", "")] * 3
        state = state_of(store, run_id)
    assert (state.iteration, state.calls, state.spent.microusd) == (30, 30, 300_000)


KILLED = """
import sys
from running import record_report
from coreloop.runs.agent.agent_report import read_report
from running import Failpoint, store_at
with store_at(sys.argv[1]) as store:
    failing = Failpoint(store, int(sys.argv[2]), is_before=sys.argv[3] == "before")
    record_report(failing, sys.argv[4], read_report(sys.argv[5].encode()))
"""
SENT = (
    '{"iteration": 1, "sub_questions": ["one?"], "usage": {"usd": 0.5},'
    ' "findings": [{"text": "up", "sources": ["s"], "answers": "one?"}]}'
)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("number", "side", "iteration", "status"),
    [
        pytest.param(1, "before", 0, "running", id="before the report"),
        pytest.param(1, "after", 1, "running", id="after the report"),
        pytest.param(2, "before", 1, "running", id="before the end"),
        pytest.param(2, "after", 1, "stopped", id="after the end"),
    ],
)
def test_a_killed_record_leaves_all_of_its_iteration_or_none(
    place: str, number: int, side: str, iteration: int, status: str
):
    with store_at(place) as store:
        run_id = open_run(store, max_iterations=1)
        killed = python(KILLED, place, str(number), side, run_id, SENT)
        assert killed.communicate() == ("", "")
        assert killed.returncode == -signal.SIGKILL
        state = state_of(store, run_id)
        assert (state.iteration, state.status) == (iteration, status)
        if iteration == 0:
            record_report(store, run_id, read_report(SENT.encode()))
        ended = close_if_over(store, run_id)
        assert (ended.iteration, ended.status, ended.spent.microusd) == (1, "stopped", 500_000)
        assert len(ended.sub_questions[0].findings) == 1
