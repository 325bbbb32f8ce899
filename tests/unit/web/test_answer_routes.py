"""Questions over HTTP: answered at once, as a stream, later, and once."""

from concurrent.futures import ThreadPoolExecutor
from itertools import islice

import httpx2
import pytest

from serving import QUESTION, Served, asked, events_in, until


def status_of(client: httpx2.Client, run_id: str) -> str:
    return client.get(f"/runs/{run_id}").json()["state"]["status"]


@pytest.mark.parametrize("path", ["/run", "/run-simple"])
def test_a_question_is_answered_with_citations(client: httpx2.Client, path: str):
    response = asked(client, path)
    assert response.status_code == 200
    answer = response.json()
    assert answer["final_answer"] == "The Han river is 494 kilometres long. [1]"
    assert answer["sources"][0]["location"] == "docs/han.md"
    shown = client.get(f"/runs/{answer['run_id']}").json()
    assert shown["state"]["question"]["original"] == QUESTION
    assert shown["response"] == answer


def test_the_effort_that_a_caller_asks_for_is_the_runs(client: httpx2.Client):
    answer = asked(client, complexity_tier="simple", max_queries=1, token_budget=9_000).json()
    limits = client.get(f"/runs/{answer['run_id']}").json()["state"]["limits"]
    assert (limits["queries"], limits["tokens"], limits["max_iterations"]) == (1, 9_000, 2)


def test_async_answers_at_once_where_the_run_is(client: httpx2.Client):
    response = client.post("/run", json={"task": QUESTION, "async": True})
    assert response.status_code == 202
    run_id = response.json()["run_id"]
    assert response.headers["location"] == f"/runs/{run_id}"
    until(lambda: status_of(client, run_id) == "completed")
    assert client.get(f"/runs/{run_id}").json()["response"]["final_answer"].endswith("[1]")


def test_a_stream_shows_phases_queries_sources_findings_and_the_answer(client: httpx2.Client):
    with client.stream("POST", "/run", json={"task": QUESTION, "stream": True}) as response:
        assert response.headers["content-type"].startswith("text/event-stream")
        sent = list(events_in(response.iter_lines()))
    assert {event.name for event in sent} == {"phase", "query", "source", "finding", "answer"}
    assert [event.id for event in sent] == sorted({event.id for event in sent})
    assert sent[-1].data["response"]["final_answer"].endswith("[1]")
    assert "text" not in next(event.data for event in sent if event.name == "source")


def test_a_stream_reconnected_20_times_misses_and_doubles_nothing(client: httpx2.Client):
    run_id = asked(client, **{"async": True}).json()["run_id"]
    pieces, last, connections = [], "0", 0
    while not pieces or pieces[-1].name != "answer":
        for most in (0, 1):  # closed before the first event, and after it
            with client.stream("GET", f"/runs/{run_id}/events", headers={"Last-Event-ID": last}) as response:
                pieces += islice(events_in(response.iter_lines()), most)
            connections += 1
        last = str(pieces[-1].id)
    assert connections >= 20
    with client.stream("GET", f"/runs/{run_id}/events") as response:
        assert pieces == list(events_in(response.iter_lines()))
    assert client.get(f"/runs/{run_id}/events", headers={"Last-Event-ID": last}).status_code == 204


def test_a_repeated_idempotency_key_is_one_run(client: httpx2.Client):
    headers = [("Idempotency-Key", "once")]
    with ThreadPoolExecutor(8) as threads:
        answers = list(threads.map(lambda _: asked(client, headers=headers).json(), range(8)))
    assert len({answer["run_id"] for answer in answers}) == 1
    other = asked(client, headers=headers, max_iters=1)
    assert (other.status_code, other.json()["error"]["type"]) == (422, "key_reused")


def test_a_session_asks_its_own_question_and_is_not_over(client: httpx2.Client):
    run_id = asked(client).json()["run_id"]
    over = asked(client, session=run_id)
    assert (over.status_code, over.json()["error"]["type"]) == (409, "ended")
    unknown = asked(client, session="01J0000000000000000000000A")
    assert unknown.status_code == 404


def test_no_question_is_in_the_log(client: httpx2.Client, service: Served):
    client.post("/search", json={"query": "Han river"})
    client.get("/runs", params={"status": "Han"})
    asked(client)
    assert "Han" not in service.log.read_text()
    phases = [line for line in service.lines if line["event"] in {"iteration", "ended"}]
    assert {"run_id", "iteration", "token_budget", "results"} <= set(phases[0])
