"""``dartlab-coreloop repair``."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from datetime import UTC, datetime
from typing import TYPE_CHECKING

import click

from coreloop.base.messages import number_of
from coreloop.base.text import printable
from coreloop.base.untrusted import with_untrusted
from coreloop.cli.emit import emit
from coreloop.cli.groups import SuggestingGroup
from coreloop.cli.open_runs import project_deps
from coreloop.cli.options import json_option

if TYPE_CHECKING:
    from coreloop.answer.repair.jobs import GateReading
    from coreloop.answer.repair.tables import Gap, Suggestion


@click.group(cls=SuggestingGroup)
def command() -> None:
    """Show what answers lack, and decide what only a person may apply."""


@command.command()
@json_option
def gates(as_json: bool) -> None:
    """Measure how much is indexed and documented; a fall since the last day becomes jobs.

    Run it once a day, for example by cron.
    """
    from coreloop.answer.repair.jobs import read_gates

    with project_deps() as deps:
        emit(read_gates(deps, now=datetime.now(UTC)), as_json=as_json, text=show_gates)


@command.command()
@click.option("--close", "gap_id", metavar="ID", help="Close a gap, after you wrote what it lacks.")
@click.option("--all", "show_all", is_flag=True, help="Show closed gaps, too.")
@json_option
def gaps(gap_id: str | None, *, show_all: bool, as_json: bool) -> None:
    """List the questions that repairs could not answer, those that came back most often first."""
    with project_deps() as deps:
        if gap_id is not None:
            deps.tables.close_gap(gap_id, by="person", now=datetime.now(UTC))
        listed = deps.tables.gaps(open_only=not show_all)
        reasons = {gap.topic: deps.tables.reasons(gap.topic) for gap in listed}
    facts = [
        with_untrusted({**asdict(gap), "rejected_because": reasons[gap.topic]}, "topic", "rejected_because")
        for gap in listed
    ]
    emit(facts, as_json=as_json, text=lambda _: show_gaps(listed, reasons))


@command.command()
@click.option("--all", "show_all", is_flag=True, help="Show decided ones, too.")
@json_option
def suggestions(*, show_all: bool, as_json: bool) -> None:
    """List the links between code and schemas that repairs suggest."""
    with project_deps() as deps:
        listed = deps.tables.suggestions(status=None if show_all else "pending")
    emit(_facts(listed), as_json=as_json, text=lambda _: show_suggestions(listed))


@command.command()
@click.argument("suggestion_id", metavar="ID")
@json_option
def apply(suggestion_id: str, as_json: bool) -> None:
    """Apply a suggestion: answers use its link from now on. No file changes.

    Exits with 1 if the index no longer has the symbol or the part of the schema.
    """
    from coreloop.answer.repair.feedback import apply_suggestion

    with project_deps() as deps:
        decided = apply_suggestion(deps.workspace, deps.tables, suggestion_id, now=datetime.now(UTC))
    emit(_facts([decided]), as_json=as_json, text=lambda _: show_suggestions([decided]))
    if decided.status == "failed":
        click.echo("the index no longer has both ends of the link; nothing was applied", err=True)
        click.get_current_context().exit(1)


@command.command()
@click.argument("suggestion_id", metavar="ID")
@json_option
def reject(suggestion_id: str, as_json: bool) -> None:
    """Reject a suggestion; it is not made again."""
    from coreloop.answer.repair.feedback import reject_suggestion

    with project_deps() as deps:
        decided = reject_suggestion(deps.tables, suggestion_id, now=datetime.now(UTC))
    emit(_facts([decided]), as_json=as_json, text=lambda _: show_suggestions([decided]))


def _facts(suggestions: "Sequence[Suggestion]") -> list[dict[str, object]]:
    return [with_untrusted(one, "target", "details") for one in suggestions]


_TITLES = {
    "coverage": "{good:,} of {total:,} files indexed and fresh",
    "io": "{good:,} of {total:,} public functions documented and indexed",
}


def show_gates(readings: "Sequence[GateReading]") -> None:
    """Print each gate, what it was, and the files that lack most."""
    for reading in readings:
        now, before = reading.now, reading.before
        was = f", {before.share:.1%} on {before.day}" if before else ""
        counts = _TITLES[now.gate].format(good=now.good, total=now.total)
        click.echo(f"{now.gate:<9} {now.share:6.1%}  {counts}{was}")
        for location, lacking in reading.worst:
            click.echo(printable(f"    {lacking:>4} {location}"))
        if reading.signal:
            queued = number_of(reading.jobs, "job")
            click.echo(f"  {reading.signal}: {queued} queued; do them: dartlab-coreloop jobs work")


def show_gaps(gaps: "Sequence[Gap]", reasons: "Mapping[str, Sequence[str]]") -> None:
    """Print gaps, a line each, and below it why persons rejected the answers."""
    for gap in gaps:
        closed = f"  closed by {gap.closed_by}" if gap.closed_by else ""
        place = f"  ({gap.symbol or gap.file})" if gap.symbol or gap.file else ""
        seen = f"{gap.seen}x"
        click.echo(printable(f"{gap.id}  {seen}  {gap.reason}  {gap.topic}{place}{closed}"))
        for reason in reasons[gap.topic]:
            click.echo(printable(f"    rejected: {reason}"))
    if not gaps:
        click.echo("no gaps")


def show_suggestions(suggestions: "Sequence[Suggestion]") -> None:
    """Print suggestions, a line each."""
    for suggestion in suggestions:
        link = f"{suggestion.details.get('code_symbol')} -> {suggestion.details.get('schema_ref')}"
        click.echo(
            printable(f"{suggestion.id}  {suggestion.status}  {link}  {suggestion.details.get('reason', '')}")
        )
    if not suggestions:
        click.echo("no suggestions")
