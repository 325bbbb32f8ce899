"""A service whose database goes away: what requests get, and that it is back by itself."""

import threading
from pathlib import Path

import pytest

from outages import restarted_under_load
from postgres_servers import PostgresServer, installed, running_server
from researching import project
from serving import QUESTION, asked, events_in, held_search, served, until

pytestmark = pytest.mark.slow
LEASE_S = 5.0


@pytest.mark.parametrize("version", [*dict.fromkeys([*list(installed())[:1], *list(installed())[-1:]])])
def test_restarts_under_load_fail_no_request_but_with_503_and_lose_or_double_nothing(
    tmp_path: Path, version: str
):
    with running_server(version) as server:
        outcome = restarted_under_load(tmp_path, server, seconds=3.0, clients=4, away_s=1.0, lease_s=LEASE_S)
    assert outcome.problems == {}
    assert outcome.statuses[503] > 0
    assert outcome.statuses[200] == len(outcome.records) > 0


def test_requests_are_refused_until_the_database_is_back(tmp_path: Path, own_postgres: PostgresServer):
    with (
        served(tmp_path, environ={"CORELOOP_DATABASE_URL": own_postgres.address}) as service,
        service.client() as client,
    ):
        own_postgres.stop()
        for _ in range(3):
            assert client.get("/readyz").status_code == 503
            refused = asked(client)
            assert (refused.status_code, refused.json()["error"]["type"]) == (503, "unavailable")
        assert client.get("/healthz").status_code == 200
        assert client.post("/search", json={"query": "Han"}).status_code == 200
        own_postgres.start()
        until(lambda: client.get("/readyz").status_code == 200, 60)
        assert asked(client).status_code == 200
        assert not [line for line in service.lines if line["event"] == "bug"]


def test_a_stream_says_why_it_ends_and_goes_on_where_it_was(tmp_path: Path, own_postgres: PostgresServer):
    environ = {"CORELOOP_DATABASE_URL": own_postgres.address}
    with (
        held_search() as search,
        served(tmp_path, settings=search.settings, environ=environ, lease_s=LEASE_S) as service,
        service.client() as client,
    ):
        with client.stream("POST", "/run", json={"task": QUESTION, "stream": True}) as response:
            sent = events_in(response.iter_lines())
            first = next(sent)
            own_postgres.stop()
            *_, last = sent
        assert (last.name, last.data["error"]["type"]) == ("error", "unavailable")
        assert last.data["error"]["retryable"]
        search.is_released.set()
        own_postgres.start()
        run_id = response.headers["x-run-id"]
        until(lambda: client.get(f"/runs/{run_id}").status_code == 200, 60)
        until(lambda: client.get(f"/runs/{run_id}").json()["state"]["status"] != "running", 90)
        rest = client.get(f"/runs/{run_id}/events", headers={"Last-Event-ID": str(first.id)})
        assert list(events_in(iter(rest.text.splitlines())))[-1].name == "answer"


def test_a_service_that_starts_before_its_database_waits_for_it(tmp_path: Path, own_postgres: PostgresServer):
    project(tmp_path)
    own_postgres.stop()

    def start_once_it_is_missed() -> None:
        until(lambda: any('"away"' in log.read_text() for log in tmp_path.glob("serve-*.log")), 60)
        own_postgres.start()

    starting = threading.Thread(target=start_once_it_is_missed)
    starting.start()
    with (
        served(tmp_path, environ={"CORELOOP_DATABASE_URL": own_postgres.address}) as service,
        service.client() as client,
    ):
        starting.join()
        states = [line["state"] for line in service.lines if line["event"] == "database"]
        assert states == ["away", "back"]
        assert asked(client).status_code == 200
