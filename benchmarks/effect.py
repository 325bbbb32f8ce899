"""How often the verdicts of `effect` are right: simulated histories of five tools, one of which was changed.

    uv run python benchmarks/effect.py --histories 300

A history has 56 days before a change and 90 after, for the changed tool and four controls. Failures follow a
logistic model with a weekly rhythm, autocorrelated days of each tool and of all, cases of uneven size whose
calls belong together, two categories and, by cell, one of: a drift of all tools, a drift of one, a change of
model (of all tools, of this one's traffic), shifting traffic, a seasonal week, a second merge of a control.
Prints a line per cell, and exits with 1 if a goal is missed. Runs are reproducible.
"""

import argparse
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import partial
from math import log, sqrt
from multiprocessing import get_context

import numpy as np
from numpy.typing import NDArray

from coreloop.learn.effect.estimate import DayCount, Estimate, Periods, Stratum, Tally, estimate, tally
from coreloop.learn.effect.verdict import (
    PLANNED_DAYS,
    PLANNED_Z,
    Decision,
    EffectVerdict,
    daily_z,
    decide,
    judge_look,
    look_at,
)

BEFORE, AFTER, TOOLS = 56, 90, 5
_SURE = {EffectVerdict.HELPS, EffectVerdict.HURTS}
Days = NDArray[np.float64]


@dataclass(frozen=True)
class Cell:
    """A kind of history. ``special`` is what it has besides the noise of every day."""

    name: str
    before: float
    after: float
    calls: int
    special: str = ""
    found_by: int | None = None
    controls: bool = True
    noise: tuple[float, float] = (0.15, 0.10)
    """Standard deviation of a tool's own days, and of the days of all tools, on the log-odds scale."""
    is_unseen: bool = False
    """Of a generator that nothing was chosen with: heavy-tailed days without a weekly rhythm, controls of any
    rate, lognormal cases, bursts of traffic."""


@dataclass(frozen=True)
class Outcome:
    """What became of a history: its verdict and day, and the fixed intervals of days 28, 56 and 90."""

    verdict: EffectVerdict
    day: int | None
    covers: tuple[bool, ...]
    errors: tuple[float, ...]
    deviations: tuple[float, ...]
    always_covers: bool
    planned: bool
    daily: bool
    """Whether planned, or daily, looks alone say helps or hurts at any time."""


def logit(rate: float) -> float:
    return log(rate / (1 - rate))


def autoregressive(rng: np.random.Generator, days: int, sd: float, phi: float) -> Days:
    """A stationary series of days."""
    series = np.empty(days)
    series[0] = rng.normal(0, sd)
    shocks = rng.normal(0, sd * sqrt(1 - phi * phi), days)
    for day in range(1, days):
        series[day] = phi * series[day - 1] + shocks[day]
    return series


def simulate(cell: Cell, seed: int) -> Outcome:
    """Make a history and judge it."""
    rng = np.random.default_rng([seed, sum(map(ord, cell.name)), cell.calls])
    days = BEFORE + AFTER
    everyone = autoregressive(rng, days, cell.noise[1], 0.7)
    if cell.is_unseen:
        everyone += 0.1 * rng.standard_t(4, days)
    else:
        everyone += 0.2 * np.sin(2 * np.pi * np.arange(days) / 7)
    if cell.special == "shared drift":
        everyone += 0.6 * np.clip((np.arange(days) - BEFORE + 20) / 60, 0, 1) * rng.choice([-1, 1])
    if cell.special == "seasonal week":
        everyone[BEFORE + 14 : BEFORE + 21] += 0.8
    histories, true_with, true_without, n_calls = [], [], [], []
    for tool in range(TOOLS):
        made = _tool(cell, rng, everyone, is_target=tool == 0)
        if not made.is_merged:
            histories.append(made.days)
        if tool == 0:
            true_with, true_without, n_calls = made.with_change, made.without, made.n
    return _judge(cell, histories, np.cumsum(true_with - true_without), np.cumsum(n_calls))


@dataclass(frozen=True)
class _Made:
    """A tool's days, and its expected failures of each day of after with and without the change."""

    days: list[DayCount]
    with_change: Days
    without: Days
    n: Days
    is_merged: bool
    """Whether its own description changed, so that it is no control."""


def _tool(cell: Cell, rng: np.random.Generator, everyone: Days, *, is_target: bool) -> _Made:
    days = BEFORE + AFTER
    other = rng.uniform(0.02, 0.4) if cell.is_unseen else rng.choice([0.05, 0.10, 0.15, 0.20])
    base = logit(cell.before) if is_target else logit(float(other))
    effect = logit(cell.after) - logit(cell.before) if is_target else 0.0
    level = everyone + autoregressive(rng, days, cell.noise[0], 0.5)
    if cell.is_unseen:
        level = level + 0.1 * rng.standard_t(4, days)
    is_merged = False
    if cell.special == "own drift":
        level = level + rng.normal(0, 0.25) * np.clip((np.arange(days) - BEFORE + 20) / 60, 0, 1)
    if cell.special == "merge of a control" and not is_target:
        is_merged = rng.random() < 0.25
        level = level + np.where(np.arange(days) >= BEFORE + 10, -0.8 * is_merged, 0)
    weekday = np.where(np.arange(days) % 7 < 5, 1.2, 0.5)
    if cell.is_unseen:
        weekday = rng.lognormal(-0.1, 0.5, days)
    if cell.special == "seasonal week":
        weekday[BEFORE + 14 : BEFORE + 21] *= 0.5
    n_cases = rng.poisson(cell.calls * weekday / 1.8)
    day = np.repeat(np.arange(days), n_cases)
    size = np.minimum(rng.geometric(1 / 1.8, len(day)), 30)
    if cell.is_unseen:
        size = np.minimum(np.ceil(rng.lognormal(0.2, 0.6, len(day))), 30).astype(int)
    of_case = rng.normal(0, 0.5, len(day))  # calls of a case fail together
    share = np.full(days, 0.4)
    if cell.special == "shifting traffic":
        share = 0.2 + 0.6 * np.clip((np.arange(days) - BEFORE + 10) / 40, 0, 1)
    category = (rng.random(len(day)) < share[day]).astype(int)
    model = np.zeros(len(day), dtype=int)
    if cell.special == "model of all" or (cell.special == "model of one" and is_target):
        model = (day >= BEFORE + 12).astype(int)
    plain = base + level[day] + 0.7 * category - 0.28 + 0.5 * model + of_case
    changed = plain + effect * (day >= BEFORE)
    failures = rng.binomial(size, 1 / (1 + np.exp(-changed)))
    stratum = 2 * model + category
    keys = day * 4 + stratum
    n = np.bincount(keys, size, minlength=days * 4).reshape(days, 4)
    failed = np.bincount(keys, failures, minlength=days * 4).reshape(days, 4)
    squares = [
        np.bincount(day, values, minlength=days)
        for values in (size * size, size * failures, failures * failures)
    ]
    names: list[Stratum] = [(f"m{number // 2}", f"c{number % 2}") for number in range(4)]
    counts = [
        DayCount(
            at,
            {names[s]: (int(n[at, s]), int(failed[at, s])) for s in range(4) if n[at, s]},
            *(int(square[at]) for square in squares),
        )
        for at in range(days)
    ]
    after = day >= BEFORE
    place = day[after] - BEFORE
    expect = [
        np.bincount(place, size[after] / (1 + np.exp(-odds[after])), minlength=AFTER)
        for odds in (changed, plain)
    ]
    return _Made(counts, expect[0], expect[1], np.bincount(place, size[after], minlength=AFTER), is_merged)


def _judge(cell: Cell, histories: list[list[DayCount]], effects: Days, n_calls: Days) -> Outcome:
    afters = [Tally() for _ in histories]
    befores = [tally(history[:BEFORE]) for history in histories]
    estimates: dict[int, Estimate | None] = {}

    def read(day: int) -> Estimate | None:
        while len(estimates) < day:
            at = len(estimates)
            for after, history in zip(afters, histories, strict=True):
                after.add(history[BEFORE + at])
            target, *controls = (Periods(*pair) for pair in zip(befores, afters, strict=True))
            has_calls = target.after.n and target.before.n
            estimates[at + 1] = estimate(target, controls if cell.controls else []) if has_calls else None
        return estimates[day]

    read(AFTER)
    decision = decide(AFTER, read)
    truth = [effect / n if n else 0.0 for effect, n in zip(effects, n_calls, strict=True)]
    fixed = [(read(day), truth[day - 1]) for day in (28, 56, 90)]
    return _outcome(decision, fixed, estimates, truth)


def _outcome(
    decision: Decision,
    fixed: list[tuple[Estimate | None, float]],
    estimates: dict[int, Estimate | None],
    truth: list[float],
) -> Outcome:
    pairs = [(found, true) for found, true in fixed if found is not None]
    inside = all(
        abs(found.difference - truth[day - 1]) <= daily_z(found) * sqrt(found.variance)
        for day, found in estimates.items()
        if found is not None and day >= 7
    )
    return Outcome(
        verdict=decision.verdict,
        day=decision.day,
        covers=tuple(abs(e.difference - true) <= PLANNED_Z * sqrt(e.variance) for e, true in pairs),
        errors=tuple(e.difference - true for e, true in pairs),
        deviations=tuple(sqrt(e.variance) for e, _ in pairs),
        always_covers=inside,
        planned=any(
            judge_look(look_at(e, day, PLANNED_Z)) in _SURE
            for day in PLANNED_DAYS
            if (e := estimates[day]) is not None and e.n_controls
        ),
        daily=any(
            judge_look(look_at(e, day, daily_z(e))) in _SURE for day, e in estimates.items() if e is not None
        ),
    )


@dataclass(frozen=True)
class Result:
    """Figures of a cell; ``width`` is that of the interval by 1.96 times the true deviation."""

    cell: Cell
    n: int
    coverage: float
    width: float
    always: float
    planned: float
    daily: float
    shares: dict[EffectVerdict, float]
    days_80: int | None
    seconds: float


def run(cell: Cell, histories: int, pool: ProcessPoolExecutor) -> Result:
    begun = time.monotonic()
    outcomes = list(pool.map(partial(simulate, cell), range(histories), chunksize=10))
    errors = np.array([outcome.errors for outcome in outcomes])
    deviations = np.array([outcome.deviations for outcome in outcomes])
    width = float(np.mean(deviations.mean(0) / errors.std(0)))
    shares = {kind: sum(o.verdict is kind for o in outcomes) / histories for kind in EffectVerdict}
    wanted = EffectVerdict.HURTS if cell.after > cell.before else EffectVerdict.HELPS
    days = sorted(o.day for o in outcomes if o.verdict is wanted and o.day is not None)
    needed = int(np.ceil(0.8 * histories))
    return Result(
        cell=cell,
        n=histories,
        coverage=float(np.mean([o.covers for o in outcomes])),
        width=width,
        always=sum(o.always_covers for o in outcomes) / histories,
        planned=sum(o.planned for o in outcomes) / histories,
        daily=sum(o.daily for o in outcomes) / histories,
        shares=shares,
        days_80=days[needed - 1] if len(days) >= needed else None,
        seconds=time.monotonic() - begun,
    )


def cells() -> Iterator[Cell]:
    kinds = (
        "",
        "shared drift",
        "own drift",
        "model of all",
        "model of one",
        "shifting traffic",
        "seasonal week",
        "merge of a control",
    )
    for calls in (40, 13):
        for kind in kinds:
            yield Cell(f"no effect, {kind or 'plain'}", 0.10, 0.10, calls, kind)
    for calls in (40, 13):
        yield Cell("no effect, no controls", 0.10, 0.10, calls, controls=False)
        yield Cell("no effect, loud days", 0.10, 0.10, calls, noise=(0.25, 0.2))
    targets = {(0.10, 0.02): (18, 38), (0.21, 0.03): (10, 15), (0.05, 0.01): (28, None), (0.01, 0.30): (4, 8)}
    for (before, after), by in targets.items():
        for calls, day in zip((40, 13), by, strict=True):
            yield Cell(f"{before:.0%} to {after:.0%}", before, after, calls, found_by=day)
    yield Cell("16% to 17%", 0.16, 0.17, 40)
    yield Cell("10% to 5%", 0.10, 0.05, 40)
    for calls in (40, 13):
        yield Cell("unseen: no effect", 0.10, 0.10, calls, is_unseen=True)
        yield Cell("unseen: no effect, shared drift", 0.10, 0.10, calls, "shared drift", is_unseen=True)
        yield Cell("unseen: 10% to 2%", 0.10, 0.02, calls, is_unseen=True)
        yield Cell("unseen: 5% to 12%", 0.05, 0.12, calls, is_unseen=True)


def misses(result: Result) -> Iterator[str]:
    """The goals that a cell misses."""
    cell, name = result.cell, f"{result.cell.name} at {result.cell.calls}"
    least = 0.85 if cell.special == "own drift" else 0.93
    if cell.special == "model of one":  # it breaks the comparison; docs say so
        return
    if result.coverage < least:
        yield f"{name}: {result.coverage:.1%} covered, goal {least:.0%}"
    if result.width > 1.25:
        yield f"{name}: width {result.width:.2f}, goal 1.25"
    if result.always < 0.94 and cell.special != "own drift":
        yield f"{name}: {result.always:.1%} covered at once, goal 94%"
    if cell.before == cell.after and cell.special != "own drift":
        for way, share in (("planned", result.planned), ("daily", result.daily)):
            if share > 0.05:
                yield f"{name}: {share:.1%} false at {way} looks, goal 5%"
    if cell.found_by is not None and (result.days_80 is None or result.days_80 > cell.found_by):
        yield f"{name}: 80 % by day {result.days_80}, goal {cell.found_by}"
    if cell.name == "16% to 17%" and result.shares[EffectVerdict.HURTS] > 0.07:
        yield f"{name}: {result.shares[EffectVerdict.HURTS]:.1%} called hurts, goal 7%"


def show(result: Result) -> str:
    cell, shares = result.cell, result.shares
    said = ", ".join(f"{kind.value} {share:.1%}" for kind, share in shares.items() if share)
    day = f"day {result.days_80}" if result.days_80 is not None else "-"
    return (
        f"| {cell.name} | {cell.calls} | {result.coverage:.1%} | {result.width:.2f} | {result.always:.1%} "
        f"| {result.planned:.1%} | {result.daily:.1%} | {said} | {day} |"
    )


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--histories", type=int, default=300)
    parser.add_argument("--only", default="", help="cells whose name contains this")
    parser.add_argument("--jobs", type=int, default=2)
    options = parser.parse_args()
    print(
        "| history | calls a day | covered | width | daily, all at once | said at planned looks "
        "| said daily | verdicts by day 90 | 80 % by |"
    )
    print("|---|---|---|---|---|---|---|---|---|", flush=True)
    missed: list[str] = []
    with ProcessPoolExecutor(options.jobs, mp_context=get_context("forkserver")) as pool:
        for cell in cells():
            if options.only in cell.name:
                result = run(cell, options.histories, pool)
                print(show(result), flush=True)
                missed += misses(result)
    print("\n".join(["", *(f"missed: {miss}" for miss in missed)]))
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
