"""``dartlab-coreloop propose-axis``."""

from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

import click

from coreloop.base.messages import say
from coreloop.base.project.workspace import open_workspace
from coreloop.base.text import padded, printable
from coreloop.cli.emit import emit, fields_of, tell
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
        tell(message, path=result.path, err=True)


def _show_case(case: "AxisCase", now: datetime) -> None:
    axis = say("the whole tool") if case.axis is None else say("axis {axis}", axis=printable(case.axis))
    tell(
        "{engine}, {axis}: {base} at {base_sha}",
        engine=case.engine,
        axis=axis,
        base=case.base,
        base_sha=case.base_sha[:12],
    )
    for gate in case.gates:
        figure = say("{figure:>4} of {needed:<4}", figure=gate.figure, needed=gate.needed)
        click.echo(f"  {padded(say(gate.name), 27)} {figure} {_verdict(gate)}")
    for note in _notes(case, now):
        click.echo(f"  {note}")
    failed = sum(not gate.passed for gate in case.gates)
    if failed:
        tell("No proposal: {failed} of {n_gates} gates fail.", failed=failed, n_gates=len(case.gates))


def _verdict(gate: "AxisGate") -> str:
    return say("passed") if gate.passed else say("{needed} short", needed=gate.needed - gate.figure)


def _notes(case: "AxisCase", now: datetime) -> list[str]:
    notes = []
    if case.first_merge is not None:
        future = (
            say(" lies in the future: a clock was wrong, so it counts 0 days")
            if case.first_merge > now
            else ""
        )
        notes.append(
            say("first merge {first_merge:%Y-%m-%d}{future}", first_merge=case.first_merge, future=future)
        )
    reverted = len(case.evidence) - len(case.counted)
    if reverted:
        notes.append(say("{reverted} reverted, which do not count", reverted=reverted))
    if case.axis is not None and case.n_without_axis:
        notes.append(
            say(
                "{n_without_axis} that name no declared axis count only without --axis",
                n_without_axis=case.n_without_axis,
            )
        )
    if case.axis is not None and case.axes and not case.passed:
        named = ", ".join(f"{printable(axis)} {count}" for axis, count in case.axes.items())
        notes.append(say("promotions in effect by axis: {named}", named=named))
    if case.engines:
        notes.append(
            say(
                "no promotion of {engine}; there are some of {engines}",
                engine=case.engine,
                engines=", ".join(case.engines),
            )
        )
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
