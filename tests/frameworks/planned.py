"""200 requests of a scripted model with every kind of failure, and what the records of them must say.

Written as JSON for a framework's own script in `drives/`, which runs in the framework's environment.
"""

import random
from collections import Counter
from typing import Any, Final

from coreloop.base.error_classes import error_class
from coreloop.base.project.tools import bare_name

N_REQUESTS: Final = 200
SECRET: Final = "Zq7-private"
"""Part of every rejected value: no error may repeat it."""

OK: Final = {
    "find_rooms": {"city": "Oslo", "seats": 4},
    "book_room": {"room_id": "os-fjord", "hours": 2},
    "cancel_booking": {"booking_id": "b-1001"},
}
KINDS: Final[dict[str, list[tuple[str, dict[str, Any]]]]] = {
    "ok": list(OK.items()),
    "missing": [("find_rooms", {"city": "Oslo"}), ("book_room", {"hours": 2})],
    "wrong_type": [
        ("find_rooms", {"city": "Oslo", "seats": f"{SECRET} four"}),
        ("book_room", {"room_id": "os-fjord", "hours": {"many": SECRET}}),
    ],
    "out_of_bound": [("find_rooms", {"city": f"{SECRET} Oslo", "seats": 4000})],
    "unknown_tool": [("find_desks", {"city": "Oslo"})],
    "refuses": [("book_room", {"room_id": "os-fjord", "hours": 99})],
    "value": [("cancel_booking", {"booking_id": "b-9999"})],
}
"""Kind of call -> the calls of it. ``refuses``: the tool raises; ``value``: it returns ``success: false``."""
CLASSES: Final = {
    "ok": None,
    "missing": "invalid_argument",
    "wrong_type": "invalid_argument",
    "out_of_bound": "invalid_argument",
    "unknown_tool": "not_found",
    "refuses": "invalid_argument",  # "hours must be at most 24"
    "value": "not_found",  # "booking not found"
}
REJECTED: Final = {
    "missing": ("seats", "room_id"),
    "wrong_type": ("seats", "hours"),
    "out_of_bound": ("seats",),
}
"""The argument that the error names, by kind."""


def plan(seed: int = 46, n_requests: int = N_REQUESTS) -> list[dict[str, Any]]:
    """Requests: a question, rounds of calls that the model asks for together, and how the request ends."""
    chosen = random.Random(seed)
    kinds = list(KINDS)
    requests = []
    for number in range(n_requests):
        rounds = []
        for _ in range(chosen.randint(1, 4)):
            width = chosen.choice([1, 1, 1, 2, 3])  # parallel calls
            rounds.append([_call(chosen, chosen.choice(["ok", *kinds])) for _ in range(width)])
        failed = [call for call in rounds[-1] if call["kind"] not in ("ok",)]
        if failed:  # the model tries again as it should have
            tool = failed[0]["tool"] if failed[0]["tool"] in OK else "find_rooms"
            rounds.append([{"tool": tool, "args": OK[tool], "kind": "ok"}])
        ways = ["answer"] * 6 + ["stream", "cancel", "model_error", "nested"]
        requests.append({"question": f"request {number}", "rounds": rounds, "end": chosen.choice(ways)})
    return requests


def _call(chosen: random.Random, kind: str) -> dict[str, Any]:
    tool, args = chosen.choice(KINDS[kind])
    return {"tool": tool, "args": args, "kind": kind}


def expected(request: dict[str, Any]) -> list[tuple[str, bool, str | None, tuple[str, ...]]]:
    """Tool, ok, error class and argument names of every planned call, in order."""
    return [
        (call["tool"], call["kind"] == "ok", CLASSES[call["kind"]], tuple(sorted(call["args"])))
        for calls in request["rounds"]
        for call in calls
    ]


def calls_of(record: dict[str, Any]) -> list[tuple[str, bool, str | None, tuple[str, ...]]]:
    """The same of a record."""
    return [
        (
            bare_name(call["name"]) or call["name"],
            call["ok"],
            error_class(call["error"]) if call.get("error") else None,
            tuple(sorted(call["args"])),
        )
        for call in record["tool_calls"]
    ]


def n_planned(requests: list[dict[str, Any]]) -> Counter[str]:
    return Counter(call["kind"] for request in requests for calls in request["rounds"] for call in calls)
