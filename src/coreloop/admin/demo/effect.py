"""The demo's last page: ninety simulated days after the merge, judged as `effect` judges real ones."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import exp, log
from pathlib import Path
from random import Random
from typing import Final

from coreloop.base.project.workspace import open_workspace
from coreloop.learn.effect.count_calls import read_log
from coreloop.learn.effect.description_changes import BEFORE_DAYS
from coreloop.learn.effect.estimate import DailyEstimates, DayCount, tally
from coreloop.learn.effect.tool_days import Log, ToolLog, named_failure
from coreloop.learn.effect.verdict import HORIZON_DAYS, Decision, decide
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
    rng = Random(seed)
    after = before * (1 - FOLLOWED)
    target = [_day(rng, day, before if day < BEFORE_DAYS else after) for day in _DAYS]
    controls = [[_day(rng, day, share) for day in _DAYS] for share in others]
    tools = [(tally(days[:BEFORE_DAYS]), days[BEFORE_DAYS:]) for days in (target, *controls)]
    estimates = DailyEstimates(BEFORE_DAYS, tools)
    return SimulatedEffect(tool, decide(HORIZON_DAYS, estimates.at))


_DAYS: Final = range(BEFORE_DAYS + HORIZON_DAYS)


def _shares(folder: Path, tool: str, lines: Sequence[str]) -> tuple[float, list[float]]:
    """The share of the tool's calls that fail against the lines, and those of the other tools that fail."""
    workspace = open_workspace(folder)
    settings = MineSettings.of(workspace.settings)
    window = merge(read_folder(workspace.records_dir, settings), EVERY_DAY)
    failures = {tool: {"promoted": named_failure(lines)}}
    counted = read_log(window, failures, names={}, audit_dir=workspace.audit_dir)
    others = sorted((_share(counted, name) for name in counted if name != tool), reverse=True)
    return _share(counted, tool, "promoted"), others[:_N_CONTROLS]


def _share(counted: Log, tool: str, commit: str = "") -> float:
    """A share that is neither 0 nor 1, so that days can vary around it."""
    log = counted.get(tool, ToolLog())
    n = sum(n for n, _ in log.by_day().values())
    failed = sum(failed for _, failed in log.by_day(commit if n else "").values())
    return (failed + 0.5) / (n + 1)


def _day(rng: Random, day: int, share: float) -> DayCount:
    """A day's calls, each a case of its own; weekends have fewer."""
    n = round(CALLS_A_DAY * (1.2 if day % 7 < 5 else 0.5))
    odds = log(share / (1 - share)) + rng.gauss(0, _DAY_SD)
    failed = sum(rng.random() < 1 / (1 + exp(-odds)) for _ in range(n))
    return DayCount(day, {("simulated", ""): (n, failed)}, n, failed, failed)
