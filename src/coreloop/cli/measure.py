"""``dartlab-coreloop measure``."""

import os
import shlex
import sys
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import click

from coreloop.base.errors import UsageError
from coreloop.base.messages import number_of
from coreloop.base.project.workspace import open_workspace
from coreloop.base.text import printable
from coreloop.cli.options import FILE
from coreloop.cli.output import Command, Output, show

if TYPE_CHECKING:
    from coreloop.promote.measure.measurement import Measurement
    from coreloop.promote.measure.prepare import Prepared
    from coreloop.promote.measure.run import MeasureOutcome


@click.command(cls=Command)
@click.option("--tool", help="Measure all statements about this tool together.")
@click.option("--candidate", type=FILE, help="A …-candidates.json or …-counterexamples.json.")
@click.option("--id", "wanted", help="An id in the file.")
@click.option(
    "--contexts",
    type=click.IntRange(10, 10_000),
    help="Recorded requests to ask.  [default: 80, or 60 twice]",
)
@click.option("--budget-usd", type=click.FloatRange(0, min_open=True), help="The most that it may cost.")
@click.option("--wordings", is_flag=True, help="Choose among wordings of the line, on requests of their own.")
@click.option("--agent", metavar="COMMAND", help="Ask the project's own agent instead of a model.")
@click.option("--confirm", is_flag=True, help="Allow running the agent, or a model on another machine.")
@click.option("--all", "is_all", is_flag=True, help="Measure the promoted lines that stand in descriptions.")
def measure(
    tool: str | None,
    candidate: Path | None,
    wanted: str | None,
    contexts: int | None,
    budget_usd: float | None,
    wordings: bool,
    agent: str | None,
    confirm: bool,
    is_all: bool,
) -> None:
    """Measure whether a line makes a model call a tool right, before it is merged.

    Asks CORELOOP_MODEL for the next call on recorded requests, with the description as it is and with the
    line. No call is executed. The verdict stands in the pull request. Replies are kept, so that a measurement
    that was interrupted goes on. Exits 1 if a line hurts or, with --all, does less than it did.

    Example: measure --tool list_orders --budget-usd 1
    """
    from coreloop.promote.measure.measured_lines import edits_to_measure
    from coreloop.promote.measure.prepare import MeasureOptions, Prepared, prepare
    from coreloop.promote.measure.run import measure_and_keep
    from coreloop.promote.run import PromoteRequest

    workspace, request = open_workspace(Path.cwd()), PromoteRequest(path=candidate, wanted=wanted, tool=tool)
    if is_all is not (request == PromoteRequest()):
        raise UsageError("nothing to measure; give --tool NAME, --candidate FILE with --id ID, or --all")
    options = MeasureOptions(
        n_about=contexts, budget_usd=budget_usd, agent=tuple(shlex.split(agent or "")), confirmed=confirm
    )
    edits, is_harm, now = edits_to_measure(workspace, request, wordings=wordings), False, datetime.now(UTC)
    if not edits:
        click.echo("no promoted line stands in the base branch", err=True)
    for edit in edits:
        with prepare(workspace, edit, options, environ=os.environ, now=now) as prepared:
            n_contexts = 0
            if isinstance(prepared, Prepared):
                show_estimate(prepared)
                n_contexts = prepared.n_contexts
                if not prepared.may_ask:
                    continue
            with click.progressbar(length=n_contexts, file=sys.stderr, hidden=not n_contexts) as bar:
                outcome = measure_and_keep(
                    workspace, prepared, now=now, on_progress=lambda done: bar.update(done - bar.pos)
                )
        show(Output(outcome.measured, partial(show_measured, outcome.measured)))
        _show_fall(outcome)
        is_harm |= outcome.is_harm
    click.get_current_context().exit(int(is_harm))


_STYLES = {"helps": "green", "hurts": "red"}


def show_estimate(prepared: "Prepared") -> None:
    """Print how much is asked, on standard error, and whether it needs a confirmation."""
    estimate = prepared.estimate()
    left = estimate.n_questions - estimate.n_known
    cost = "at an unknown price" if estimate.microusd is None else f"at most ${estimate.microusd / 1e6:.2f}"
    known = f", {estimate.n_known:,} answered before" if estimate.n_known else ""
    click.echo(
        f"asks {printable(prepared.subject.model)} {number_of(left, 'question')} at most, {cost}{known}",
        err=True,
    )
    if not prepared.may_ask:
        click.echo("nothing asked: the questions could go to another machine; add --confirm", err=True)


def _show_fall(outcome: "MeasureOutcome") -> None:
    """Print on standard error how much less the lines do than before."""
    if outcome.fallen is not None:
        click.echo(f"{printable(outcome.measured.tool)}: {outcome.fallen}", err=True)
        nothing = "nothing that coreloop knows; the endpoint may serve another model under this name"
        for change in outcome.changes or [nothing]:
            click.echo(printable(f"changed in between: {change}"), err=True)


def show_measured(measured: "Measurement") -> None:
    """Print a measurement."""
    for line in measured.lines:
        click.echo(printable(line))
    verdict = click.style(measured.verdict, fg=_STYLES.get(measured.verdict), bold=True)
    click.echo(f"{verdict}{f': {printable(measured.reason)}' if measured.reason else ''}")
    for sentence in measured.sentences():
        click.echo(sentence)
