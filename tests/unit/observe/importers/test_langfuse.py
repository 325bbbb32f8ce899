"""Exports of Langfuse: their shapes, what an observation is, and what a trace becomes."""

from pathlib import Path
from typing import Any

import pytest

from coreloop.observe.importers.traced_request import TracedRequest
from foreign_traces import requests, skips, write_document, write_lines


def _observation(id: str, *, at: int = 0, **more: Any) -> dict[str, Any]:
    return {
        "id": id,
        "traceId": "t1",
        "type": "TOOL",
        "name": "show",
        "startTime": f"2026-04-25T09:00:{at:02d}.000Z",
        "endTime": f"2026-04-25T09:00:{at + 1:02d}.000Z",
        "parentObservationId": "root",
        "level": "DEFAULT",
        "statusMessage": None,
        "input": '{"topic": "배당"}',
        "output": "100원",
        "metadata": "{}",
        **more,
    }


def _trace(**more: Any) -> dict[str, Any]:
    return {
        "id": "t1",
        "name": "run",
        "timestamp": "2026-04-25T09:00:00.000Z",
        "sessionId": "s-1",
        "public": False,
        "input": '[{"role": "user", "content": "배당은?"}]',
        "output": '"배당은 100원이다."',
        **more,
    }


def _only(path: Path, *observations: dict[str, Any], **trace: Any) -> TracedRequest:
    document = {"trace": _trace(**trace), "observations": list(observations)}
    [request] = requests("langfuse", write_document(path / "trace.json", document))
    return request


def test_a_trace_is_one_request(tmp_path: Path) -> None:
    model = _observation(
        "g", type="GENERATION", model="gpt-x", metadata={"attributes": {"gen_ai.system": "openai"}}
    )
    request = _only(tmp_path, _observation("a", at=1), model)
    assert (request.question, request.answer_chars, request.error) == ("배당은?", 11, None)
    assert (request.provider, request.model, request.session_id) == ("openai", "gpt-x", "s-1")
    assert (request.rounds, request.duration_ms) == (1, 2000)
    [call] = request.calls
    assert (call.name, call.args, call.error) == ("show", {"topic": "배당"}, None)
    assert (call.duration_ms, call.result_size_bytes) == (1000, 6)


@pytest.mark.parametrize(
    ("more", "error"),
    [
        ({"level": "ERROR", "statusMessage": "no such topic"}, "no such topic"),
        ({"level": "ERROR", "output": "Error: no"}, "Error: no"),
        ({"level": "ERROR", "output": None}, "error"),
        ({"level": "WARNING", "statusMessage": "slow"}, None),
    ],
)
def test_errors(tmp_path: Path, more: dict[str, Any], error: str | None) -> None:
    assert _only(tmp_path, _observation("a", **more)).calls[0].error == error


@pytest.mark.parametrize(
    ("more", "name"),
    [
        ({"name": "running tool: show"}, "show"),
        ({"name": "x", "metadata": {"attributes": {"gen_ai.tool.name": "show"}}}, "show"),
        ({"type": "SPAN", "name": "x", "metadata": {"attributes": {"ai.toolCall.name": "show"}}}, "show"),
    ],
)
def test_the_tool_has_the_name_that_the_model_knows(tmp_path: Path, more: dict[str, Any], name: str) -> None:
    assert [call.name for call in _only(tmp_path, _observation("a", **more)).calls] == [name]


SNAKE = {
    "id": "a",
    "trace_id": "t1",
    "type": "TOOL",
    "name": "show",
    "start_time": "2026-04-25 09:00:00.000000",
    "end_time": "2026-04-25 09:00:01.000000",
    "level": "ERROR",
    "status_message": "no",
}


@pytest.mark.parametrize(
    "values",
    [
        pytest.param([{"trace": _trace(), "observations": [_observation("a")]}], id="download of a trace"),
        pytest.param([{"data": [_trace(), _observation("a")]}], id="the API's page"),
        pytest.param([{"traces": [{**_trace(), "observations": [_observation("a")]}]}], id="session"),
        pytest.param([{**_trace(), "observations": ["a"]}, _observation("a")], id="ids of observations"),
        pytest.param([_observation("a")], id="table as JSON lines"),
        pytest.param([SNAKE], id="table with other names"),
    ],
)
def test_shapes_of_exports(tmp_path: Path, values: list[Any]) -> None:
    [request] = requests("langfuse", write_lines(tmp_path / "export.jsonl", values))
    assert [(call.name, call.duration_ms) for call in request.calls] == [("show", 1000)]


def test_of_two_copies_the_fuller_counts_in_any_order(tmp_path: Path) -> None:
    bare, full = _observation("a", input=None, output=None), _observation("a")
    for index, values in enumerate(([bare, full], [full, bare])):
        [request] = requests("langfuse", write_lines(tmp_path / f"{index}.jsonl", values))
        assert request.calls[0].args == {"topic": "배당"}


@pytest.mark.parametrize(
    ("value", "reason"),
    [
        ({"type": "TOOL", "id": "a"}, "not of this format"),
        (_observation("a", startTime="soon", endTime=None), "no valid time"),
        ("{torn", "torn or not JSON"),
    ],
)
def test_anything_but_an_observation_is_skipped_with_the_reason(
    tmp_path: Path, value: Any, reason: str
) -> None:
    path = write_lines(tmp_path / "export.jsonl", [_observation("b"), value])
    assert skips("langfuse", path) == [reason]
    assert len(requests("langfuse", path)) == 1
