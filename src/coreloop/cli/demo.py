"""``dartlab-coreloop demo``."""

import dataclasses
import shlex
import shutil
import sys
import tempfile
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import click

from coreloop.base.messages import number_of
from coreloop.cli.options import FOLDER
from coreloop.cli.output import Command, Output, is_json, show

if TYPE_CHECKING:
    from coreloop.admin.demo.effect import SimulatedEffect
    from coreloop.admin.demo.promoting import Promoted
    from coreloop.admin.demo.run import DemoCounts, DemoResult, DemoStage


@click.command(cls=Command)
@click.option(
    "--seed", default=7, show_default=True, help="The same seed gives the same questions and proposals."
)
@click.option(
    "--out",
    type=FOLDER,
    help="A new or empty folder.  [default: a temporary folder]",
)
def demo(seed: int, out: Path | None) -> Output:
    """Run the whole loop on a scratch project, without an API key or a network.

    A scripted agent answers 300 questions with the tools of a small help desk and makes the mistakes that
    agents make. Its tool calls really run. The demo records the requests, mines them, and commits the best
    statement to a branch of a scratch repository. Last, it simulates the days after a merge.

    Example: demo --out scratch
    """
    from coreloop.admin.demo.run import run_demo

    folder = out if out is not None else Path(tempfile.mkdtemp(prefix="coreloop-demo-"))
    tell = partial(_show, folder=folder)
    result = run_demo(folder, seed=seed, now=datetime.now(UTC), tell=tell)
    output = Output(_facts(result), lambda: _show_what_to_try(folder, result))
    if result.failed is None:
        return output
    show(output)
    raise result.failed


def _show(stage: "DemoStage", *, folder: Path) -> None:
    from coreloop.admin.demo.effect import SimulatedEffect
    from coreloop.admin.demo.run import DemoCounts
    from coreloop.cli.pattern import show_proposals
    from coreloop.cli.refine import show_refined
    from coreloop.learn.propose import PatternResult, RefineResult

    if isinstance(stage, DemoCounts):
        _show_recorded(stage, folder, err=is_json())
    elif is_json():
        return
    elif isinstance(stage, PatternResult):
        click.echo("pattern  what successful requests have in common\n")
        show_proposals(stage)
    elif isinstance(stage, RefineResult):
        click.echo("\nrefine   what failed calls have in common\n")
        show_refined(stage)
    elif isinstance(stage, SimulatedEffect):
        _show_effect(stage)
    else:
        _show_promoted(stage)


def _show_recorded(recorded: "DemoCounts", folder: Path, *, err: bool) -> None:
    calls = number_of(recorded.n_calls, "tool call")
    click.echo(
        f"observe  {number_of(recorded.n_requests, 'request')} recorded: {calls}, "
        f"{recorded.n_failed_calls} of them failed",
        err=err,
    )
    click.echo(f"         written to {folder / 'data' / 'audit' / 'ai-ask'}\n", err=err)


def _show_promoted(promoted: "Promoted") -> None:
    from coreloop.cli.promote import show_change

    outcome = "committed to a branch; in a real project, a draft pull request"
    click.echo(f"\npromote  {promoted.plan.proposal.id}: {outcome}\n")
    show_change(promoted.plan, promoted.done, promoted.body)


def _show_effect(effect: "SimulatedEffect") -> None:
    from coreloop.admin.demo.effect import CALLS_A_DAY, FOLLOWED
    from coreloop.cli.effect import effect_chart
    from coreloop.learn.effect.verdict import HORIZON_DAYS

    decision = effect.decision
    click.echo(
        f"\neffect   SIMULATED: {HORIZON_DAYS} days of {CALLS_A_DAY} calls a day after a "
        f"merge; {FOLLOWED:.0%} of those against the line become right\n"
    )
    on = f", {decision.day} days after the merge" if decision.day is not None else ""
    click.echo(f"  {effect.tool}: {decision.verdict}{on}")
    if decision.look is not None:
        found = decision.look.estimate
        click.echo(f"  {effect_chart(decision.look)}")
        click.echo(f"  {found.expected:.1%} of calls would fail without it (○), {found.after:.1%} do (●)")


def _show_what_to_try(folder: Path, result: "DemoResult") -> None:
    """Print commands that go on from here: decide on the next proposal, merge the first, see its effect."""
    promoted = result.promoted
    if promoted is None:
        return
    done, program = promoted.plan.proposal, _this_program()
    drafted = [entry for entry in result.refined.document.statements if entry.suggested_append is not None]
    waiting = next((entry for entry in drafted if entry.tool != done.engine), drafted[0])
    click.echo(f"\nTry it yourself:\n  cd {shlex.quote(str(folder))}")
    for words in ("status", f"judge --id {waiting.id}", f"promote --tool {shlex.quote(waiting.tool)}"):
        click.echo(f"  {program} {words}")
    click.echo(f"  git show {promoted.done.branch}")
    click.echo(f"  git merge {promoted.done.branch}")
    click.echo(f"  {program} effect")


def _this_program() -> str:
    """Return how this program is called, from any folder."""
    called = Path(sys.argv[0])
    if called.name == "__main__.py":
        return f"{shlex.quote(sys.executable)} -m coreloop"
    found = shutil.which(called.name)
    is_on_path = found is not None and Path(found).absolute() == called.absolute()
    return called.name if is_on_path else shlex.quote(str(called.absolute()))


def _facts(result: "DemoResult") -> dict[str, object]:
    from coreloop.cli.pattern import proposals_facts

    proposed, promoted, effect = result.proposed, result.promoted, result.effect
    promotion = promoted and {
        "id": promoted.plan.proposal.id,
        "branch": promoted.done.branch,
        "body": promoted.body,
        "verdict": promoted.plan.replay.verdict,
    }
    simulated = effect and {"tool": effect.tool, **dataclasses.asdict(effect.decision)}
    return {
        **proposals_facts(proposed),
        "promotion": promotion,
        "simulated_effect": simulated,
    }
