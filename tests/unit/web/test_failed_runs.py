"""A run that has failed, as callers get it: whole, as a stream, on the command line. Whose trace it is."""

import json
from collections.abc import Iterator
from pathlib import Path

import httpx2
import pytest

from coreloop.answer.repair.actions import TYPE as SIGNALLED
from coreloop.base.project.workspace import open_workspace
from coreloop.runs.events import Noted
from coreloop.runs.stores.store import open_store
from model_stand_in import ModelStandIn, model_stand_in, streams
from serving import QUESTION, Served, asked, events_in, served, until

SETTINGS = """
model: lab:m
endpoints: {{lab: {{url: '{url}'}}}}
prices: {{'lab:m': {{input: 0, output: 0}}}}
service: {{runs_per_minute: 10000, requests_per_minute: 10000}}
"""
GARBAGE = "This is no JSON."
TRACE = "0af7651916cd43dd8448eb211c80319c"


@pytest.fixture
def model() -> Iterator[ModelStandIn]:
    with model_stand_in() as model:
        model.acts += [streams(GARBAGE) for _ in range(100)]
        yield model


@pytest.fixture
def failing(model: ModelStandIn, tmp_path: Path) -> Iterator[Served]:
    with served(tmp_path, settings=SETTINGS.format(url=model.url)) as service:
        yield service


@pytest.mark.slow
def test_a_failed_run_is_the_same_error_whole_as_a_stream_and_on_the_command_line(
    failing: Served, entry_point, tmp_path: Path
):
    with failing.client() as client:
        whole = asked(client)
        with client.stream("POST", "/run", json={"task": QUESTION, "stream": True}) as response:
            *_, last = events_in(response.iter_lines())
        again = client.get(f"/runs/{response.headers['x-run-id']}/events")
        later = list(events_in(iter(again.text.splitlines())))[-1]
    code, out, _ = entry_point(tmp_path, "research", QUESTION, "--json")
    assert code != 0
    command_line = json.loads(out)["error"]
    assert (whole.status_code, last.name) == (502, "error")
    assert (later.name, later.data) == (last.name, last.data)
    errors = [whole.json()["error"], last.data["error"], command_line]
    assert {error["type"] for error in errors} == {"model_unusable"}
    assert {error["retryable"] for error in errors} == {command_line["retryable"]}
    for error in errors[:2]:
        assert error["message"].endswith(command_line["message"])


def test_the_trace_of_a_request_is_its_runs(client: httpx2.Client, service: Served):
    given = {"traceparent": f"00-{TRACE}-b7ad6b7169203331-01"}
    answer = client.post("/ask", json={"question": "What is the airspeed of a swallow?"}, headers=given)
    assert answer.headers["x-trace-id"] == TRACE
    with open_store(open_workspace(service.folder)) as store:
        events = [event for _, event in store.read(answer.json()["run_id"])]
    assert events[0].trace_id == TRACE
    signals = [event.data for event in events if isinstance(event, Noted) and event.name == SIGNALLED]
    assert {signal["trace_id"] for signal in signals} == {TRACE}
    lines = until(
        lambda: [line for line in service.lines if line.get("run_id") == answer.json()["run_id"]][1:]
    )
    assert {line["trace_id"] for line in lines} == {TRACE}
