"""``dartlab-coreloop look``."""

import shutil
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Final, TypeVar

import click

from coreloop.base.messages import number_of
from coreloop.base.text import aligned, fitted, printable, wrapped
from coreloop.base.untrusted import untrusted
from coreloop.cli.emit import emit, fields_of
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
        click.echo(f"\n{aligned('calls', 6)} {aligned('lost', 5)} {aligned('recovered', 9)}  {'error'}")
    for error in first(looked.errors, _MAX_ERRORS, "error"):
        text = printable(f"{error.tool}: {error.error or error.error_class}")
        figures = f"{error.n_calls:>6,} {error.n_lost:>5,} {error.n_recovered:>9,}  "
        click.echo(fitted(f"{figures}{text}", columns))
    if looked.statements:
        click.echo("\ncalls that do not follow these lines nearly always fail:")
    for statement in first(looked.statements, _MAX_STATEMENTS, "statement"):
        line = printable(f"{statement.tool}: {statement.line.removeprefix('- ')} ({statement.sides})")
        click.echo(wrapped(line, columns, indent="  "))
    if looked.arguments:
        click.echo("\nwhere arguments come from:")
    for argument in first(looked.arguments, _MAX_ARGUMENTS, "argument"):
        places = ", ".join(f"{place} {share:.0%}" for place, share in argument.places)
        click.echo(fitted(printable(f"  {argument.tool}.{argument.argument}: {places}"), columns))
    if left_out:
        click.echo(f"… and {', '.join(left_out)}; -v shows them")
    _show_missing(looked, columns)


def _show_head(looked: "Looked", columns: int) -> None:
    formats = ", ".join(f"{name} ({number_of(n, 'file')})" for name, n in looked.formats.items())
    first, last = looked.report.first_day, looked.report.last_day
    days = first if first == last else f"{first} to {last}"
    click.echo(wrapped(f"{formats}; {days}", columns))
    n_calls, n_tools = looked.report.tools.total(), len(looked.report.tools)
    click.echo(
        f"{number_of(looked.n_requests, 'request')}, {looked.n_failed:,} failed; "
        f"{number_of(n_calls, 'call')} of {number_of(n_tools, 'tool')}"
    )
    for line in looked.unseen.lines():
        click.echo(wrapped(line, columns))


def _show_missing(looked: "Looked", columns: int) -> None:
    """What would let the traces say more, and what was not read."""
    click.echo("\nmissing for more:")
    for text in looked.missing:
        click.echo(wrapped(text, columns, indent="  "))
    if looked.few_failures:
        click.echo(fitted(printable(f"    few failures: {', '.join(looked.few_failures)}"), columns))
    for reason, n in [*sorted(looked.report.skipped.items()), ("file of no known format", looked.n_unknown)]:
        if n:
            click.echo(f"  skipped: {n:,}, {reason}")


def _facts(looked: "Looked") -> dict[str, object]:
    """The facts as JSON; traces belong to no project, so that none of their words is declared."""
    from coreloop.base.project.settings import Settings
    from coreloop.cli.import_ import import_facts
    from coreloop.learn.proposals.vocabulary import Vocabulary, labelled

    words = Vocabulary({}, Settings())
    return {
        **fields_of(looked, "formats", "n_unknown"),
        "report": import_facts(looked.report),
        **fields_of(looked, "n_requests", "n_failed", "unseen"),
        "errors": [labelled(row, row.shared(words)) for row in looked.errors],
        "statements": [labelled(one, one.shared(words)) for one in looked.statements],
        **untrusted({"arguments": looked.arguments}),
        "missing": looked.missing,
        **untrusted({"few_failures": looked.few_failures}),
    }
