"""What ``repair`` prints: gates, gaps and suggestions."""

from collections.abc import Callable, Sequence
from dataclasses import asdict

import click
import orjson

from coreloop.answer.repair.gates import GateReading
from coreloop.answer.repair.tables import Gap, Suggestion
from coreloop.base.text import counted, printable

_TITLES = {"coverage": "files indexed and fresh", "io": "public functions documented and indexed"}


def show_gates(readings: Sequence[GateReading], *, as_json: bool) -> None:
    """Print each gate, what it was, and the files that lack most."""
    if as_json:
        click.echo(orjson.dumps(readings, option=orjson.OPT_INDENT_2))
        return
    for reading in readings:
        now, before = reading.now, reading.before
        was = f", {before.share:.1%} on {before.day}" if before else ""
        click.echo(f"{now.gate:<9} {now.share:6.1%}  {now.good:,} of {now.total:,} {_TITLES[now.gate]}{was}")
        for location, lacking in reading.worst:
            click.echo(printable(f"    {lacking:>4} {location}"))
        if reading.signal:
            queued = counted(reading.jobs, "job")
            click.echo(f"  {reading.signal}: {queued} queued; do them: dartlab-coreloop jobs work")


def show_gaps(gaps: Sequence[Gap], *, as_json: bool, reasons: Callable[[str], Sequence[str]]) -> None:
    """Print gaps, a line each, and below it why persons rejected the answers."""
    if as_json:
        whole = [{**asdict(gap), "rejected_because": reasons(gap.topic)} for gap in gaps]
        click.echo(orjson.dumps(whole, option=orjson.OPT_INDENT_2))
        return
    for gap in gaps:
        closed = f"  closed by {gap.closed_by}" if gap.closed_by else ""
        place = f"  ({gap.symbol or gap.file})" if gap.symbol or gap.file else ""
        click.echo(printable(f"{gap.id}  {gap.seen}x  {gap.reason}  {gap.topic}{place}{closed}"))
        for reason in reasons(gap.topic):
            click.echo(printable(f"    rejected: {reason}"))
    if not gaps:
        click.echo("no gaps")


def show_suggestions(suggestions: Sequence[Suggestion], *, as_json: bool) -> None:
    """Print suggestions, a line each."""
    if as_json:
        click.echo(orjson.dumps(suggestions, option=orjson.OPT_INDENT_2))
        return
    for suggestion in suggestions:
        link = f"{suggestion.details.get('code_symbol')} -> {suggestion.details.get('schema_ref')}"
        click.echo(
            printable(f"{suggestion.id}  {suggestion.status}  {link}  {suggestion.details.get('reason', '')}")
        )
    if not suggestions:
        click.echo("no suggestions")
