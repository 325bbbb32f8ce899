"""002, the research service over HTTP: requests, streams, keys, errors."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx2
import pytest

from acceptance.asking import (
    QUESTION,
    assert_error_response,
    indexed,
    model_at,
)
from model_stand_in import model_stand_in, streams
from researching import RIVER
from serving import Served, events_in, served, until


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    with served(indexed(tmp_path_factory.mktemp("service"))) as service:
        yield service


@pytest.fixture(scope="module")
def client(service: Served) -> Iterator[httpx2.Client]:
    with service.client() as client:
        yield client


def run(client: httpx2.Client, path: str = "/run", **body: Any) -> httpx2.Response:
    return client.post(path, json={"task": QUESTION, **body})


@pytest.mark.slow
@pytest.mark.promise("002-26")
def test_26_run_researches_a_task(client: httpx2.Client) -> None:
    answer = run(client).json()
    assert {"summary", "final_answer", "sources"} <= answer.keys()
    assert answer["final_answer"] == f"{RIVER} [1]"


@pytest.mark.slow
@pytest.mark.promise("002-26")
def test_26_run_simple_defaults_to_the_simple_tier(client: httpx2.Client) -> None:
    answer = run(client, "/run-simple").json()
    assert answer["final_answer"] == f"{RIVER} [1]"
    state = client.get(f"/runs/{answer['run_id']}").json()["state"]
    assert (state["request"]["tier"], state["limits"]["max_iterations"]) == ("simple", 2)


@pytest.mark.slow
@pytest.mark.promise("002-26")
def test_26_search_remains_available(client: httpx2.Client) -> None:
    response = client.post("/search", json={"query": "Han river"})
    assert response.status_code == 200
    assert "docs/han.md" in response.text


@pytest.mark.slow
@pytest.mark.promise("002-26")
def test_26_stream_sends_progress_and_the_answer(client: httpx2.Client) -> None:
    with client.stream("POST", "/run", json={"task": QUESTION, "stream": True}) as response:
        sent = list(events_in(response.iter_lines()))
    assert [event.name for event in sent[:-1]].count("answer") == 0
    assert {"phase", "query"} <= {event.name for event in sent}
    assert sent[-1].data["response"]["final_answer"] == f"{RIVER} [1]"


@pytest.mark.slow
@pytest.mark.promise("002-26")
def test_26_async_returns_a_job_to_poll(client: httpx2.Client) -> None:
    response = run(client, **{"async": True})
    assert (response.status_code, response.headers["location"]) == (202, f"/runs/{response.json()['run_id']}")
    until(lambda: client.get(response.headers["location"]).json()["state"]["status"] == "completed")
    answer = client.get(response.headers["location"]).json()["response"]
    assert answer["final_answer"] == f"{RIVER} [1]"


@pytest.mark.slow
@pytest.mark.promise("002-12")
def test_12_complexity_tier_overrides_and_a_wrong_one_is_named(client: httpx2.Client) -> None:
    answer = run(client, complexity_tier="deep").json()
    assert client.get(f"/runs/{answer['run_id']}").json()["state"]["limits"]["max_iterations"] >= 10
    wrong = run(client, complexity_tier="huge")
    assert wrong.status_code == 422
    assert "complexity_tier" in wrong.json()["error"]["message"]


@pytest.mark.slow
@pytest.mark.promise("002-23")
def test_23_a_stream_ends_with_an_error_response(tmp_path: Path) -> None:
    indexed(tmp_path)
    with model_stand_in() as model:
        model.acts += [streams("no JSON at all")] * 20
        settings = json.dumps(model_at(model.url))
        with served(tmp_path, settings=settings) as service, service.client() as client:
            failed = run(client)
            with client.stream("POST", "/run", json={"task": QUESTION, "stream": True}) as response:
                sent = list(events_in(response.iter_lines()))
    assert failed.status_code >= 400
    assert_error_response(failed.text)
    assert sent[-1].name == "error"
    assert_error_response(json.dumps(sent[-1].data))


@pytest.mark.slow
@pytest.mark.promise("002-27")
def test_27_the_log_has_a_line_at_each_boundary_of_a_phase(client: httpx2.Client, service: Served) -> None:
    run(client)
    phases = {name: line for line in service.lines for name in (line.get("phase"), line["event"])}
    assert {"plan", "search", "reflect", "synthesize"} <= phases.keys()


@pytest.mark.slow
@pytest.mark.promise("002-33")
def test_33_the_log_of_a_run_has_its_iteration_token_budget_and_results(
    client: httpx2.Client, service: Served
) -> None:
    run(client)
    lines = until(lambda: [line for line in service.lines if line["event"] == "iteration"])
    assert {"iteration", "token_budget", "results"} <= lines[-1].keys()


@pytest.mark.slow
@pytest.mark.promise("002-29")
@pytest.mark.parametrize(
    ("body", "status", "mention"),
    [
        (b'{"task": "Han?", "depth": 3}', 422, "depth"),
        (b'{"task": "Han?", "max_iters": "two"}', 422, "max_iters"),
        (b'{"task": ', 400, ""),
        (b'{"task": ""}', 422, "task"),
        (b"{}", 422, "task"),
    ],
    ids=["unknown field", "wrong type", "bad JSON", "empty task", "no task"],
)
def test_29_a_wrong_request_is_refused_with_its_field(
    client: httpx2.Client, body: bytes, status: int, mention: str
) -> None:
    response = client.post("/run", content=body, headers={"content-type": "application/json"})
    assert response.status_code == status
    assert_error_response(response.text)
    assert mention in response.json()["error"]["message"]
