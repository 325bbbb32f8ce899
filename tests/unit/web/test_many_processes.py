"""Several processes on one Postgres: one is killed, and the others finish what it had under way."""

import signal
from collections import Counter
from pathlib import Path

import httpx2
import pytest

from coreloop.base.project.workspace import open_workspace
from coreloop.runs.events import StepCommitted
from coreloop.runs.jobs.queue import open_queue
from coreloop.runs.stores.store import open_store
from researching import project
from serving import asked, served, until

RUNS, JOBS = 60, 300
"""Many times what a process has under way, so that the killed one leaves work of each kind."""
LEASE_S = 5.0


def begin(client: httpx2.Client, number: int) -> str:
    response = asked(
        client, "/run-simple", task=f"How long is the Han river, case {number}?", **{"async": True}
    )
    assert response.status_code == 202, response.text
    return response.json()["run_id"]


@pytest.mark.slow
def test_nothing_is_lost_and_no_committed_step_is_done_twice_when_one_is_killed(
    tmp_path: Path, database: str
):
    environ = {"CORELOOP_DATABASE_URL": database}
    workspace = project(tmp_path)
    with (
        open_queue(workspace, environ=environ) as queue,
        served(tmp_path, environ=environ, lease_s=LEASE_S) as other,
    ):
        with served(tmp_path, environ=environ, lease_s=LEASE_S) as killed, killed.client() as client:
            runs = [begin(client, number) for number in range(RUNS)]
            for number in range(JOBS):
                queue.put("index.file", {"path": "docs/han.md"}, key=f"job {number}")
            until(lambda: sum(line["event"] == "ended" for line in killed.lines) > RUNS // 10, 60)
            killed.end(signal.SIGKILL)
        until(lambda: queue.metrics().by_status.get("done", 0) >= RUNS + JOBS, 240)
        assert "dead" not in queue.metrics().by_status
        assert [line for line in other.lines if line["event"] == "bug"] == []
    with open_store(open_workspace(tmp_path), environ=environ) as store:
        assert {row.status for row in store.runs(limit=RUNS + 1)} <= {"completed", "stopped"}
        for run in runs:
            steps = Counter(event.key for _, event in store.read(run) if isinstance(event, StepCommitted))
            assert set(steps.values()) == {1}
