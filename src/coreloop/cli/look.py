"""``dartlab-coreloop look``."""

import shutil
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Final, TypeVar

import click

from coreloop.base.messages import Phrase, join, number_of, say
from coreloop.base.text import aligned, fitted, printable, wrapped
from coreloop.cli.emit import emit, tell
from coreloop.cli.options import FILE_OR_FOLDER, json_option, verbose_option

if TYPE_CHECKING:
    from collections.abc import Sequence

    from coreloop.learn.look import Looked

_Row = TypeVar("_Row")
_MAX_ERRORS: Final = 4
_MAX_STATEMENTS: Final = 3
_MAX_ARGUMENTS: Final = 2
"""With the headings and what is missing, one screen of 24 lines."""


@click.command()
@click.argument("paths", nargs=-1, required=True, type=FILE_OR_FOLDER, metavar="PATH…")
@verbose_option
@json_option
def command(paths: tuple[Path, ...], verbose: bool, as_json: bool) -> None:
    """Show what traces that exist already say; nothing is kept or sent.

    PATH is a file or a folder, such as ~/.claude/projects. Sessions of Claude Code, exports of OTLP, Langfuse
    and Inspect, and lists of chat messages are found by looking into the files.
    """
    from coreloop.cli.import_ import reading_bar
    from coreloop.learn.look import look

    looked = look(paths, now=datetime.now(UTC), watching=reading_bar)
    emit(_facts(looked), as_json=as_json, text=lambda _: _show(looked, is_verbose=verbose))


def _show(looked: "Looked", *, is_verbose: bool) -> None:
    columns = shutil.get_terminal_size().columns
    _show_head(looked, columns)
    left_out = []

    def first(rows: "Sequence[_Row]", most: int, noun: str) -> "Sequence[_Row]":
        if is_verbose or len(rows) <= most:
            return rows
        left_out.append(number_of(len(rows) - most, noun))
        return rows[:most]

    if looked.errors:
        click.echo(
            f"\n{aligned(say('calls'), 6)} {aligned(say('lost'), 5)} {aligned(say('recovered'), 9)}  "
            f"{say('error')}"
        )
    for error in first(looked.errors, _MAX_ERRORS, "error"):
        text = printable(f"{error.tool}: {error.error or error.error_class}")
        figures = f"{error.n_calls:>6,} {error.n_lost:>5,} {error.n_recovered:>9,}  "
        click.echo(fitted(f"{figures}{text}", columns))
    if looked.statements:
        tell("\ncalls that do not follow these lines nearly always fail:")
    for statement in first(looked.statements, _MAX_STATEMENTS, "statement"):
        line = printable(
            f"{statement.tool}: {statement.line.removeprefix('- ')} ({say(statement.sides.text)})"
        )
        click.echo(wrapped(line, columns, indent="  "))
    if looked.arguments:
        tell("\nwhere arguments come from:")
    for argument in first(looked.arguments, _MAX_ARGUMENTS, "argument"):
        places = ", ".join(f"{place} {share:.0%}" for place, share in argument.places)
        click.echo(fitted(printable(f"  {argument.tool}.{argument.argument}: {places}"), columns))
    if left_out:
        tell("… and {counts}; -v shows them", counts=join(left_out))
    _show_missing(looked, columns)


def _show_head(looked: "Looked", columns: int) -> None:
    formats = ", ".join(f"{name} ({say(number_of(n, 'file'))})" for name, n in looked.formats.items())
    first, last = looked.report.first_day, looked.report.last_day
    days = first if first == last else say("{since} to {until}", since=first, until=last)
    click.echo(wrapped(f"{formats}; {days}", columns))
    n_calls, n_tools = looked.report.tools.total(), len(looked.report.tools)
    tell(
        "{requests}, {n_failed:,} failed; {calls} of {tools}",
        requests=number_of(looked.n_requests, "request"),
        n_failed=looked.n_failed,
        calls=number_of(n_calls, "call"),
        tools=number_of(n_tools, "tool"),
    )


def _show_missing(looked: "Looked", columns: int) -> None:
    """What would let the traces say more, and what was not read."""
    tell("\nmissing for more:")
    for text in looked.missing:
        click.echo(wrapped(say(text), columns, indent="  "))
    for reason, n in [*sorted(looked.report.skipped.items()), ("file of no known format", looked.n_unknown)]:
        if n:
            tell("  skipped: {n:,}, {reason}", n=n, reason=Phrase(reason))


def _facts(looked: "Looked") -> dict[str, object]:
    facts = asdict(looked)
    facts["report"]["tools"] = dict(looked.report.tools.most_common())
    return facts
