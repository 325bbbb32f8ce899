"""How often the verdicts of `effect` are right: simulated histories of five tools, one of which was changed.

    uv run python benchmarks/effect.py --histories 300
    uv run python benchmarks/effect.py --histories 1000 --kept FILE --minutes 9  # again, until it is through

A history has 45 to 51 days before a change and 60 after. Failures follow a logistic model: users, days of
each tool and of all, and what the family adds. By default requests call two to four of the tools; in families
that are apart, each user has one tool. Families without an effect have a change that is not the line's own.
Prints a line per family, and exits with 1 if a goal is missed. Runs are reproducible.
"""

import argparse
import sys
import zlib
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, replace
from math import sqrt
from multiprocessing import get_context
from pathlib import Path
from time import monotonic
from typing import NamedTuple

import msgspec
import numpy as np
import polars as pl
from numpy.typing import NDArray

from coreloop.learn.effect.estimate import HORIZON_DAYS, Comparison, UnitCount
from coreloop.learn.effect.units import first_sent
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
    requests who ``came`` or ``left``, or ``anonymous`` new ones. ``twice`` is the share of the requests
    before that are logged twice; with ``retried``, each with a failure is sent twice more afterwards. With
    ``in_turn``, what follows a failed call is no unit. ``moved`` is the part of the removed failures that
    comes back as others; 2: they double. ``sure``: its coverage is a goal.
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
    twice: float = 0.0
    retried: bool = False
    in_turn: bool = False
    level_sd: float = 0.2
    user_sd: float = 0.8
    volume: float = 1.0
    bases: tuple[float, ...] = BASES
    apart: bool = False
    sure: bool = True


class History(NamedTuple):
    """Units, each with the true effect of the change on it, and the day of the change."""

    units: pl.DataFrame
    first: int


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
    others = np.where(is_target, expit(logit(0.06) + odds), 0)
    back = (plain - changed) * family.moved / np.maximum(1 - changed, 0.05)
    if family.moved == 2:
        back = expit(logit(0.45) + odds)
    others = np.where(is_target & after, np.maximum(others, 1 - (1 - others) * (1 - back)), others)
    model = (day >= first + 12) & (family.swap == "recorded")
    columns = {
        "day": day,
        "case": user,
        "tool": tool,
        "request": request,
        "stratum": model * 4 + (day % 7 >= 5) * 2 + (user == 10**7),
        "chance": np.where(is_target & after, changed, plain),
        "others": others,
        "outside": np.where(family.outage & ((day == first) | (day == first + 1)), 0.6, 0.02),
        "effect": np.where(is_target & after, 0.95 * (changed - plain), 0),
    }
    return History(units_of(family, rng, pl.DataFrame(columns), first), first)


def units_of(family: Family, rng: np.random.Generator, calls: pl.DataFrame, first: int) -> pl.DataFrame:
    """The units among calls, some of which are sent or logged again."""
    rows = send(rng, calls)
    if family.in_turn:
        rows = rows.sample(fraction=1, shuffle=True, seed=int(rng.integers(2**31)))
        has_failed = (pl.col("failed").cum_sum() - pl.col("failed")).over("request") > 0
        rows = rows.with_columns(is_unit=pl.col("is_unit") & ~has_failed)
    if family.retried:
        failed = rows.filter(pl.col("failed"), pl.col("day") >= first)["request"].unique()
        again = calls.filter(pl.col("request").is_in(failed.to_list()))
        rows = pl.concat([rows, send(rng, again), send(rng, again)])
    if family.twice:
        doubled = np.flatnonzero(rng.random(rows["request"].max()) < family.twice).tolist()
        rows = pl.concat([rows, rows.filter(pl.col("day") < first, pl.col("request").is_in(doubled))])
    sent = rows.with_row_index("row").with_columns(us=pl.col("row"), asked=pl.col("request"), once=pl.lit(0))
    return first_sent(sent)


def send(rng: np.random.Generator, calls: pl.DataFrame) -> pl.DataFrame:
    """What became of calls, each by its own luck."""
    luck, is_target = rng.random((5, calls.height)), (calls["tool"] == 0).to_numpy()
    failed = luck[0] < calls["chance"].to_numpy()
    named = is_target & failed & (luck[1] < 0.95)
    failed = np.where(is_target, named | (luck[2] < calls["others"].to_numpy()), failed)
    columns = {"named": named, "failed": failed, "lost": failed & (luck[3] < 0.5)}
    columns["is_unit"] = luck[4] >= calls["outside"].to_numpy()
    return calls.with_columns(pl.Series(name, values) for name, values in columns.items())


@dataclass(frozen=True)
class Outcome:
    """Each verdict with its first day, the last one, and on which days the interval was right."""

    said: dict[EffectVerdict, int]
    last: EffectVerdict
    right: dict[int, bool]


def judge(units: pl.DataFrame, first: int) -> Outcome:
    cells, counted = ("day", "case", "tool", "stratum"), ("named", "failed", "lost")
    sums = (pl.col(name).cast(pl.Int64).sum() for name in counted)
    table = units.cast({"tool": pl.String, "stratum": pl.String}).group_by(cells).agg(pl.len(), *sums)
    counts = [UnitCount(*row) for row in table.sort(cells).iter_rows()]
    before = [unit for unit in counts if first - 56 <= unit.day < first]
    compared = Comparison("0", before, [unit for unit in counts if unit.day >= first], first=first)
    own, is_past = units.filter(tool=0), pl.col("day").is_between(first - 56, first - 1)
    past = own.filter(is_past)["stratum"].value_counts().filter(pl.col("count") >= 10)["stratum"]
    known = own.filter(pl.col("day") >= first, pl.col("stratum").is_in(past.to_list()))
    looks = {day: compared.at(day) for day in range(1, HORIZON_DAYS + 1)}
    said, right, decision = dict[EffectVerdict, int](), dict[int, bool](), Decision()
    for day, look in looks.items():
        decision = decide(day, looks.get)
        said.setdefault(decision.verdict, day)
        effects = known.filter(pl.col("day") < first + day)["effect"]
        if look is not None and day >= 3 and len(effects):
            right[day] = look.named.low <= effects.mean() <= look.named.high
    return Outcome(said, decision.verdict, right)


def bundle(effects: tuple[bool, bool], seed: int) -> list[Outcome]:
    """Two lines five days apart that name different failures: each judged alone, and the tool's whole."""
    family = Family(f"two {effects}", (0.22, 0.04 if effects[0] else 0.22))
    units, first = simulate(family, seed)
    rng = np.random.default_rng([seed, 2, *effects])
    rates = np.array([0.10, 0.02 if effects[1] else 0.10])
    levels = rng.normal(0, 0.8, int(units["case"].max()) + 1)[units["case"].to_numpy()]
    odds = logit(rates)[(units["day"] >= first + 5).to_numpy().astype(int)] + levels
    second = pl.Series("second", (units["tool"] == 0).to_numpy() & (rng.random(units.height) < expit(odds)))
    units = units.with_columns(second, lost=pl.lit(value=False))
    rest = pl.col("failed") & ~pl.col("named")
    both = pl.col("named") | pl.col("second") | rest
    alone = units.with_columns(named=pl.col("second"), failed=pl.col("second") | rest)
    whole = units.filter(~pl.col("day").is_between(first, first + 4)).with_columns(named=both, failed=both)
    return [judge(units, first), judge(alone, first + 5), judge(whole, first + 5)]


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
        Family("a third logged twice", twice=0.3),
        Family("failed requests are sent again", retried=True),
        Family("calls in turn", in_turn=True),
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


def show(result: Result, n: int) -> str:
    shares = " | ".join(f"{result.said[verdict]:.1%}" for verdict in list(EffectVerdict)[:5])
    covered = " / ".join(f"{share:.1%}" for share in result.covered)
    day = f"{result.day}" if result.day < 99 and result.family.expected else "–"
    least = f"{result.least:.1%} | {result.always:.1%}"
    return f"| {result.family.name} | {n:,} | {shares} | {day} | {covered} | {least} |"


class Kept(NamedTuple):
    """What was found in a history: of a family, or of both lines of a bundle and their whole."""

    name: str
    seed: int
    outcomes: list[Outcome]


FAMILIES = {family.name: family for family in families()}
BUNDLES = {
    f"two lines {helps}": helps for helps in ((False, False), (False, True), (True, False), (True, True))
}


def find(name: str, seed: int) -> Kept:
    if name in BUNDLES:
        return Kept(name, seed, bundle(BUNDLES[name], seed))
    return Kept(name, seed, [judge(*simulate(FAMILIES[name], seed))])


def find_all(names: list[str], options: argparse.Namespace) -> Iterator[Kept]:
    """What is kept, then the rest, as long as there is time: one history of each family after the other."""
    end, seen = monotonic() + options.minutes * 60, set[tuple[str, int]]()
    for line in options.kept.read_bytes().splitlines() if options.kept and options.kept.exists() else ():
        kept = msgspec.json.decode(line, type=Kept)
        seen.add((kept.name, kept.seed))
        yield kept
    todo = [(name, seed) for seed in range(options.histories) for name in names if (name, seed) not in seen]
    with ProcessPoolExecutor(options.jobs, mp_context=get_context("forkserver")) as pool:
        for at in range(0, len(todo), len(names)):
            if monotonic() < end:
                yield from pool.map(find, *zip(*todo[at : at + len(names)], strict=True))


def keep(found: Iterable[Kept], path: Path | None) -> dict[str, list[Kept]]:
    """What was found, by family; it is added to a file."""
    by_name = defaultdict[str, list[Kept]](list)
    n_lines = len(path.read_bytes().splitlines()) if path and path.exists() else 0
    for number, one in enumerate(found):
        by_name[one.name].append(one)
        if path and number >= n_lines:
            with path.open("ab") as file:
                file.write(msgspec.json.encode(one) + b"\n")
    return by_name


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--histories", type=int, default=300)
    parser.add_argument("--only", default="", help="families whose name contains this")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--kept", type=Path, help="a file of what was found, which is continued")
    parser.add_argument("--minutes", type=float, default=1e6, help="begin nothing afterwards")
    options = parser.parse_args()
    names = [name for name in (*FAMILIES, *BUNDLES) if options.only in name]
    found = keep(find_all(names, options), options.kept)
    print("| history | n | hurts | moved | worse | helps | no effect | day | 14 / 28 / 60 | worst | all |")
    print(f"|{'---|' * 11}")
    missed: list[str] = []
    for name, kept in found.items():
        lines = list(zip(*(one.outcomes for one in kept), strict=True))
        if name in FAMILIES:
            result = summarize(FAMILIES[name], list(lines[0]))
            print(show(result, len(kept)))
            missed += misses(result)
        else:
            for part, outcomes in zip(("first", "second", "whole"), lines, strict=True):
                said = Counter(one.last for one in outcomes)
                shares = ", ".join(f"{verdict} {n / len(kept):.1%}" for verdict, n in said.most_common())
                print(f"{name}, {part}, {len(kept)}: {shares}")
    print("\n".join(["", *(f"missed: {miss}" for miss in missed)]))
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
