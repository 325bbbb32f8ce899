"""The requests under way that every adapter reports to, without any framework."""

import asyncio
import json
import threading
from pathlib import Path
from typing import Any

import pytest

from coreloop import current, dropped, observed_tool
from coreloop.base.record_lines import MAX_LINE_BYTES
from coreloop.observe.adapters import requests
from coreloop.observe.adapters.requests import NO_RESULT, UNFINISHED, AdaptedRequest, ended
from coreloop.observe.descriptions_in_force import SentTool


def records(folder: Path) -> list[dict[str, Any]]:
    lines = [
        line
        for path in sorted(folder.glob("audit/ai-ask/*.jsonl"))
        for line in path.read_bytes().splitlines(keepends=True)
    ]
    assert all(len(line) <= MAX_LINE_BYTES for line in lines)
    return [json.loads(line) for line in lines]


def counted(reason: str, before: dict[str, int]) -> int:
    return dropped().get(reason, 0) - before.get(reason, 0)


def test_calls_are_recorded_in_the_order_in_which_they_were_asked_for(tmp_path: Path) -> None:
    request = AdaptedRequest("which rooms?", session_id="s", data_dir=tmp_path)
    request.replied(model="m", provider="p")
    request.asked(1, "find", {"city": "Oslo"})
    request.asked(2, "book", '{"room": "os-fjord"}')
    request.started(2)
    request.answered(2, error=ValueError("too late"))
    request.answered(1, {"rooms": ["os-fjord"]})
    request.end(answer="none")
    (record,) = records(tmp_path)
    assert [(call["name"], call["ok"], call["error"]) for call in record["tool_calls"]] == [
        ("find", True, None),
        ("book", False, "ValueError: too late"),
    ]
    assert [call["duration_ms"] is None for call in record["tool_calls"]] == [True, False]
    assert (record["chunk_len"], record["model"], record["provider"]) == (4, "m", "p")


def test_call_without_an_answer_has_failed_for_the_reason_of_the_request(tmp_path: Path) -> None:
    for error in (asyncio.CancelledError(), None):
        request = AdaptedRequest(data_dir=tmp_path)
        request.asked(1, "book", {})
        request.end(error=error)
    first, second = records(tmp_path)
    assert (first["error"], first["tool_calls"][0]["error"]) == ("CancelledError: ", "CancelledError: ")
    assert (second["error"], second["tool_calls"][0]["error"]) == (None, NO_RESULT)


def test_oldest_request_of_too_many_has_lost_its_end_and_is_counted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(requests, "MAX_UNDER_WAY", 2)
    monkeypatch.setattr(requests, "_under_way", {})
    before, lost = dropped(), AdaptedRequest("lost", data_dir=tmp_path)
    lost.asked(1, "book", {})
    AdaptedRequest("next", data_dir=tmp_path)
    assert lost.is_open
    AdaptedRequest("third", data_dir=tmp_path)
    (record,) = records(tmp_path)
    assert (record["question"], record["error"]) == ("lost", UNFINISHED)
    assert record["tool_calls"][0]["error"] == NO_RESULT
    assert counted("never_ended", before) == 1


class Hostile:
    """An object whose code raises."""

    def __str__(self) -> str:
        raise RuntimeError("hostile")

    def model_dump(self, **_: Any) -> Any:
        raise RuntimeError("hostile")


def test_faults_of_values_and_reports_after_the_end_do_not_reach_the_host(tmp_path: Path) -> None:
    before = dropped()
    ended().answered(1, "x")
    request = AdaptedRequest(Hostile(), data_dir=tmp_path)  # type: ignore[arg-type]
    request.asked(1, Hostile(), {"a": Hostile(), 3: {1}})  # type: ignore[arg-type]
    request.answered(1, Hostile())
    request.answered([], "unhashable")  # type: ignore[arg-type]
    request.asked(2, "deep", "[" * 10_000)
    request.end(answer="x")
    request.end()
    assert counted("after_flush", before) == 2
    assert [call["name"] for call in records(tmp_path)[0]["tool_calls"]] == ["<Hostile>", "deep"]


def test_decorated_tool_inside_the_request_is_not_recorded_again(tmp_path: Path) -> None:
    @observed_tool
    def book(room: str) -> str:
        return room

    request, before = AdaptedRequest(data_dir=tmp_path), dropped()
    request.asked(1, "book", {"room": "os-fjord"})
    with request:
        request.answered(1, book("os-fjord"))
        current().observe_violation("no greeting")
    request.end(answer="done")
    (record,) = records(tmp_path)
    assert (len(record["tool_calls"]), record["violation"], record["chunk_len"]) == (1, "no greeting", 4)
    assert dropped() == before


def test_threads_may_share_the_requests(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(requests, "_under_way", {})

    def run(worker: int) -> None:
        for number in range(50):
            request = AdaptedRequest(f"{worker} {number}", data_dir=tmp_path)
            request.asked(1, "find", {"n": number})
            request.answered(1, {"found": number})
            request.end(answer="x")

    threads = [threading.Thread(target=run, args=(worker,)) for worker in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    written = records(tmp_path)
    assert len({record["question"] for record in written}) == len(written) == 400
    assert all(len(record["tool_calls"]) == 1 for record in written)
    assert not requests._under_way


def test_descriptions_are_kept_once_and_named_by_their_hash(tmp_path: Path) -> None:
    old, new = SentTool("book", "Book a room.", {"type": "object"}), SentTool("book", "Book one.", {})
    for tool in (old, old, new):
        request = AdaptedRequest(data_dir=tmp_path)
        request.sent([tool])
        request.end()
    first, second, third = (record["descriptions"] for record in records(tmp_path))
    assert first == second != third
    kept = tmp_path / "audit" / "descriptions" / f"{first.removeprefix('desc:')}.json"
    (tool,) = json.loads(kept.read_text())["tools"]
    assert (tool["name"], tool["description"], tool["schema"]) == ("book", "Book a room.", {"type": "object"})
    assert kept.stat().st_mode & 0o777 == 0o600
    assert len(list(kept.parent.iterdir())) == 2
