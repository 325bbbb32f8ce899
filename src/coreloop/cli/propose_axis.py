"""``dartlab-coreloop propose-axis``."""

from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

import click

from coreloop.base.project.workspace import open_workspace
from coreloop.base.text import padded, printable
from coreloop.base.validation import fields_of
from coreloop.cli.output import Command, Output

if TYPE_CHECKING:
    from coreloop.promote.axis.axis_gates import AxisCase, AxisGate
    from coreloop.promote.axis.run import AxisResult


@click.command(cls=Command)
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
def propose_axis(
    engine: str,
    axis: str | None,
    min_phase_r_merges: int,
    min_phase_f_caveats: int,
    min_age_days: int,
) -> Output:
    """Gather the evidence that a tool needs a new axis.

    An axis is a value of a selector, such as kind="refund". Reads the merged promotions of the base branch.
    If every gate passes, writes one document to docs/phase-a-proposals; a human builds the axis. Exits 1 if
    a gate fails.

    Example: propose-axis --engine refund_order --axis kind=refund
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
    notes = []
    if result.path is not None:
        did = "wrote" if result.written else "has the section of today already:"
        notes = [f"{did} {result.path}"]
    return Output(_facts(result), _lines(result.case, now), notes, 0 if result.case.passed else 1)


def _lines(case: "AxisCase", now: datetime) -> Iterator[str]:
    axis = "the whole tool" if case.axis is None else f"axis {printable(case.axis)}"
    yield f"{case.engine}, {axis}: {case.base} at {case.base_sha[:12]}"
    for gate in case.gates:
        yield f"  {padded(gate.name, 27)} {gate.figure:>4} of {gate.needed:<4} {_verdict(gate)}"
    for note in _notes(case, now):
        yield f"  {note}"
    if failed := sum(not gate.passed for gate in case.gates):
        yield f"No proposal: {failed} of {len(case.gates)} gates fail."


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
        **fields_of(case, "base", "base_sha", "passed"),
        "gates": [fields_of(gate, "name", "figure", "needed", "passed") for gate in case.gates],
        "evidence": [evidence.promotion for evidence in case.evidence],
        **fields_of(case, "first_merge", "axes", "n_without_axis"),
        "file": result.path,
        "written": result.written,
    }
