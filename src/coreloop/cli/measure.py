"""``dartlab-coreloop measure``."""

import os
import sys
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

import click

from coreloop.base.errors import UsageError
from coreloop.base.messages import say
from coreloop.base.project.workspace import open_workspace
from coreloop.cli.options import FILE, json_option

if TYPE_CHECKING:
    from coreloop.base.project.workspace import Workspace
    from coreloop.promote.measure.edits import LineEdit
    from coreloop.promote.measure.prepare import MeasureOptions


@click.command()
@click.option("--tool", help="Measure all statements about this tool together.")
@click.option("--candidate", type=FILE, help="A …-candidates.json or …-counterexamples.json.")
@click.option("--id", "wanted", help="An id in the file.")
@click.option(
    "--contexts",
    type=click.IntRange(10, 10_000),
    help="Recorded requests to ask.  [default: 80, or 60 twice]",
)
@click.option("--budget-usd", type=click.FloatRange(0, min_open=True), help="The most that it may cost.")
@click.option("--confirm", is_flag=True, help="Allow sending questions to a model on another machine.")
@click.option("--all", "is_all", is_flag=True, help="Measure the promoted lines that stand in descriptions.")
@json_option
def command(
    tool: str | None,
    candidate: Path | None,
    wanted: str | None,
    contexts: int | None,
    budget_usd: float | None,
    confirm: bool,
    is_all: bool,
    as_json: bool,
) -> None:
    """Measure whether a line makes a model call a tool right, before it is merged.

    Asks CORELOOP_MODEL for the next call on recorded requests, with the description as it is and with the
    line. No call is executed. The verdict stands in the pull request. Replies are kept, so that a measurement
    that was interrupted goes on. Exits 1 if a line hurts or, with --all, does less than it did.
    """
    from coreloop.promote.measure.edits import proposed_lines, standing_lines
    from coreloop.promote.measure.prepare import MeasureOptions
    from coreloop.promote.run import PromoteRequest

    if [tool, wanted, is_all or None].count(None) != 2 or (wanted is not None and candidate is None):
        raise UsageError("nothing to measure; give --tool NAME, --candidate FILE with --id ID, or --all")
    workspace = open_workspace(Path.cwd())
    request = PromoteRequest(path=candidate, wanted=wanted, tool=tool)
    edits = standing_lines(workspace) if is_all else [proposed_lines(workspace, request)]
    if not edits:
        click.echo(say("no promoted line stands in the base branch"), err=True)
    options = MeasureOptions(n_about=contexts, budget_usd=budget_usd)
    codes = [_measure(workspace, edit, options, confirm=confirm, as_json=as_json) for edit in edits]
    click.get_current_context().exit(max(codes, default=0))


def _measure(
    workspace: "Workspace", edit: "LineEdit", options: "MeasureOptions", *, confirm: bool, as_json: bool
) -> int:
    """Measure, keep and print; returns the exit code."""
    from coreloop.cli.show_measurement import show_estimate, show_measurement
    from coreloop.promote.measure.measurement import Measurement, fall, keep, newest_measurement
    from coreloop.promote.measure.prepare import is_here, prepare
    from coreloop.promote.measure.run import measure
    from coreloop.promote.measure.verdict import MeasureVerdict

    now = datetime.now(UTC)
    measured = prepare(workspace, edit, options, environ=os.environ, now=now)
    if not isinstance(measured, Measurement):
        show_estimate(measured.estimate(), measured.asker.caller.name)
        if not (confirm or is_here(workspace.settings, os.environ)):
            click.echo(
                say("nothing asked: the questions would go to another machine; add --confirm"), err=True
            )
            return 0
        with click.progressbar(length=measured.n_contexts, file=sys.stderr) as bar:
            measured = measure(measured, now=now, on_progress=lambda done: bar.update(done - bar.pos))
    before = newest_measurement(workspace.measured_file, edit.keys)
    keep(workspace, measured)
    show_measurement(measured, as_json=as_json)
    fallen = fall(before, measured)
    if fallen:
        click.echo(
            say(
                "{tool}: {fallen}; git log {file} shows what changed",
                tool=edit.tool,
                fallen=fallen,
                file=edit.file,
            ),
            err=True,
        )
    return 1 if fallen or measured.verdict is MeasureVerdict.HURTS else 0
