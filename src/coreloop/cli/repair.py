"""``dartlab-coreloop repair``."""

from collections.abc import Iterator
from dataclasses import asdict
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Final

import click

from coreloop.base.messages import number_of
from coreloop.base.text import printable
from coreloop.base.untrusted import with_untrusted
from coreloop.cli.open_runs import project_deps
from coreloop.cli.output import Group, Output

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from coreloop.answer.repair.gates import GateReading
    from coreloop.answer.repair.tables import Gap, Suggestion

_GATES: Final = {
    "coverage": "{good:,} of {total:,} files indexed and fresh",
    "io": "{good:,} of {total:,} public functions documented and indexed",
}


@click.group(cls=Group)
def repair() -> None:
    """Show what answers lack, and decide what only a person may apply."""


@repair.command()
def gates() -> Output:
    """Measure how much is indexed and documented; a fall since the last day becomes jobs.

    Run it once a day, for example by cron.

    Example: repair gates
    """
    from coreloop.answer.repair.gates import read_gates

    with project_deps() as deps:
        readings = read_gates(deps, now=datetime.now(UTC))
    return Output(readings, _gate_lines(readings))


@repair.command()
@click.option("--close", "gap_id", metavar="ID", help="Close a gap, after you wrote what it lacks.")
@click.option("--all", "show_all", is_flag=True, help="Show what is closed or decided, too.")
def show(gap_id: str | None, *, show_all: bool) -> Output:
    """List gaps, the questions that repairs could not answer, and the links that repairs suggest.

    The gaps that came back most often are first. A suggestion links code and schemas.

    Example: repair show --all
    """
    with project_deps() as deps:
        if gap_id is not None:
            deps.tables.close_gap(gap_id, by="person", now=datetime.now(UTC))
        gaps = deps.tables.gaps(open_only=not show_all)
        reasons = {gap.topic: deps.tables.reasons(gap.topic) for gap in gaps}
        suggestions = deps.tables.suggestions(status=None if show_all else "pending")
    facts = {
        "gaps": [_gap_facts(gap, reasons) for gap in gaps],
        "suggestions": list(map(_facts, suggestions)),
    }
    return Output(facts, [*_gap_lines(gaps, reasons), *_suggestion_lines(suggestions)])


@repair.command()
@click.argument("suggestion_id", metavar="ID")
def apply(suggestion_id: str) -> Output:
    """Apply a suggestion: answers use its link from now on. No file changes.

    Exits with 1 if the index no longer has the symbol or the part of the schema.

    Example: repair apply s-1
    """
    from coreloop.answer.repair.suggestions import apply_suggestion

    with project_deps() as deps:
        decided = apply_suggestion(deps.workspace, deps.tables, suggestion_id, now=datetime.now(UTC))
    lost = ["the index no longer has both ends of the link; nothing was applied"]
    failed = decided.status == "failed"
    return Output(_facts(decided), _line(decided), lost if failed else (), int(failed))


@repair.command()
@click.argument("suggestion_id", metavar="ID")
def reject(suggestion_id: str) -> Output:
    """Reject a suggestion; it is not made again.

    Example: repair reject s-1
    """
    from coreloop.answer.repair.suggestions import reject_suggestion

    with project_deps() as deps:
        decided = reject_suggestion(deps.tables, suggestion_id, now=datetime.now(UTC))
    return Output(_facts(decided), _line(decided))


def _facts(suggestion: "Suggestion") -> dict[str, object]:
    return with_untrusted(suggestion, "target", "details")


def _gap_facts(gap: "Gap", reasons: "Mapping[str, Sequence[str]]") -> dict[str, object]:
    facts = {**asdict(gap), "rejected_because": reasons[gap.topic]}
    return with_untrusted(facts, "topic", "rejected_because")


def _gate_lines(readings: "Sequence[GateReading]") -> Iterator[str]:
    """Yield each gate, what it was, and the files that lack most."""
    for reading in readings:
        now, before = reading.now, reading.before
        was = f", {before.share:.1%} on {before.day}" if before else ""
        counts = _GATES[now.gate].format(good=now.good, total=now.total)
        yield f"{now.gate:<9} {now.share:6.1%}  {counts}{was}"
        for location, lacking in reading.worst:
            yield printable(f"    {lacking:>4} {location}")
        if reading.signal:
            queued = number_of(reading.jobs, "job")
            yield f"  {reading.signal}: {queued} queued; do them: dartlab-coreloop jobs work"


def _gap_lines(gaps: "Sequence[Gap]", reasons: "Mapping[str, Sequence[str]]") -> Iterator[str]:
    """Yield gaps, a line each, and below it why persons rejected the answers."""
    for gap in gaps:
        closed = f"  closed by {gap.closed_by}" if gap.closed_by else ""
        place = f"  ({gap.symbol or gap.file})" if gap.symbol or gap.file else ""
        yield printable(f"{gap.id}  {gap.seen}x  {gap.reason}  {gap.topic}{place}{closed}")
        for reason in reasons[gap.topic]:
            yield printable(f"    rejected: {reason}")
    if not gaps:
        yield "no gaps"


def _suggestion_lines(suggestions: "Sequence[Suggestion]") -> Iterator[str]:
    yield from map(_line, suggestions)
    if not suggestions:
        yield "no suggestions"


def _line(suggestion: "Suggestion") -> str:
    details = suggestion.details
    link = f"{details.get('code_symbol')} -> {details.get('schema_ref')}"
    return printable(f"{suggestion.id}  {suggestion.status}  {link}  {details.get('reason', '')}")
