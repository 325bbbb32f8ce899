"""``dartlab-coreloop propose-axis``."""

from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

import click

from coreloop.base.project.workspace import open_workspace
from coreloop.base.text import padded, printable
from coreloop.cli.emit import emit, fields_of
from coreloop.cli.options import json_option

if TYPE_CHECKING:
    from coreloop.promote.axis.axis_gates import AxisCase, AxisGate
    from coreloop.promote.axis.run import AxisResult


@click.command()
@click.option("--engine", required=True, metavar="TOOL", help="The tool that would get the axis.")
@click.option("--axis", metavar="VALUE", help="The value of a selector.  [default: the whole tool]")
@click.option(
    "--min-phase-r-merges",
    type=click.IntRange(1),
    default=3,
    show_default=True,
    help="Fewest merged promotions of Guide text.",
)
@click.option(
    "--min-phase-f-caveats",
    type=click.IntRange(0),
    default=2,
    show_default=True,
    help="Fewest merged caveats.",
)
@click.option(
    "--min-age-days",
    type=click.IntRange(0),
    default=30,
    show_default=True,
    help="Fewest days since the first merged promotion.",
)
@json_option
def command(
    engine: str,
    axis: str | None,
    min_phase_r_merges: int,
    min_phase_f_caveats: int,
    min_age_days: int,
    as_json: bool,
) -> None:
    """Gather the evidence that a tool needs a new axis.

    An axis is a value of a selector, such as kind="refund". Reads the merged promotions of the base branch.
    If every gate passes, writes one document to docs/phase-a-proposals; a human builds the axis. Exits 1 if
    a gate fails.
    """
    from coreloop.promote.axis.axis_gates import AxisRequest, Thresholds
    from coreloop.promote.axis.run import run_propose_axis

    now = datetime.now(UTC)
    workspace = open_workspace(Path.cwd())
    thresholds = Thresholds(
        phase_r_merges=min_phase_r_merges, phase_f_caveats=min_phase_f_caveats, age_days=min_age_days
    )
    result = run_propose_axis(
        workspace, AxisRequest(engine=engine, axis=axis, thresholds=thresholds), now=now
    )
    emit(_facts(result), as_json=as_json, text=lambda _: _show(result, now))
    click.get_current_context().exit(0 if result.case.passed else 1)


def _show(result: "AxisResult", now: datetime) -> None:
    _show_case(result.case, now)
    if result.path is not None:
        message = "wrote {path}" if result.written else "has the section of today already: {path}"
        click.echo(message.format(path=result.path), err=True)


def _show_case(case: "AxisCase", now: datetime) -> None:
    axis = "the whole tool" if case.axis is None else f"axis {printable(case.axis)}"
    click.echo(f"{case.engine}, {axis}: {case.base} at {case.base_sha[:12]}")
    for gate in case.gates:
        figure = f"{gate.figure:>4} of {gate.needed:<4}"
        click.echo(f"  {padded(gate.name, 27)} {figure} {_verdict(gate)}")
    for note in _notes(case, now):
        click.echo(f"  {note}")
    failed = sum(not gate.passed for gate in case.gates)
    if failed:
        click.echo(f"No proposal: {failed} of {len(case.gates)} gates fail.")


def _verdict(gate: "AxisGate") -> str:
    return "passed" if gate.passed else f"{gate.needed - gate.figure} short"


def _notes(case: "AxisCase", now: datetime) -> list[str]:
    notes = []
    if case.first_merge is not None:
        future = (
            " lies in the future: a clock was wrong, so it counts 0 days" if case.first_merge > now else ""
        )
        notes.append(f"first merge {case.first_merge:%Y-%m-%d}{future}")
    reverted = len(case.evidence) - len(case.counted)
    if reverted:
        notes.append(f"{reverted} reverted, which do not count")
    if case.axis is not None and case.n_without_axis:
        notes.append(f"{case.n_without_axis} that name no declared axis count only without --axis")
    if case.axis is not None and case.axes and not case.passed:
        named = ", ".join(f"{printable(axis)} {count}" for axis, count in case.axes.items())
        notes.append(f"promotions in effect by axis: {named}")
    if case.engines:
        notes.append(f"no promotion of {case.engine}; there are some of {', '.join(case.engines)}")
    return notes


def _facts(result: "AxisResult") -> dict[str, object]:
    case = result.case
    return {
        "engine": case.engine,
        "axis": None if case.axis is None else printable(case.axis),
        "base": case.base,
        "base_sha": case.base_sha,
        "passed": case.passed,
        "gates": [fields_of(gate, "name", "figure", "needed", "passed") for gate in case.gates],
        "first_merge": case.first_merge,
        "evidence": [evidence.promotion for evidence in case.evidence],
        "axes": case.axes,
        "n_without_axis": case.n_without_axis,
        "file": result.path,
        "written": result.written,
    }
