"""The end of a process: runs are left at a step, and go on in another one. What people say to runs."""

import signal
import threading
from collections import Counter
from pathlib import Path

import httpx2
import pytest

from coreloop.base.project.workspace import open_workspace
from coreloop.runs.events import Opened, StepCommitted
from coreloop.runs.stores.store import open_store
from serving import QUESTION, Served, asked, events_in, held_search, served, until

LEASE_S = 5.0
QUESTIONS = [f"How long is river number {n}?" for n in range(6)]


def begin(client: httpx2.Client, *questions: str) -> list[str]:
    return [asked(client, task=question, **{"async": True}).json()["run_id"] for question in questions]


def status_of(client: httpx2.Client, run_id: str) -> str:
    return client.get(f"/runs/{run_id}").json()["state"]["status"]


def check_journal(folder: Path, run_id: str, *, processes: int) -> None:
    """No committed step was done twice, and as many processes worked on the run."""
    with open_store(open_workspace(folder)) as store:
        events = [event for _, event in store.read(run_id)]
    steps = Counter(event.key for event in events if isinstance(event, StepCommitted))
    assert set(steps.values()) == {1}
    assert len({event.owner for event in events if isinstance(event, Opened)}) == processes


@pytest.mark.slow
def test_sigterm_leaves_runs_at_a_step_and_the_next_process_goes_on(tmp_path: Path):
    with held_search() as search:
        with served(tmp_path, settings=search.settings) as service, service.client() as client:
            (run_id,) = begin(client, QUESTION)
            waiting = threading.Thread(target=lambda: answers.append(asked(client)))
            answers: list[httpx2.Response] = []
            waiting.start()
            until(lambda: len(search.queries) >= 2)
            service.process.send_signal(signal.SIGTERM)
            waiting.join(20)
            assert (answers[0].status_code, answers[0].json()["error"]["type"]) == (503, "leaving")
            other = answers[0].json()["error"]["message"].partition("run ")[2].partition(" ")[0]
            search.is_released.set()
            assert service.process.wait(30) == 0
            assert service.lines[-1].items() >= {"level": "info", "event": "left", "whole": True}.items()
        with served(tmp_path, settings=search.settings) as service, service.client() as client:
            for run in (run_id, other):
                until(lambda run=run: status_of(client, run) not in {"running"})
                check_journal(tmp_path, run, processes=2)


@pytest.mark.slow
def test_sigterm_under_load_fails_no_request_but_with_503(tmp_path: Path):
    with served(tmp_path) as service, service.client() as client:
        results: list[int] = []

        def ask() -> None:
            status = 200
            while status == 200:
                status = asked(client, "/run-simple").status_code
                results.append(status)

        threads = [threading.Thread(target=ask) for _ in range(6)]
        for thread in threads:
            thread.start()
        until(lambda: len(results) > 20)
        assert service.end() == 0
        for thread in threads:
            thread.join(20)
        assert results.count(503) == len(threads)
        assert set(results) == {200, 503}


@pytest.mark.slow
def test_a_run_is_paused_resumed_and_stopped(tmp_path: Path):
    with (
        held_search() as search,
        served(tmp_path, settings=search.settings) as service,
        service.client() as client,
    ):
        run_id, other = begin(client, *QUESTIONS[:2])
        until(lambda: len(search.queries) >= 2)
        assert client.post(f"/runs/{run_id}/pause", json={}).json() == {"run_id": run_id, "status": "paused"}
        assert client.post(f"/runs/{other}/stop").json()["run_id"] == other
        search.is_released.set()
        until(lambda: status_of(client, other) == "stopped_by_user")
        until(lambda: ("iteration", run_id) in [(one["event"], one.get("run_id")) for one in service.lines])
        assert status_of(client, run_id) == "paused"
        assert client.post(f"/runs/{run_id}/resume").json()["status"] == "running"
        until(lambda: status_of(client, run_id) in {"completed", "stopped"})
        over = client.post(f"/runs/{run_id}/stop")
        assert (over.status_code, over.json()["error"]["type"]) == (409, "ended")


@pytest.mark.slow
def test_a_closed_connection_ends_no_run(tmp_path: Path):
    with (
        held_search() as search,
        served(tmp_path, settings=search.settings) as service,
        service.client() as client,
    ):
        with client.stream("POST", "/run", json={"task": QUESTION, "stream": True}) as response:
            next(events_in(response.iter_lines()))
            run_id = response.headers["x-run-id"]
        until(lambda: search.queries)
        assert status_of(client, run_id) == "running"


@pytest.mark.slow
def test_what_a_killed_process_had_under_way_goes_on_in_another_one(tmp_path: Path):
    with held_search() as search:
        with served(tmp_path, settings=search.settings, lease_s=LEASE_S) as first, first.client() as client:
            runs = begin(client, *QUESTIONS)
            until(lambda: len(search.queries) >= 4)
            first.end(signal.SIGKILL)
        search.is_released.set()
        with served(tmp_path, settings=search.settings, lease_s=LEASE_S) as second, second.client() as client:
            until(lambda: all(status_of(client, run) != "running" for run in runs), 90)
            assert {status_of(client, run) for run in runs} <= {"completed", "stopped"}
        for run, processes in zip(runs, (2, 2, 2, 2, 1, 1), strict=True):
            check_journal(tmp_path, run, processes=processes)


def test_a_taken_address_is_one_line(service: Served, entry_point, tmp_path: Path):
    code, out, errors = entry_point(tmp_path, "serve", "--port", str(service.port))
    assert (code, out, errors.count("\n")) == (2, "", 1)
    assert f"cannot listen on 127.0.0.1 port {service.port}: Address already in use" in errors
