"""A shop with tools whose descriptions change on known days, and a log with known failures."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from random import Random
from typing import Any

from coreloop.base.project.workspace import Workspace, open_workspace
from coreloop.learn.effect.effect import Effect
from coreloop.learn.effect.estimate import Estimate
from coreloop.learn.effect.run import run_effect
from coreloop.learn.effect.verdict import Look
from coreloop.learn.line import statement_key
from logs import call, failed, record, write_log
from promoting import Project, run_git

FIRST_DAY = datetime(2026, 3, 2, tzinfo=UTC)
FILE = "shop/tools.py"
CONTROLS = ("list_orders", "find_customer", "check_stock", "send_letter")
LOOK = Look(
    20,
    Estimate(
        before=0.3,
        expected=0.3,
        after=0.1,
        variance=0.0004,
        n_controls=4,
        days_before=56,
        days_after=20,
        n_before=2000,
        n_after=800,
        failed_after=80,
        shrinking=0.0002,
    ),
    -0.25,
    -0.15,
)
"""Twenty days after a merge that took 20 of 30 points of failures away."""


@dataclass(frozen=True)
class Planted:
    """A tool whose line is merged on a day.

    Attributes
    ----------
    line : str
        Of the form ``- Always pass ARGUMENT``; the named failure is a failed call without the argument.
    before, after : float
        Share of the calls that fail in that way.
    day : int
        Days since `FIRST_DAY`.
    """

    tool: str
    before: float
    after: float
    day: int
    line: str = "- Always pass reason"
    by_hand: bool = False


@dataclass
class Shop:
    """The project, and the promotions by tool."""

    project: Project
    shas: dict[str, str] = field(default_factory=dict)

    @property
    def workspace(self) -> Workspace:
        return open_workspace(self.project.root)


def source(tools: Mapping[str, Sequence[str]]) -> str:
    """The file of the tools, each with its lines."""
    parts = ['"""Tools of a shop."""\n']
    for name, lines in tools.items():
        text = "".join(f"\n    {line}" for line in lines)
        gap = f"\n{text}\n    " if lines else ""
        parts.append(
            f'\n\ndef {name}(order_id: str, reason: str = "") -> str:\n'
            f'    """Do {name}.{gap}"""\n    return order_id\n'
        )
    return "".join(parts)


def at(day: float) -> datetime:
    """A moment, in days since `FIRST_DAY`."""
    return FIRST_DAY + timedelta(days=day)


def dated(day: float) -> dict[str, str]:
    """Git's clock on a day."""
    moment = f"{int(at(day).timestamp())} +0000"
    return {"GIT_AUTHOR_DATE": moment, "GIT_COMMITTER_DATE": moment}


def make_shop(folder: Path, planted: Sequence[Planted], *, settings: str = "{}\n") -> Shop:
    """A repository with the changes at noon of their days; promotions have trailers and a pull request."""
    project = Project(folder / "project", folder / "remote.git")
    project.root.mkdir()
    project.git("init", "--quiet", "--initial-branch=main")
    lines: dict[str, list[str]] = {name: [] for name in (*(one.tool for one in planted), *CONTROLS)}
    first = {FILE: source(lines), ".gitignore": "data/\n", "coreloop.yaml": settings}
    project.commit(first, "first", **dated(-1))
    shop = Shop(project)
    for number, one in enumerate(sorted(planted, key=lambda one: one.day), start=11):
        lines[one.tool].append(one.line)
        text = source(lines)
        shop.shas[one.tool] = _merge(project, one, text, number)
    return shop


def _merge(project: Project, one: Planted, text: str, number: int) -> str:
    when = dated(one.day + 0.5)
    if one.by_hand:
        return project.commit({FILE: text}, f"Explain {one.tool} (#{number})", **when)
    project.git("switch", "--quiet", "--create", "skill/caveat", "main")
    project.commit({FILE: text}, message(one, number), **dated(one.day))
    project.git("switch", "--quiet", "main")
    subject = f"Merge pull request #{number} from octo/skill/caveat"
    project.git("merge", "--quiet", "--no-ff", "-m", subject, "skill/caveat", **when)
    project.git("branch", "--quiet", "--delete", "--force", "skill/caveat")
    return project.git("rev-parse", "HEAD")


def message(one: Planted, number: int) -> str:
    """What coreloop writes into a promotion's commit."""
    key = statement_key(one.tool, one.line, "Caveats")
    return (
        f"[CORELOOP-F] docs({one.tool}): how it fails\n\nAdds.\n\nPhase: F\n"
        f"Candidate-Id: {proposal_id(number)}\nCandidate-Key: {key}\nTarget: {FILE}::{one.tool}\n"
    )


def proposal_id(number: int) -> str:
    """The id of a proposal."""
    return f"ce-2026-04-25-{number:03}"


def write_days(
    shop: Shop,
    planted: Sequence[Planted],
    days: range,
    *,
    calls: int = 40,
    is_shared: bool = False,
    **changes: Any,
) -> None:
    """Write the log of some days: every tool is called on its own; the rest of its calls succeed.

    Some calls time out, so that all failures are more than the named ones; shared sessions call all tools.
    """
    rng, folder = Random(7), shop.workspace.records_dir
    tools = {
        **dict.fromkeys(CONTROLS, (0.1, 0.1, 0)),
        **{p.tool: (p.before, p.after, p.day) for p in planted},
    }
    for day in range(days.start, days.stop):
        rows = [
            _request(rng, name, before if day <= since else after, (day, number), is_shared, changes)
            for name, (before, after, since) in tools.items()
            for number in range(round(calls * (1.2 if day % 7 < 5 else 0.5)))
        ]
        rng.shuffle(rows)
        write_log(folder / f"{at(day):%Y-%m-%d}.jsonl", rows)


def _request(
    rng: Random, tool: str, rate: float, at_: tuple[int, int], is_shared: bool, changes: dict[str, Any]
) -> dict[str, Any]:
    day, number = at_
    session = f"session:{'' if is_shared else tool}{day}n{number // 2}"
    is_against = rng.random() < rate
    args = {"order_id": f"A-{day}-{number}", **({} if is_against else {"reason": "late"})}
    one = failed(tool, args) if is_against else call(tool, args)
    if not is_against and rng.random() < 0.02:
        one = failed(tool, args, error="TimeoutError: slow")
    return record(
        ts=(at(day) + timedelta(minutes=1 + number, seconds=rng.random())).isoformat(),
        request_id=f"{tool}-{day}-{number}",
        question=f"{tool} {day} {number}",
        session_hash=session,
        tool_calls=[one],
        **{"category_hash": "SHOP-orders", **changes},
    )


def git(shop: Shop, *words: str) -> str:
    """Run git in the shop's work tree."""
    return run_git(shop.project.root, *words)


def effect_at(shop: Shop, day: float) -> Effect:
    """The effect of the only change, as a day knows it."""
    (effect,) = run_effect(shop.workspace, now=at(day)).effects
    return effect
