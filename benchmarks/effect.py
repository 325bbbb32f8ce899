"""How often the verdicts of `effect` are right: simulated histories of five tools, one of which was changed.

    uv run python benchmarks/effect.py --histories 300

A history has 45 to 51 days before a change and 60 after. Failures follow a logistic model: users, days of
each tool and of all, and what the family adds. By default requests call two to four of the tools; in families
that are apart, each user has one tool. Families without an effect have a change that is not the line's own.
What a log sends twice is no unit (tests/unit/learn/effect), so doubles and retries are no family here.
Prints a line per family, and exits with 1 if a goal is missed. Runs are reproducible.
"""

import argparse
import sys
import zlib
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, replace
from functools import partial
from math import sqrt
from multiprocessing import get_context
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from coreloop.learn.effect.estimate import HORIZON_DAYS, Comparison, UnitCount
from coreloop.learn.effect.verdict import Decision, EffectVerdict, decide

Numbers = NDArray[np.float64]
BASES = (0.06, 0.12, 0.16, 0.09)
"""Failing shares of the tools that did not change."""
HELPS, HURTS, MOVED = EffectVerdict.HELPS, EffectVerdict.HURTS, EffectVerdict.MOVED
LOOKED = (14, 28, 60)


@dataclass(frozen=True)
class Family:
    """A kind of history; shares of units, deviations and changes of log-odds.

    ``common`` is the mean and the deviation, over tools, of what comes with the change; ``own`` and
    ``others`` are the same for the changed tool, and the others, alone; ``drift`` is in sixty days,
    ``own_drift`` in ninety. ``swap`` is a model twelve days later, ``heavy`` a customer with 40 % of the
    requests who ``came`` or ``left``, or ``anonymous`` new ones. ``moved`` is the part of the removed
    failures that comes back as others; 2: they double. ``sure``: its coverage is a goal.
    """

    name: str
    rates: tuple[float, float] = (0.22, 0.22)
    expected: EffectVerdict | None = None
    by: int | None = None
    common: tuple[float, float] = (0.0, 0.0)
    own: float = 0.0
    others: float = 0.0
    drift: float = 0.0
    own_drift: float = 0.0
    swap: str = ""
    heavy: str = ""
    moved: float = 0.0
    mix: float = 0.0
    weekend: float = 0.0
    outage: bool = False
    gap: bool = False
    level_sd: float = 0.2
    user_sd: float = 0.8
    volume: float = 1.0
    bases: tuple[float, ...] = BASES
    apart: bool = False
    sure: bool = True


class History(NamedTuple):
    """Units, the day of the change, and the true effect on each of the tool's units after it, by day."""

    units: list[UnitCount]
    first: int
    truth: list[tuple[int, str, float]]


def logit(rate: float | Numbers) -> Numbers:
    return np.log(rate) - np.log1p(-np.asarray(rate))


def expit(odds: Numbers) -> Numbers:
    return 1 / (1 + np.exp(-odds))


def days_of(rng: np.random.Generator, n: int, sd: float) -> Numbers:
    """A stationary series of days."""
    series, shocks = np.empty(n), rng.normal(0, sd * sqrt(0.51), n)
    series[0] = rng.normal(0, sd)
    for day in range(1, n):
        series[day] = 0.7 * series[day - 1] + shocks[day]
    return series


def requests(family: Family, rng: np.random.Generator, first: int, n_days: int) -> tuple[Numbers, ...]:
    """Day, user, the user's log-odds, and whether a request is of new traffic, of all requests."""
    rows: list[tuple[Numbers, ...]] = []
    pool, new = rng.normal(0, family.user_sd, 60), 60
    for day in range(n_days):
        if family.gap and first - 2 <= day <= first + 3:
            continue
        busy = 1.2 if day % 7 < 5 else 0.35 if family.weekend else 0.7
        n = rng.binomial(int((80 if family.apart else 44) * family.volume * busy) + 1, 0.5)
        known = rng.random(n) < 0.25
        users = np.where(known, rng.integers(0, 60, n), new + np.arange(n))
        levels = np.where(known, pool[users % 60], rng.normal(0, family.user_sd, n))
        share = 0.2 + family.mix * min(1, max(0, (day - first + 20) / 45)) if family.mix else 0.0
        is_new, size = rng.random(n) < share, np.minimum(rng.geometric(0.5, n), 6)
        new += n
        rows.append((np.full(size.sum(), day), *(np.repeat(one, size) for one in (users, levels, is_new))))
        extra = round(0.67 * n)
        if family.heavy == "anonymous" and day >= first:
            users, levels, new = new + np.arange(extra), rng.normal(1, family.user_sd, extra), new + extra
            rows.append(
                (np.full(2 * extra, day), np.repeat(users, 2), np.repeat(levels, 2), np.zeros(2 * extra))
            )
        elif family.heavy and family.heavy != "anonymous" and (day >= first) is (family.heavy == "came"):
            of_one = (day, 10**7, 1.5, 0)
            rows.append(tuple(np.full(2 * extra, value) for value in of_one))
    return tuple(np.concatenate(column) for column in zip(*rows, strict=True))


def simulate(family: Family, seed: int) -> History:
    """Make a history."""
    rng = np.random.default_rng([seed, zlib.crc32(family.name.encode())])
    first = 45 + int(rng.integers(7))
    n_days, n_tools = first + HORIZON_DAYS, 1 + len(family.bases)
    day, user, level, is_new = requests(family, rng, first, n_days)
    n_called = np.minimum(rng.integers(2, 5, len(day)), n_tools)
    called = rng.random((len(day), n_tools)).argsort(1).argsort(1) < n_called[:, None]
    if n_tools < 5:
        called = rng.random((len(day), n_tools)) < 0.6
    if family.apart:
        called = (
            np.arange(n_tools) == ((user * 7919 + (user < 60) * day) % 9 * 0.6).astype(int)[:, None] % n_tools
        )
    request, tool = np.nonzero(called)
    day, user, level, is_new = (one[request] for one in (day.astype(int), user.astype(int), level, is_new))
    after, is_target, place = day >= first, tool == 0, np.arange(n_days)
    everyone = days_of(rng, n_days, 0.15)
    series = np.stack([everyone + days_of(rng, n_days, family.level_sd) for _ in range(n_tools)])
    series += family.drift * (place - first) / 60 * rng.choice([-1, 1])
    series[0] += family.own_drift * (place - first) / 90 * rng.choice([-1, 1])
    series[:, first:] += rng.normal(family.common[0], family.common[1], n_tools)[:, None]
    series[0, first:] += family.own
    series[1:, first:] += family.others
    if family.swap:
        series[:, first + 12 :] += rng.normal(0.6, 0.3, n_tools)[:, None]
    series[0] += family.weekend * (place % 7 >= 5)
    load = np.concatenate([[1], rng.uniform(0.3, 1.3, n_tools - 1)])
    odds = level + series[tool, day] + 1.6 * is_new * load[tool]
    plain = expit(logit(np.array([family.rates[0], *family.bases]))[tool] + odds)
    changed = expit(logit(family.rates[1]) + odds)
    failed = rng.random(len(day)) < np.where(is_target & after, changed, plain)
    named = is_target & failed & (rng.random(len(day)) < 0.95)
    others = np.where(is_target, expit(logit(0.06) + odds), 0)
    back = (plain - changed) * family.moved / np.maximum(1 - changed, 0.05)
    if family.moved == 2:
        back = expit(logit(0.45) + odds)
    others = np.where(is_target & after, np.maximum(others, 1 - (1 - others) * (1 - back)), others)
    failed = np.where(is_target, named | (rng.random(len(day)) < others), failed)
    lost = failed & (rng.random(len(day)) < 0.5)
    outside = rng.random(len(day)) < np.where(
        family.outage & ((day == first) | (day == first + 1)), 0.6, 0.02
    )
    model = (day >= first + 12) & (family.swap == "recorded")
    stratum = [f"{m} {w} {h}" for m, w, h in zip(model, day % 7 >= 5, user == 10**7, strict=True)]
    columns = (one.astype(int).tolist() for one in (named, failed, lost))
    rows = zip(day.tolist(), user.tolist(), tool.tolist(), stratum, *columns, outside, strict=True)
    units = [UnitCount(d, u, f"t{t}", s, 1, n, f, its) for d, u, t, s, n, f, its, out in rows if not out]
    effects = zip(day, stratum, 0.95 * (changed - plain), is_target & after & ~outside, strict=True)
    return History(units, first, [(int(d), s, float(e)) for d, s, e, counts in effects if counts])


@dataclass(frozen=True)
class Outcome:
    """Each verdict with its first day, the last one, and on which days the interval was right."""

    said: dict[EffectVerdict, int]
    last: EffectVerdict
    right: dict[int, bool]


def judge(units: list[UnitCount], first: int, truth: list[tuple[int, str, float]]) -> Outcome:
    before = [unit for unit in units if first - 56 <= unit.day < first]
    compared = Comparison("t0", before, [unit for unit in units if unit.day >= first], first=first)
    past = Counter(unit.stratum for unit in before if unit.tool == "t0")
    known = [(day, effect) for day, stratum, effect in truth if past[stratum] >= 10]
    looks = {day: compared.at(day) for day in range(1, HORIZON_DAYS + 1)}
    said, right, decision = dict[EffectVerdict, int](), dict[int, bool](), Decision()
    for day, look in looks.items():
        decision = decide(day, looks.get)
        said.setdefault(decision.verdict, day)
        effects = [effect for at, effect in known if at < first + day]
        if look is not None and day >= 3 and effects:
            right[day] = look.named.low <= sum(effects) / len(effects) <= look.named.high
    return Outcome(said, decision.verdict, right)


def outcome(family: Family, seed: int) -> Outcome:
    return judge(*simulate(family, seed))


def bundle(effects: tuple[bool, bool], seed: int) -> list[Outcome]:
    """Two lines five days apart that name different failures: each judged alone, and the tool's whole."""
    family = Family(f"two {effects}", (0.22, 0.04 if effects[0] else 0.22))
    units, first, _ = simulate(family, seed)
    rng = np.random.default_rng([seed, 2, *effects])
    rates = (0.10, 0.02 if effects[1] else 0.10)
    tables: list[list[UnitCount]] = [[], [], []]
    levels: dict[int, float] = {}
    for unit in units:
        if unit.tool != "t0":
            for table in tables:
                table.append(unit)
            continue
        level = levels.setdefault(unit.case, rng.normal(0, 0.8))
        second = int(rng.random() < expit(logit(rates[unit.day >= first + 5]) + level))
        rest = unit.failed & ~unit.named
        for table, named in zip(tables, (unit.named, second, unit.named | second | rest), strict=True):
            table.append(unit._replace(named=named, failed=named | rest, lost=0))
    tables[2] = [unit for unit in tables[2] if not first <= unit.day < first + 5]
    firsts = first, first + 5, first + 5
    return [judge(table, day, []) for table, day in zip(tables, firsts, strict=True)]


def families() -> Iterator[Family]:
    """The families without an effect, those with one, and what is known not to work."""
    helps, hurts = {"rates": (0.22, 0.04), "expected": HELPS}, {"rates": (0.06, 0.25), "expected": HURTS}
    moved = {"rates": (0.22, 0.04), "expected": MOVED, "moved": 1.0}
    base = Family("plain")
    kinds = [
        base,
        Family("weekly rhythm of the tool", weekend=1.2),
        Family("other users", mix=0.4),
        Family("another model, recorded", swap="recorded"),
        Family("another model, silent", swap="silent"),
        Family("no records for six days", gap=True),
        Family("outage on the day", outage=True),
        Family("a heavy user comes", heavy="came"),
        Family("a heavy user leaves", heavy="left"),
        Family("anonymous new traffic", heavy="anonymous"),
        Family("calls of a session fail together", user_sd=2.0),
        Family("five calls a day", volume=5 / 31),
        Family("a release changes all tools", common=(0.8, 0.4)),
        Family("a release mends all tools", common=(-0.8, 0.4)),
        Family("all drift", drift=0.6),
        Family("loud days", level_sd=0.35),
        Family("another merge", bases=BASES[1:]),
        Family("one control", bases=BASES[:1]),
        Family("controls that rarely fail", bases=(0.015, 0.02, 0.01, 0.02)),
        Family("no control", bases=()),
    ]
    apart = [replace(kind, name=f"{kind.name}, apart", apart=True) for kind in kinds if kind.name in _APART]
    yield from (*kinds, *apart, Family("base of 2 %", (0.02, 0.02)))
    yield from (
        replace(kind, name=f"{kind.name}: 22 to 4 %", by=7 if kind is base else None, **helps)
        for kind in kinds
    )
    yield Family("plain: 10 to 2 %", (0.10, 0.02), HELPS, 9)
    yield Family("plain: 22 to 11 %", (0.22, 0.11), HELPS, 15)
    yield Family("base of 2 %: to 0.2 %", (0.02, 0.002), HELPS)
    yield Family("plain: 6 to 25 %", by=5, **hurts)
    yield Family("a release changes all tools: 6 to 25 %", common=(0.8, 0.4), **hurts)
    yield Family("plain: all come back", **moved)
    yield Family("no control: all come back", bases=(), **moved)
    yield replace(Family("plain: half come back", **moved), moved=0.5, expected=HELPS)
    yield Family("plain: failures double", (0.22, 0.02), HURTS, moved=2)
    yield Family("uneven release", common=(0.6, 0.6), sure=False)
    yield Family("a release that spares the tool", others=0.8, sure=False)
    yield Family("this tool alone fails more", own=0.5, sure=False)
    yield Family("this tool alone fails less", own=-0.5, sure=False)
    yield Family("this tool alone drifts", own_drift=0.4, sure=False)


_APART = {"plain", "other users", "another model, silent", "a release changes all tools"}


@dataclass(frozen=True)
class Result:
    """Shares of the histories of a family in which something was said, or covered."""

    family: Family
    said: dict[EffectVerdict, float]
    day: float
    covered: tuple[float, ...]
    least: float
    always: float


def summarize(family: Family, outcomes: list[Outcome]) -> Result:
    said = Counter(verdict for one in outcomes for verdict in one.said)
    days = sorted(one.said.get(family.expected or HELPS, 99) for one in outcomes)
    by_day = {
        day: [one.right[day] for one in outcomes if day in one.right] for day in range(3, HORIZON_DAYS + 1)
    }
    shares = {day: sum(right) / len(right) for day, right in by_day.items() if len(right) > len(outcomes) / 2}
    return Result(
        family,
        {verdict: said[verdict] / len(outcomes) for verdict in EffectVerdict},
        days[len(days) // 2],
        tuple(shares.get(day, 0.0) for day in LOOKED),
        min(shares.values(), default=0.0),
        sum(all(one.right.values()) for one in outcomes) / len(outcomes),
    )


def misses(result: Result) -> Iterator[str]:
    """The goals that a family misses."""
    family, said = result.family, result.said
    if not family.sure:
        return
    for verdict in (HELPS, HURTS):
        if family.expected is None and said[verdict] > 0.05:
            yield f"{family.name}: {verdict} in {said[verdict]:.1%}, goal 5 %"
    if result.least < 0.93:
        yield f"{family.name}: {result.least:.1%} covered at the worst look, goal 93 %"
    if family.expected is MOVED and said[MOVED] < 0.95:
        yield f"{family.name}: moved in {said[MOVED]:.1%}, goal 95 %"
    if family.by is not None and result.day > family.by:
        yield f"{family.name}: median day {result.day}, goal {family.by}"


def show(result: Result) -> str:
    shares = " | ".join(f"{result.said[verdict]:.1%}" for verdict in list(EffectVerdict)[:5])
    covered = " / ".join(f"{share:.1%}" for share in result.covered)
    day = f"{result.day}" if result.day < 99 and result.family.expected else "–"
    least = f"{result.least:.1%} | {result.always:.1%}"
    return f"| {result.family.name} | {shares} | {day} | {covered} | {least} |"


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--histories", type=int, default=300)
    parser.add_argument("--only", default="", help="families whose name contains this")
    parser.add_argument("--jobs", type=int, default=2)
    options = parser.parse_args()
    print(
        "| history | hurts | moved | worse | helps | no effect | day | covered 14 / 28 / 60 | worst | all |"
    )
    print("|---|---|---|---|---|---|---|---|---|---|", flush=True)
    missed: list[str] = []
    with ProcessPoolExecutor(options.jobs, mp_context=get_context("forkserver")) as pool:
        for family in families():
            if options.only in family.name:
                outcomes = list(pool.map(partial(outcome, family), range(options.histories), chunksize=4))
                result = summarize(family, outcomes)
                print(show(result), flush=True)
                missed += misses(result)
        for effects in ((False, False), (False, True), (True, False), (True, True)):
            lines = list(pool.map(partial(bundle, effects), range(options.histories), chunksize=4))
            for name, outcomes in zip(("first", "second", "whole"), zip(*lines, strict=True), strict=True):
                said = Counter(one.last for one in outcomes)
                shares = ", ".join(f"{verdict} {n / len(lines):.1%}" for verdict, n in said.most_common())
                print(f"two lines {effects}, {name}: {shares}", flush=True)
    print("\n".join(["", *(f"missed: {miss}" for miss in missed)]))
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
