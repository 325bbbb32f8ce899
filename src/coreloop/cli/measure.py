"""``dartlab-coreloop measure``."""

import os
import sys
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

import click

from coreloop.base.errors import UsageError
from coreloop.base.project.workspace import open_workspace
from coreloop.cli.options import FILE, json_option

if TYPE_CHECKING:
    from coreloop.promote.measure.measurement import Measurement
    from coreloop.promote.measure.prepare import Prepared


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
@json_option
def command(
    tool: str | None,
    candidate: Path | None,
    wanted: str | None,
    contexts: int | None,
    budget_usd: float | None,
    confirm: bool,
    as_json: bool,
) -> None:
    """Measure whether a line makes a model call the tool right, before it is merged.

    Asks CORELOOP_MODEL for the next call on recorded requests, with the description as it is and with the
    line. No call is executed. The verdict stands in the pull request. Replies are kept, so that a measurement
    that was interrupted goes on. Exits 1 if the line hurts.
    """
    from coreloop.cli.show_measurement import show_estimate, show_measurement
    from coreloop.promote.measure.measurement import Measurement, keep
    from coreloop.promote.measure.prepare import MeasureRequest, is_here, prepare
    from coreloop.promote.measure.verdict import MeasureVerdict
    from coreloop.promote.run import PromoteRequest

    if (tool is None) == (wanted is None) or (wanted is not None and candidate is None):
        raise UsageError("nothing to measure; give --tool NAME, or --candidate FILE with --id ID")
    workspace, now = open_workspace(Path.cwd()), datetime.now(UTC)
    request = MeasureRequest(
        promote=PromoteRequest(path=candidate, wanted=wanted, tool=tool),
        n_about=contexts,
        budget_usd=budget_usd,
    )
    prepared = prepare(workspace, request, environ=os.environ, now=now)
    if not isinstance(prepared, Measurement):
        show_estimate(prepared.estimate(), prepared.asker.model.name)
        if not (confirm or is_here(workspace.settings, os.environ)):
            click.echo("nothing asked: the questions would go to another machine; add --confirm", err=True)
            return
        measured = _measure(prepared, now)
    else:
        measured = prepared
    keep(workspace, measured)
    show_measurement(measured, as_json=as_json)
    click.get_current_context().exit(1 if measured.verdict is MeasureVerdict.HURTS else 0)


def _measure(prepared: "Prepared", now: datetime) -> "Measurement":
    from coreloop.promote.measure.run import measure

    with click.progressbar(length=prepared.n_contexts, file=sys.stderr) as bar:
        return measure(prepared, now=now, on_progress=lambda done: bar.update(done - bar.pos))
