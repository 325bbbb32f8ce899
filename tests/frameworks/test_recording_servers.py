"""What MCP servers record of the calls of 200 planned requests: one record a call, one session a client."""

import json
import os
import subprocess
from collections import Counter
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from frameworks.environments import HERE, drive, interpreter
from frameworks.planned import SECRET, expected, plan
from frameworks.test_recording import calls_of

pytestmark = pytest.mark.frameworks
EVERY_SERVER = pytest.mark.parametrize("distribution", ["mcp", "fastmcp"])
_SOURCE = HERE.parents[1] / "src"


@cache
def served(distribution: str) -> tuple[list[dict[str, Any]], dict[str, int], dict[str, str]]:
    """The records, what was dropped, and the server's results for calls with an intent."""
    records, printed = drive(f"drive_{distribution}", distribution, plan())
    dropped, listed = printed[-2:]
    return records, dropped, listed


@EVERY_SERVER
def test_every_call_of_a_session_is_recorded_as_planned(distribution: str) -> None:
    records, dropped, _ = served(distribution)
    assert dropped == {}
    calls = [record for record in records if not record["question"]]
    planned = [expected(request) for request in plan()]
    assert all(len(record["tool_calls"]) == 1 for record in calls)
    assert Counter(call for record in calls for call in calls_of(record)) == Counter(
        call for request in planned for call in request
    )
    by_session = Counter(record["session_hash"] for record in calls)
    assert Counter(by_session.values()) == Counter(map(len, planned))
    assert not any(SECRET in (record["tool_calls"][0]["error"] or "") for record in records)


@EVERY_SERVER
def test_sources_are_found_in_earlier_calls_of_the_session(distribution: str) -> None:
    records, _, _ = served(distribution)
    paths = Counter(
        path for record in records for path in record["tool_calls"][0].get("args_from", {}).get("room_id", [])
    )
    assert paths["find_rooms.rooms[].room_id"] > 20


@EVERY_SERVER
def test_intent_is_asked_for_recorded_as_the_question_and_hidden_from_the_tool(distribution: str) -> None:
    records, _, listed = served(distribution)
    earlier, record = [record for record in records if record["question"]]
    assert earlier["question"] == "It was listed earlier."
    assert (earlier["tool_calls"][0]["ok"], list(earlier["tool_calls"][0]["args"])) == (
        True,
        ["city", "seats"],
    )
    assert earlier["descriptions"] == record["descriptions"]
    assert record["question"] == "I need a room for a meeting."
    assert list(record["tool_calls"][0]["args"]) == ["city", "seats"]
    assert record["tool_calls"][0]["ok"]
    assert "session_hash" not in record  # this client speaks the protocol without sessions
    assert listed == {"asked": ["city", "intent", "seats"], "not asked": ["city", "seats"]}


@EVERY_SERVER
def test_every_page_of_a_list_of_tools_is_in_force(distribution: str, tmp_path: Path) -> None:
    done = subprocess.run(
        [interpreter(distribution, records=True), HERE / "drives" / "paging.py", distribution, "data"],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(_SOURCE)},
        capture_output=True,
        encoding="utf-8",
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout == "[]\n"  # the tool of the last page did not get the intent
    audit = tmp_path / "data" / "audit"
    (day,) = (audit / "ai-ask").glob("*.jsonl")
    records = [json.loads(line) for line in day.read_text(encoding="utf-8").splitlines()]
    listed = []
    for record in records:
        kept = audit / "descriptions" / f"{record['descriptions'].removeprefix('desc:')}.json"
        listed.append({tool["name"] for tool in json.loads(kept.read_text(encoding="utf-8"))["tools"]})
    every = {"find_rooms", "book_room", "cancel_booking"}
    assert listed == [{"find_rooms"}, {"find_rooms", "book_room"}, every, every]
    assert records[-1]["question"] == "It was booked twice."
