"""Questions over HTTP: answered at once, as a stream, later, and once."""

from concurrent.futures import ThreadPoolExecutor
from itertools import islice

import httpx2

from serving import Served, asked, events_in


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


def test_no_question_is_in_the_log(client: httpx2.Client, service: Served):
    client.post("/search", json={"query": "Han river"})
    client.get("/runs", params={"status": "Han"})
    asked(client)
    assert "Han" not in service.log.read_text()
    phases = [line for line in service.lines if line["event"] in {"iteration", "ended"}]
    assert {"run_id", "iteration", "token_budget", "results"} <= set(phases[0])
