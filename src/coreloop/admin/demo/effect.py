"""The demo's last page: sixty simulated days after the merge, judged as `effect` judges real ones."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import exp, log
from pathlib import Path
from random import Random
from typing import Final

import polars as pl

from coreloop.base.project.workspace import open_workspace
from coreloop.learn.effect.description_changes import BEFORE_DAYS
from coreloop.learn.effect.estimate import HORIZON_DAYS, Comparison, UnitCount
from coreloop.learn.effect.named_failure import named_failure
from coreloop.learn.effect.units import read_log
from coreloop.learn.effect.verdict import Decision, decide
from coreloop.learn.facts.read_lines import MineSettings
from coreloop.learn.mine.folder import read_folder
from coreloop.learn.mine.window import EVERY_DAY, merge

FOLLOWED: Final = 0.8
"""Share of the failing calls that follow the line after the merge: an assumption, and said as one."""
CALLS_A_DAY: Final = 40  # as the busier tools of the benchmark of `effect`, which have four controls
_N_CONTROLS: Final = 4  # as the benchmark of `effect`
_DAY_SD: Final = 0.15
"""Of the days of a tool, on the log-odds scale: as in the benchmark of `effect`."""


@dataclass(frozen=True, slots=True)
class SimulatedEffect:
    """What `effect` would say of the promoted line, and the day of its last look."""

    tool: str
    decision: Decision


def simulate_effect(folder: Path, tool: str, lines: Sequence[str], *, seed: int) -> SimulatedEffect:
    """Simulate the days around a merge, with the shares of failing calls that the demo's records have.

    Parameters
    ----------
    folder : Path
        The demo's project.
    tool : str
        Whose description has the new lines.
    lines : sequence of str
        The lines. Afterwards `FOLLOWED` of the calls against them are made right.
    seed : int
        The same seed gives the same days.
    """
    before, others = _shares(folder, tool, lines)
    rng, after = Random(seed), before * (1 - FOLLOWED)
    rates = {tool: (before, after), **{f"other {number}": (its, its) for number, its in enumerate(others)}}
    days = [units for name, share in rates.items() for day in _DAYS for units in _day(rng, name, day, share)]
    past, present = ([its for its in days if (its.day < BEFORE_DAYS) is is_past] for is_past in (True, False))
    compared = Comparison(tool, past, present, first=BEFORE_DAYS)
    return SimulatedEffect(tool, decide(HORIZON_DAYS, compared.at))


_DAYS: Final = range(BEFORE_DAYS + HORIZON_DAYS)


def _shares(folder: Path, tool: str, lines: Sequence[str]) -> tuple[float, list[float]]:
    """The share of the tool's calls that fail against the lines, and those of the other tools that fail."""
    workspace = open_workspace(folder)
    settings = MineSettings.of(workspace.settings)
    window = merge(read_folder(workspace.records_dir, settings), EVERY_DAY)
    failures = {tool: {"promoted": named_failure(lines)}}
    counted = read_log(window, failures, names={}, audit_dir=workspace.audit_dir)
    against = pl.col("row").is_in(list(counted.against["promoted", tool]))
    of_tool = counted.units.filter(tool=tool)
    others = (
        counted.units.filter(pl.col("tool") != tool).group_by("tool").agg(pl.col("failed").sum(), n=pl.len())
    )
    shares = sorted((_share(failed, n) for _, failed, n in others.iter_rows()), reverse=True)
    return _share(of_tool.filter("failed", against).height, of_tool.height), shares[:_N_CONTROLS]


def _share(failed: int, n: int) -> float:
    """A share that is neither 0 nor 1, so that days can vary around it."""
    return (failed + 0.5) / (n + 1)


def _day(rng: Random, tool: str, day: int, shares: tuple[float, float]) -> Iterator[UnitCount]:
    """A day's calls, each a case of its own; weekends have fewer."""
    n = round(CALLS_A_DAY * (1.2 if day % 7 < 5 else 0.5))
    share = shares[day >= BEFORE_DAYS]
    odds = log(share / (1 - share)) + rng.gauss(0, _DAY_SD)
    for _ in range(n):
        failed = int(rng.random() < 1 / (1 + exp(-odds)))
        yield UnitCount(day, rng.getrandbits(64), tool, "", 1, failed, failed, 0)
