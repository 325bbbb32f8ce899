"""What the runs of a caller may spend in a day."""

from contextlib import ExitStack
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from coreloop.base.project.settings import Settings
from coreloop.base.project.workspace import Workspace
from coreloop.web.admission import Spending
from coreloop.web.problems import Problem
from coreloop.web.service import open_tables
from serving import asked, events_in, served, until

NOW = datetime(2026, 4, 25, 23, tzinfo=UTC)
LATER = NOW + timedelta(hours=2)


def test_ended_runs_count_once_for_their_caller_and_day_in_all_processes(tmp_path: Path):
    with ExitStack() as opened:
        here, there = (
            Spending(opened.enter_context(open_tables(Workspace(tmp_path, Settings()), {})), 0.5)
            for _ in range(2)
        )
        here.require("ci", now=NOW)
        here.begin("ci", "run 1")
        there.begin("other", "run 1")
        for _ in range(2):
            there.ended("run 1", 500_000, now=NOW)
        there.ended("run of nobody", 500_000, now=NOW)
        with pytest.raises(Problem, match="have spent the day's limit") as refused:
            here.require("ci", now=NOW)
        assert (refused.value.status, refused.value.kind) == (429, "budget")
        here.require("other", now=NOW)
        here.require("ci", now=LATER)


@pytest.mark.slow
def test_a_spent_limit_refuses_new_runs_and_lets_callers_read(tmp_path: Path):
    settings = "service: {usd_per_key_per_day: 0}\n"
    with served(tmp_path, settings=settings) as service, service.client() as client:
        first = asked(client)
        assert first.status_code == 200
        with client.stream("GET", f"/runs/{first.json()['run_id']}/events") as response:
            assert [event.name for event in events_in(response.iter_lines())][-1] == "answer"
        refused = until(lambda: (again := asked(client)).status_code != 200 and again)
        assert (refused.status_code, refused.json()["error"]["type"]) == (429, "budget")
        assert client.get("/runs").status_code == 200
