"""A run that has failed, as callers get it: whole, as a stream, on the command line. Whose trace it is."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from model_stand_in import ModelStandIn, model_stand_in, streams
from serving import QUESTION, Served, asked, events_in, served

SETTINGS = """
model: lab:m
endpoints: {{lab: {{url: '{url}'}}}}
prices: {{'lab:m': {{input: 0, output: 0}}}}
"""
GARBAGE = "This is no JSON."


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
