"""Sources of arguments: remembering a result and looking up a call, against `json.dumps` of the result.

    uv run python benchmarks/sources.py

A round runs `json.dumps` three times and the memory once, in turns; the figures are of the best round.
The goals leave room for the states of objects (`saw`), which cost a third to a half of it.
Results at the caps are not compared, since values beyond the caps are not read.
"""

import json
import time
from collections.abc import Callable
from typing import Any

from coreloop.observe.argument_sources import Sources

ROUNDS = 300
QUESTION = "My order is #W2378156, and I would like to exchange the mechanical keyboard."
ARGS = {"order_id": "#W2378156", "item_ids": ["1151293680", "4983901480"], "reason": "no longer needed"}
TEN_KB: dict[str, Any] = {
    "rows": [
        {
            "id": f"W{n:07}",
            "name": f"item {n}",
            "price": 100 + n * 1.25,
            "city": "Philadelphia",
            "open": n % 2 == 0,
        }
        for n in range(100)
    ]
}
AT_THE_CAPS: dict[str, Any] = {
    "2,000 leaves in rows": {
        "rows": [{"a": f"A{n}", "b": n * 1.5, "c": f"C{n}", "d": f"D{n}"} for n in range(500)]
    },
    "2,000 leaves, an object each": {"rows": [{"id": f"W{n:07}"} for n in range(2_000)]},
    "2,000 keys that are data": {f"k{n:07}": {"id": f"W{n:07}"} for n in range(2_000)},
    "64 KB of Korean": [f"{n:04}" + "가나" * 100 for n in range(400)],
    "1,000,000 leaves": {"rows": [{"id": n} for n in range(500_000)], "all": list(range(500_000))},
    "contains itself": None,
}


def trace(result: object) -> None:
    """Run a request's first call with its result, and the look-up of a second call."""
    memory = Sources()
    memory.add_question(QUESTION)
    match = memory.look_up(ARGS)
    memory.remember("get_order_details", result, match, ok=True)
    memory.look_up(ARGS)


def microseconds(work: Callable[[], object]) -> float:
    begun = time.perf_counter_ns()
    work()
    return (time.perf_counter_ns() - begun) / 1e3


def dump_three_times(result: object) -> None:
    for _ in range(3):
        json.dumps(result)


def compare(label: str, result: Any, recorded: Any) -> None:
    dumps_us = trace_us = float("inf")
    for _ in range(ROUNDS):
        dumps_us = min(dumps_us, microseconds(lambda: dump_three_times(result)))
        trace_us = min(trace_us, microseconds(lambda: trace(recorded)))
    size_kb = len(json.dumps(result)) / 1024
    ratio = trace_us / dumps_us
    print(f"{label:32} {size_kb:6.1f} KB {trace_us:8.0f} us, {ratio:.2f} of three json.dumps (goal: 2)")


def main() -> None:
    compare("a result of dicts", TEN_KB, TEN_KB)
    compare("the same as JSON", TEN_KB, json.dumps(TEN_KB))
    loop: list[Any] = ["#W1"]
    loop += [loop, {"x": loop}]
    for label, result in (AT_THE_CAPS | {"contains itself": loop}).items():
        best = min(microseconds(lambda: trace(result)) for _ in range(20))  # noqa: B023 - called at once
        print(f"{label:32} {best / 1e3:18.2f} ms (goal: 5)")


if __name__ == "__main__":
    main()
