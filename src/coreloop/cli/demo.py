"""``dartlab-coreloop demo``."""

import shlex
import shutil
import sys
import tempfile
from collections.abc import Iterator
from datetime import UTC, datetime
from functools import partial
from pathlib import Path

import click

from coreloop.admin.demo.effect import CALLS_A_DAY, FOLLOWED, SimulatedEffect
from coreloop.admin.demo.promoting import Promoted
from coreloop.admin.demo.run import DemoCounts, DemoResult, DemoStage, run_demo
from coreloop.base.messages import number_of
from coreloop.cli.effect import effect_chart
from coreloop.cli.mining_options import written_notes
from coreloop.cli.options import FOLDER
from coreloop.cli.output import Command, Output, hung, is_json, show
from coreloop.cli.pattern import proposal_lines
from coreloop.cli.promote import change_lines
from coreloop.cli.refine import refined_lines
from coreloop.learn.effect.estimate import HORIZON_DAYS
from coreloop.learn.propose import PatternResult, RefineResult


@click.command(cls=Command)
@click.option("--out", type=FOLDER, help="A new or empty folder.  [default: a temporary folder]")
def demo(out: Path | None) -> Output:
    """Run the loop on a scratch project, without a key or a network.

    A scripted agent answers 300 questions with the tools of a small help desk and makes mistakes. The demo
    records and mines them, commits the best statement to a branch, and simulates the days after a merge.

    Example: demo --out scratch
    """
    folder = out if out is not None else Path(tempfile.mkdtemp(prefix="coreloop-demo-"))
    tell = partial(_show, folder=folder)
    result = run_demo(folder, now=datetime.now(UTC), tell=tell)
    facts = {"folder": folder, "branch": result.promoted and result.promoted.done.branch}
    output = Output(facts, _what_to_try(folder, result))
    if result.failed is None:
        return output
    show(output)
    raise result.failed


def _show(stage: DemoStage, *, folder: Path) -> None:

    if not is_json():
        show(_output(stage, folder))


def _output(
    stage: DemoCounts | PatternResult | RefineResult | Promoted | SimulatedEffect, folder: Path
) -> Output:

    if isinstance(stage, DemoCounts):
        return Output(None, _recorded(stage, folder))
    if isinstance(stage, PatternResult):
        head, lines = "pattern  what successful requests have in common", proposal_lines(stage)
        return Output(None, [head, "", *lines], written_notes(stage))
    if isinstance(stage, RefineResult):
        head, lines = "refine   what failed calls have in common", refined_lines(stage)
        return Output(None, ["", head, "", *lines], written_notes(stage))
    if isinstance(stage, SimulatedEffect):
        return Output(None, _effect_lines(stage))
    outcome = "committed to a branch; in a real project, a draft pull request"
    head = hung("promote  ", f"{stage.plan.proposal.id}: {outcome}")
    return Output(None, ["", head, "", *change_lines(stage.plan, stage.done, stage.body)])


def _recorded(recorded: DemoCounts, folder: Path) -> Iterator[str]:
    calls = f"{number_of(recorded.n_calls, 'tool call')}, {recorded.n_failed_calls} of them failed"
    yield f"observe  {number_of(recorded.n_requests, 'request')} recorded: {calls}"
    yield from (f"         written to {folder / 'data' / 'audit' / 'ai-ask'}", "")


def _effect_lines(effect: SimulatedEffect) -> Iterator[str]:

    decision = effect.decision
    days = f"SIMULATED: {HORIZON_DAYS} days of {CALLS_A_DAY} calls a day after a merge"
    yield ""
    yield hung("effect   ", f"{days}; {FOLLOWED:.0%} of those against the line become right")
    yield ""
    on = f", {decision.day} days after the merge" if decision.day is not None else ""
    yield f"  {effect.tool}: {decision.verdict}{on}"
    if decision.look is not None:
        found = decision.look.named
        yield f"  {effect_chart(decision.look)}"
        yield f"  {found.expected:.1%} of calls would fail without it (○), {found.after:.1%} do (●)"


def _what_to_try(folder: Path, result: DemoResult) -> Iterator[str]:
    """Yield commands that go on from here: decide on the next proposal, merge the first, see its effect."""
    promoted = result.promoted
    if promoted is None:
        return
    done, branch = promoted.plan.proposal, promoted.done.branch
    drafted = [entry for entry in result.refined.document.statements if entry.suggested_append is not None]
    waiting = next((entry for entry in drafted if entry.tool != done.engine), drafted[0])
    program = shlex.join(_this_program())
    yield f"\nTry it yourself:\n  cd {shlex.quote(str(folder))}\n  {program} status"
    yield f"  {program} judge --id {waiting.id}\n  {program} promote --tool {shlex.quote(waiting.tool)}"
    yield f"  git show {branch}\n  git merge {branch}\n  {program} effect"


def _this_program() -> list[str]:
    """Return how this program is called, from any folder."""
    called = Path(sys.argv[0])
    if called.name == "__main__.py":
        return [sys.executable, "-m", "coreloop"]
    found = shutil.which(called.name)
    return [called.name if found and Path(found).absolute() == called.absolute() else str(called.absolute())]
