"""Logs of Inspect, in both of their formats: samples, calls, and what a score says."""

import json
import sys
import zipfile
from pathlib import Path
from typing import Any

import pytest

from coreloop.base.records import REFUSED
from coreloop.observe.importers.files import UnusableFile
from coreloop.observe.importers.traced_request import TracedRequest
from foreign_traces import read, requests, skips, write_document

TASK = {"eval_id": "e-1", "model": "openai/gpt-x", "created": "2026-04-25T09:00:00+09:00"}


def _messages(result: Any = "100원", arguments: Any = None, **more: Any) -> list[dict[str, Any]]:
    call = {"id": "c-1", "function": "show", "arguments": arguments or {"topic": "배당"}}
    return [
        {"role": "user", "content": "배당은?"},
        {"role": "assistant", "content": "", "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "c-1", "function": "show", "content": result, **more},
        {"role": "assistant", "content": [{"type": "text", "text": "100원이다."}]},
    ]


def _sample(**more: Any) -> dict[str, Any]:
    return {
        "id": 1,
        "epoch": 1,
        "uuid": "u-1",
        "input": "배당은?",
        "messages": _messages(),
        "events": [{"event": "model", "timestamp": "2026-04-25T09:00:04+00:00", "span_id": "agent"}],
        "total_time": 4.5,
        **more,
    }


def _write(path: Path, *samples: Any) -> Path:
    return write_document(path / "log.json", {"version": 2, "eval": TASK, "samples": list(samples)})


def _only(path: Path, **more: Any) -> TracedRequest:
    [request] = requests("inspect", _write(path, _sample(**more)))
    return request


def test_a_sample_is_one_request(tmp_path: Path) -> None:
    request = _only(tmp_path)
    assert (request.question, request.answer_chars, request.error) == ("배당은?", 7, None)
    assert (request.provider, request.model, request.rounds) == ("openai", "gpt-x", 2)
    assert (request.duration_ms, request.ended.isoformat()) == (4500, "2026-04-25T09:00:04+00:00")
    [call] = request.calls
    assert (call.name, call.args, call.error) == ("show", {"topic": "배당"}, None)
    assert (call.result, call.result_size_bytes) == ("100원", 6)


def test_a_log_without_events_has_its_calls_and_the_time_of_its_start(tmp_path: Path) -> None:
    request = _only(tmp_path, events=[])
    assert (len(request.calls), request.ended.isoformat()) == (1, "2026-04-25T00:00:00+00:00")
    assert request.undated


@pytest.mark.parametrize(
    ("error", "told", "unknown"),
    [
        ({"type": "timeout", "message": "took too long"}, "timeout: took too long", None),
        ({"type": "unknown", "message": "no such room"}, "no such room", None),
        ({"type": "approval", "message": "Rejected."}, None, REFUSED),
        ({}, None, None),
    ],
)
def test_errors_of_calls(
    tmp_path: Path, error: dict[str, Any], told: str | None, unknown: str | None
) -> None:
    [call] = _only(tmp_path, messages=_messages(error=error)).calls
    assert (call.error, call.unknown) == (told, unknown)


@pytest.mark.parametrize(
    ("values", "verdict"),
    [
        (["C"], "P"),
        ([1], "P"),
        ([True], "P"),
        (["I"], "V"),
        ([0], "V"),
        (["C", "I"], "V"),
        (["C", "P"], None),
        ([0.5], None),
        ([], None),
    ],
)
def test_scores_are_the_judgment(tmp_path: Path, values: list[Any], verdict: str | None) -> None:
    scores = {f"scorer{index}": {"value": value} for index, value in enumerate(values)}
    judgment = _only(tmp_path, scores=scores).judgment
    assert (judgment and judgment["verdict"]) == verdict


def test_both_formats_give_the_same(tmp_path: Path) -> None:
    path = tmp_path / "log.eval"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as log:
        log.writestr("header.json", json.dumps({"eval": TASK}))
        log.writestr("samples/1_epoch_1.json", json.dumps(_sample()))
        log.writestr("samples/2_epoch_1.json", "{torn")
        log.writestr("summaries.json", "[]")
    assert requests("inspect", path) == requests("inspect", _write(tmp_path, _sample()))
    assert skips("inspect", path) == ["torn or not JSON"]


@pytest.mark.parametrize(
    "content",
    [b"", b"PK\x03\x04 torn", b"PK\x05\x06" + b"\0" * 18],
    ids=["empty", "torn", "a zip of nothing"],
)
def test_a_file_that_is_not_a_log_is_named(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "log.eval"
    path.write_bytes(content)
    assert isinstance(read("inspect", path)[-1], UnusableFile)


@pytest.mark.skipif(sys.version_info >= (3, 14), reason="this Python reads zstandard")
def test_a_log_that_this_python_cannot_unpack_says_what_to_do(tmp_path: Path) -> None:
    path = tmp_path / "log.eval"
    with zipfile.ZipFile(path, "w") as log:
        log.writestr("header.json", json.dumps({"eval": TASK}))
    packed = bytearray(path.read_bytes())
    packed[packed.index(b"PK\x01\x02") + 10] = 93
    path.write_bytes(packed)
    [unusable] = read("inspect", path)
    assert isinstance(unusable, UnusableFile)
    assert "inspect log convert --to json" in unusable.reason
