"""How often statements are true: logs with a planted, a confounded and no cause.

    uv run python benchmarks/simulate.py --runs 200

Each run makes records, rolls up their lines and searches them like a nightly run. Prints the share of runs
that state the planted line, and the share that state any other line; exits with 1 if a goal is missed. Runs
are reproducible.
"""

import argparse
import json
import os
import sys
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from functools import partial
from multiprocessing import get_context
from pathlib import Path
from random import Random
from typing import Any

from coreloop.base.categories import Categories
from coreloop.base.date_range import Days
from coreloop.base.project.settings import Settings
from coreloop.base.project.tools import Tool
from coreloop.learn.facts.counting import MineSettings
from coreloop.learn.facts.file import facts_of_lines
from coreloop.learn.mine.sample import read_sample
from coreloop.learn.mine.window import merge
from coreloop.learn.pattern.sources import find_sources
from coreloop.learn.proposals.statements import MIN_AVOIDED
from coreloop.learn.proposals.vocabulary import Vocabulary
from coreloop.learn.refine.conditions import find_conditions

DAYS, SIDE, POINTS = 14, 150, 0.3
START = datetime(2026, 4, 1, 8, tzinfo=UTC)
WINDOW = Days(date(2026, 4, 1), date(2026, 4, 30))
LABELS, MODELS = ("RET-exchange", "RET-refund", "RET-account"), ("small", "large")
KEYWORDS = ("exchange", "refund", "address")
RULES = Categories(zip(LABELS, [[keyword] for keyword in KEYWORDS], strict=True))
TOPIC_NAMES = ("billing", "refund", "shipping")
TOPICS = frozenset(TOPIC_NAMES)
Calls = list[dict[str, Any]]
Record = dict[str, Any]


@dataclass(frozen=True)
class Scenario:
    """A kind of log. ``lines`` are the statements of the planted cause; ``least`` and ``most`` are goals for
    the share of runs that state it or, if nothing was planted, that state anything."""

    name: str
    make: Callable[[Random], list[Record]]
    lines: tuple[str, ...] = ()
    least: float | None = None
    most: float | None = None


@dataclass(frozen=True)
class Outcome:
    planted: bool
    others: tuple[str, ...]


# --- records -----------------------------------------------------------------------------------------


def make_call(
    name: str, args: dict[str, Any] | None = None, *, ok: bool = True, **more: Any
) -> dict[str, Any]:
    error = None if ok else "ValueError: this cannot be done"
    return {"name": name, "args": args or {}, "ok": ok, "error": error, **more}


def request(
    rng: Random,
    calls: Calls,
    *,
    ok: bool,
    category: str | None = None,
    model: str | None = None,
    about: str = "",
) -> Record:
    question = f"{about} {' '.join(rng.choice('aeiou') + rng.choice('bcdfgklm') for _ in range(3))} please"
    return {
        "schema_version": 2,
        "question": question.strip(),
        "category_hash": category or rng.choice(LABELS),
        "provider": "openai",
        "model": model or rng.choice(MODELS),
        "tool_calls": calls,
        "override_calls": [],
        "chunk_len": 1000 if ok else 0,
        "error": None,
    }


def small_talk(rng: Random) -> Calls:
    """Unrelated calls, some of which fail at random."""
    calls = []
    for _ in range(rng.randrange(3)):
        tool = rng.choice(("search", "read_policy", "get_user", "calculate"))
        args: dict[str, Any] = {"query": rng.choice(("a1b", "c2d", "e3f"))} if rng.random() < 0.5 else {}
        if rng.random() < 0.5:
            args["limit"] = rng.randrange(1, 200)
        calls.append(make_call(tool, args, ok=rng.random() < 0.85))
    return calls


def sides(rng: Random, n: int = SIDE) -> list[bool]:
    """Whether each of ``2 * n`` requests has the planted cause: ``n`` do and ``n`` do not, shuffled."""
    flags = [True] * n + [False] * n
    rng.shuffle(flags)
    return flags


def at_rates(rng: Random, base: float) -> Callable[[bool], bool]:
    """Success by side: at a rate, and at a rate 30 points higher."""
    return lambda better: rng.random() < base + POINTS * better


# --- planted: calls ------------------------------------------------------------------------------------


def order_args(rng: Random) -> dict[str, Any]:
    args: dict[str, Any] = {"order_id": f"W{rng.randrange(10**6)}", "topic": rng.choice(TOPIC_NAMES)}
    args["amount"] = rng.randrange(1, 1000)
    if rng.random() < 0.5:
        args["currency"] = rng.choice(("eur", "usd"))
    return args


Shape = Callable[[Random, bool], tuple[Calls, dict[str, Any], dict[str, list[str]] | None]]
"""The calls before a call, its arguments and their sources, by side."""


def planted_call(rng: Random, shape: Shape, base: float) -> list[Record]:
    records, succeeds = [], at_rates(rng, base)
    for better in sides(rng):
        before, args, sources = shape(rng, better)
        more = {} if sources is None else {"args_from": sources}
        refund = make_call("refund", args, ok=succeeds(better), **more)
        after = [make_call("change_order", args)] if better and shape is before_same else []
        calls = [*small_talk(rng), *before, refund, *after, *small_talk(rng), make_call("finish")]
        records.append(request(rng, calls, ok=rng.random() < 0.8))
    return records


def missing_argument(rng: Random, better: bool) -> Any:
    return [], {**order_args(rng), **({"reason": "r"} if better else {})}, None


def argument_too_many(rng: Random, better: bool) -> Any:
    return [], {**order_args(rng), **({} if better else {"reason": "r"})}, None


def declared_value(rng: Random, better: bool) -> Any:
    return [], {**order_args(rng), "topic": rng.choice(("refund", "shipping")) if better else "billing"}, None


def undeclared_value(rng: Random, better: bool) -> Any:
    topic = rng.choice(("refund", "shipping")) if better else rng.choice(("faq", "legal", "hours"))
    return [], {**order_args(rng), "topic": topic}, None


def number_above(rng: Random, better: bool) -> Any:
    return (
        [],
        {**order_args(rng), "amount": rng.randrange(1, 151) if better else rng.randrange(151, 1000)},
        None,
    )


def no_source(rng: Random, better: bool) -> Any:
    args = order_args(rng)
    sources = {"order_id": ["get_account.orders[]"] if better else []}
    return [make_call("get_account")], args, sources


def other_source(rng: Random, better: bool) -> Any:
    args = order_args(rng)
    sources = {"order_id": ["get_account.orders[]"] if better else ["find_orders.hits[]"]}
    return [make_call("get_account"), make_call("find_orders")], args, sources


def after_same(rng: Random, better: bool) -> Any:
    args = order_args(rng)
    seen = args["order_id"] if better else f"W{rng.randrange(10**6)}"
    return [make_call("get_order", {"order_id": seen})], args, None


def before_same(rng: Random, better: bool) -> Any:
    args = order_args(rng)
    seen = f"W{rng.randrange(10**6)}" if better else args["order_id"]
    return [make_call("change_order", {"order_id": seen})], args, None


# --- confounded, absent ------------------------------------------------------------------------------


def confounded_call(rng: Random, by: str) -> list[Record]:
    """Easy and hard requests: easy ones pass the argument four times as often, and it has no effect."""
    kinds = LABELS if by == "category" else MODELS
    records = []
    for easy in sides(rng):
        _, args, _ = missing_argument(rng, rng.random() < (0.8 if easy else 0.2))
        refund = make_call("refund", args, ok=rng.random() < (0.9 if easy else 0.4))
        kind = {by: kinds[0] if easy else kinds[1]}
        records.append(request(rng, [*small_talk(rng), refund, make_call("finish")], ok=True, **kind))
    return records


def noise(rng: Random) -> list[Record]:
    """Ten tools with arguments, sources and keywords, all independent of each other."""
    records = []
    for _ in range(600):
        calls = []
        for _ in range(rng.randrange(2, 9)):
            names = rng.sample(("a", "b", "c", "d"), rng.randrange(5))
            args = {name: rng.choice((rng.randrange(1000), rng.choice(TOPIC_NAMES), "x")) for name in names}
            sources = {name: rng.choice(([], ["t0.x"], ["t1.y[]"], ["question"])) for name in names}
            tool, ok = f"t{rng.randrange(10)}", rng.random() < 0.75
            calls.append(make_call(tool, args, ok=ok, args_from=sources))
        calls.append(make_call("finish"))
        about = " ".join(word for word in KEYWORDS if rng.random() < 0.4)
        records.append(request(rng, calls, ok=rng.random() < 0.7, about=about))
    return records


# --- the runs ------------------------------------------------------------------------------------------

GOAL, CAP = 0.95, 0.05
FROM_ACCOUNT = "order_id: from get_account().orders[]"
BOUNDS = (100, 120, 150, 200, 250, 300, 400)  # random amounts also move the best bound
CALL_SHAPES: dict[str, tuple[Shape, tuple[str, ...]]] = {
    "missing argument": (missing_argument, ("Always pass reason",)),
    "argument too many": (argument_too_many, ("Leave out reason",)),
    "declared value": (declared_value, ('topic="billing"',)),
    "undeclared value": (undeclared_value, ("topic: one of refund, shipping",)),
    "number above 150": (number_above, tuple(f"amount over {bound}" for bound in BOUNDS)),
    "value from nowhere": (
        no_source,
        ("order_id: only from an earlier result", FROM_ACCOUNT),
    ),
    "value from elsewhere": (other_source, (FROM_ACCOUNT,)),
    "not after a call": (after_same, ("Call after get_order (same order_id)",)),
    "after a call": (before_same, ("Call before change_order (same order_id)",)),
}
PLANTED: dict[str, tuple[Callable[..., list[Record]], tuple[str, ...]]] = {
    **{name: (partial(planted_call, shape=shape), lines) for name, (shape, lines) in CALL_SHAPES.items()},
}
UNDECLARED = "undeclared value"  # declared values are listed if all other values fail
SCENARIOS = (
    *(
        Scenario(f"{name}, 0.{base} and 0.{base + 3}", partial(make, base=base / 10), lines, least=least)
        for base, least in ((6, GOAL), (3, None))
        for name, (make, lines) in PLANTED.items()
        if name != UNDECLARED
    ),
    Scenario(
        f"{UNDECLARED}, 0 and 0.3",
        partial(PLANTED[UNDECLARED][0], base=0.0),
        PLANTED[UNDECLARED][1],
        least=GOAL,
    ),
    *(
        Scenario(
            f"condition, confounded by {by}",
            partial(confounded_call, by=by),
            ("Always pass reason",),
            most=CAP,
        )
        for by in ("category", "model")
    ),
    Scenario("noise: anything said", noise, most=CAP),
)
TOOLS = {
    name: Tool(name, "tools.py", name, (), TOPICS, listed=frozenset({frozenset({"refund", "shipping"})}))
    for name in ("refund", "search", "read_policy", "get_user", "calculate", *(f"t{n}" for n in range(10)))
}
WORDS = Vocabulary(TOOLS, Settings())


def stated_lines(records: list[Record], rng: Random) -> Iterator[str]:
    """Return the lines of all statements that a nightly run finds in some records."""
    times = sorted(rng.uniform(0, DAYS * 86_400) for _ in records)
    days: dict[int, list[tuple[int, bytes]]] = {}
    for number, (seconds, record) in enumerate(zip(times, records, strict=True)):
        record["ts"] = (START + timedelta(seconds=seconds)).isoformat()
        days.setdefault(int(seconds) % 2, []).append((number * 1000, json.dumps(record).encode()))
    settings = MineSettings(categories=RULES)
    files = [facts_of_lines(lines, settings, path=Path(f"{day}.jsonl")) for day, lines in days.items()]
    sample = read_sample(merge(files, WINDOW))
    statements = (*find_conditions(sample, WORDS).statements, *find_sources(sample))
    useful = (entry for entry in statements if entry.refused is None and entry.avoided >= MIN_AVOIDED)
    return (entry.line.removeprefix("- ") for entry in useful)


def run(task: tuple[int, int]) -> Outcome:
    scenario = SCENARIOS[task[0]]
    rng = Random(f"{scenario.name} {task[1]}")
    lines = list(stated_lines(scenario.make(rng), rng))
    planted = [line for line in lines if line.partition(" fails ")[0] in scenario.lines or not scenario.lines]
    return Outcome(bool(planted), tuple(line for line in lines if line not in planted))


def simulate(n_runs: int, jobs: int) -> list[list[Outcome]]:
    """Return the outcome of each run of each scenario."""
    tasks = [(place, number) for place in range(len(SCENARIOS)) for number in range(n_runs)]
    os.environ.setdefault("POLARS_MAX_THREADS", "1")  # a run is small, and parallel runs use all cores
    with ProcessPoolExecutor(jobs, mp_context=get_context("spawn")) as pool:
        outcomes = list(pool.map(run, tasks, chunksize=5))
    return [outcomes[start : start + n_runs] for start in range(0, len(outcomes), n_runs)]


def is_reached(scenario: Scenario, share: float) -> bool:
    return (scenario.least or 0) <= share <= (scenario.most or 1)


def goal_of(scenario: Scenario) -> str:
    if scenario.least is not None:
        return f"at least {scenario.least:.0%}"
    return f"at most {scenario.most:.0%}" if scenario.most is not None else "-"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--runs", type=int, default=200)
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--lines", action="store_true", help="print the other stated lines")
    options = parser.parse_args()
    start = time.perf_counter()
    missed = 0
    for scenario, runs in zip(SCENARIOS, simulate(options.runs, options.jobs), strict=True):
        share = sum(outcome.planted for outcome in runs) / len(runs)
        others = sum(bool(outcome.others) for outcome in runs) / len(runs)
        missed += not is_reached(scenario, share)
        mark = "" if is_reached(scenario, share) else "  MISSED"
        print(f"{scenario.name:<34} {share:7.1%}  {goal_of(scenario):<13} anything else {others:6.1%}{mark}")
        if options.lines:
            for line in sorted({line for outcome in runs for line in outcome.others}):
                print("   ", sum(line in outcome.others for outcome in runs), line)
    print(f"{time.perf_counter() - start:.0f} s")
    sys.exit(bool(missed))


if __name__ == "__main__":
    main()
