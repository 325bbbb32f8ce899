"""479 planned failures of a newcomer: an adapter records each, the decorator those of tools that ran."""

import random
from collections import Counter
from typing import Any, Final

import pytest

from coreloop.base.error_classes import error_class
from frameworks.environments import drive

pytestmark = pytest.mark.frameworks
N_FAILURES: Final = 479
NEVER_RUN: Final = 203
"""42 % of the failures: arguments that are rejected before the tool runs, and tools that do not exist."""
GOOD: Final = ("book_room", {"room_id": "os-fjord", "hours": 2}, None)
REJECTED: Final = [
    ("find_rooms", {"city": "Oslo"}, "invalid_argument"),
    ("find_rooms", {"city": "Oslo", "seats": "four"}, "invalid_argument"),
    ("find_rooms", {"city": "Oslo", "seats": 400}, "invalid_argument"),
    ("book_room", {"room_id": "os-fjord", "hours": 2, "priority": "urgent"}, "invalid_argument"),
    ("book_room", {"room_id": "os-fjord", "hours": 2, "priority": "low", "by": "kim"}, "invalid_argument"),
    ("find_desks", {"city": "Oslo"}, "not_found"),
    ("bookRoom", {"room_id": "os-fjord", "hours": 2}, "not_found"),
]
RAN: Final = [
    ("book_room", {"room_id": "os-fjord", "hours": 99}, "invalid_argument"),
    ("cancel_booking", {"booking_id": "b-9999"}, "not_found"),
]


def planned() -> list[dict[str, Any]]:
    """Requests of one to four failures, each followed by a good call."""
    chosen = random.Random(479)
    failures = [chosen.choice(REJECTED) for _ in range(NEVER_RUN)]
    failures += [chosen.choice(RAN) for _ in range(N_FAILURES - NEVER_RUN)]
    chosen.shuffle(failures)
    requests = []
    while failures:
        width = chosen.randint(1, 4)
        calls, failures = [*failures[:width], GOOD], failures[width:]
        fields = [{"tool": tool, "args": args, "class": kind} for tool, args, kind in calls]
        requests.append({"question": f"request {len(requests)}", "calls": fields})
    return requests


def recorded(way: str) -> tuple[dict[str, list[dict[str, Any]]], dict[str, int]]:
    """Question -> recorded calls; and what was dropped."""
    records, printed = drive("newcomers_agent", "pydantic-ai-slim", planned(), way)
    return {record["question"]: record["tool_calls"] for record in records}, printed[-1]


def test_adapter_records_each_of_479_planned_failures() -> None:
    calls, dropped = recorded("adapter")
    assert dropped == {}
    kinds: Counter[str] = Counter()
    for request in planned():
        shown = [
            (call["name"], call["args"], error_class(call["error"]) if call["error"] else None)
            for call in calls[request["question"]]
        ]
        assert shown == [(call["tool"], call["args"], call["class"]) for call in request["calls"]]
        kinds.update(kind for _, _, kind in shown if kind is not None)
    assert kinds.total() == N_FAILURES


def test_decorator_records_the_failures_of_tools_that_ran() -> None:
    calls, _ = recorded("decorator")
    n_failed = sum(not call["ok"] for listed in calls.values() for call in listed)
    assert n_failed == N_FAILURES - NEVER_RUN
