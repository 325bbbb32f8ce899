"""What MCP servers record of the calls of 200 planned requests: one record a call, one session a client."""

import json
import os
import subprocess
from collections import Counter
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from frameworks.environments import HERE, RECORDING, drive, interpreter
from frameworks.planned import SECRET, expected, plan
from frameworks.test_recording import calls_of

pytestmark = pytest.mark.frameworks
EVERY_SERVER = pytest.mark.parametrize("distribution", ["mcp", "fastmcp"])
_SOURCE = HERE.parents[1] / "src"


@cache
def served(distribution: str) -> tuple[list[dict[str, Any]], dict[str, int]]:
    """The records, and what was dropped."""
    records, printed = drive(f"drive_{distribution}", distribution, plan())
    return records, printed[-1]


@EVERY_SERVER
def test_every_call_of_a_session_is_recorded_as_planned(distribution: str) -> None:
    calls, dropped = served(distribution)
    assert dropped == {}
    planned = [expected(request) for request in plan()]
    assert all(len(record["tool_calls"]) == 1 for record in calls)
    assert Counter(call for record in calls for call in calls_of(record)) == Counter(
        call for request in planned for call in request
    )
    by_session = Counter(record["session_hash"] for record in calls)
    assert Counter(by_session.values()) == Counter(map(len, planned))
    assert not any(SECRET in (record["tool_calls"][0]["error"] or "") for record in calls)


@EVERY_SERVER
def test_sources_are_found_in_earlier_calls_of_the_session(distribution: str) -> None:
    records, _ = served(distribution)
    paths = Counter(
        path for record in records for path in record["tool_calls"][0].get("args_from", {}).get("room_id", [])
    )
    assert paths["find_rooms.rooms[].room_id"] > 20


@EVERY_SERVER
def test_every_page_of_a_list_of_tools_is_in_force(distribution: str, tmp_path: Path) -> None:
    done = subprocess.run(
        [interpreter(distribution, RECORDING), HERE / "drives" / "paging.py", distribution, "data"],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(_SOURCE)},
        capture_output=True,
        encoding="utf-8",
        check=False,
    )
    assert done.returncode == 0, done.stderr
    audit = tmp_path / "data" / "audit"
    (day,) = (audit / "ai-ask").glob("*.jsonl")
    records = [json.loads(line) for line in day.read_text(encoding="utf-8").splitlines()]
    listed = []
    for record in records:
        kept = audit / "descriptions" / f"{record['descriptions'].removeprefix('desc:')}.json"
        listed.append({tool["name"] for tool in json.loads(kept.read_text(encoding="utf-8"))["tools"]})
    every = {"find_rooms", "book_room", "cancel_booking"}
    assert listed == [{"find_rooms"}, {"find_rooms", "book_room"}, every]
