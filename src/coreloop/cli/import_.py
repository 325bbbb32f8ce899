"""``dartlab-coreloop import`` and ``look``."""

import shutil
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Final, TypeVar

import click

from coreloop.base.errors import UsageError
from coreloop.base.messages import number_of
from coreloop.base.project.workspace import open_workspace
from coreloop.base.text import aligned, fitted, printable, wrapped
from coreloop.base.untrusted import untrusted
from coreloop.base.validation import fields_of
from coreloop.cli.options import FILE, FILE_OR_FOLDER, FOLDER, verbose_option
from coreloop.cli.output import Command, Output, show

if TYPE_CHECKING:
    from coreloop.learn.look import Looked
    from coreloop.observe.importers.append_requests import ImportReport
    from coreloop.observe.importers.files import TraceFile

_FORMATS: Final = ("claude-code", "otlp", "langfuse", "inspect", "openai-chat")
_LONG_BYTES: Final = 4 << 20
_MAX_TOOLS_SHOWN: Final = 15
_Row = TypeVar("_Row")
_MAX_ERRORS: Final = 4
_MAX_STATEMENTS: Final = 3
_MAX_ARGUMENTS: Final = 2
"""With the headings and what is missing, one screen of 24 lines."""


@click.command(cls=Command)
@click.option(
    "--from", "source", type=click.Choice(_FORMATS), required=True, help="The tool that wrote the traces."
)
@click.argument("paths", nargs=-1, required=True, type=FILE_OR_FOLDER, metavar="PATH…")
@click.option("--out", type=FOLDER, help="Folder for the records.  [default: data/audit/ai-ask]")
@click.option("--times", type=FILE, help="JSON lines that give the time of each request_id (openai-chat).")
def import_(source: str, paths: tuple[Path, ...], out: Path | None, times: Path | None) -> Output:
    """Convert traces of other tools into records.

    PATH is a file, or a folder to search. Traces that were imported before are not added again.

    Example: import --from claude-code ~/.claude/projects
    """
    from coreloop.observe.importers.append_requests import ImportRequest, run_import

    workspace = open_workspace(Path.cwd())
    folder = out or workspace.records_dir
    request = ImportRequest(source=source, paths=paths, folder=folder, times=times, root=workspace.root)
    report = run_import(request, workspace.settings, now_s=time.time(), watching=reading_bar)
    output = Output({**import_facts(report), "folder": folder}, _import_lines(report))
    if not report.unusable:
        return replace(output, notes=[f"wrote {folder}"] if report.added else ())
    show(output)
    first, *more = report.unusable
    others = f" (and {number_of(len(more), 'other file')})" if more else ""
    raise UsageError(f"{first.file.path}: {first.reason}{others}; --from {source} cannot use it")


@click.command(cls=Command)
@click.argument("paths", nargs=-1, required=True, type=FILE_OR_FOLDER, metavar="PATH…")
@verbose_option
def look(paths: tuple[Path, ...], verbose: bool) -> Output:
    """Show what traces that exist already say; nothing is kept or sent.

    PATH is a file or a folder, such as ~/.claude/projects. Sessions of Claude Code, exports of OTLP, Langfuse
    and Inspect, and lists of chat messages are found by looking into the files.

    Example: look ~/.claude/projects
    """
    from coreloop.learn.look import look as look_into

    looked = look_into(paths, now=datetime.now(UTC), watching=reading_bar)
    return Output(_look_facts(looked), lambda: _show_look(looked, is_verbose=verbose))


@contextmanager
def reading_bar(files: "Sequence[TraceFile]") -> "Iterator[Sequence[TraceFile]]":
    """Attach a progress bar to the files if there is much to read and stderr is a terminal."""
    size_bytes = sum(file.size_bytes for file in files)
    if size_bytes < _LONG_BYTES or not sys.stderr.isatty():
        yield files
        return
    with click.progressbar(length=size_bytes, label="reading", file=sys.stderr) as bar:
        yield [replace(file, progress=bar.update) for file in files]


def _import_lines(report: "ImportReport") -> "Iterator[str]":
    added = f"{report.added:,} added, {report.already_there:,} already there"
    yield f"records: {added}; files: {report.n_files:,}"
    columns = shutil.get_terminal_size().columns
    if report.tools:
        yield f"calls: {report.tools.total():,}, by tool:"
    for name, count in report.tools.most_common(_MAX_TOOLS_SHOWN):
        yield fitted(f"  {count:>7,}  {printable(name)}", columns)
    if len(report.tools) > _MAX_TOOLS_SHOWN:
        yield f"           and {len(report.tools) - _MAX_TOOLS_SHOWN:,} more"
    yield from report.unseen.lines()
    for reason, count in sorted(report.skipped.items()):
        yield f"skipped: {count:,}, {reason}"
    for reason, count in sorted(report.dropped.items()):
        yield f"values left out: {count:,}, {reason}"
    if report.first_day is not None:
        refine = f"dartlab-coreloop refine --since {report.first_day}"
        yield f"days: {report.first_day} to {report.last_day}; see why calls fail: {refine}"


def import_facts(report: "ImportReport") -> dict[str, object]:
    """Return what was read as JSON has it."""
    return {
        **fields_of(report, "n_files", "records", "added", "already_there", "skipped", "dropped", "unseen"),
        **untrusted({"tools": dict(report.tools.most_common())}),
        **fields_of(report, "first_day", "last_day"),
    }


def _show_look(looked: "Looked", *, is_verbose: bool) -> None:
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


def _look_facts(looked: "Looked") -> dict[str, object]:
    """The facts as JSON; traces belong to no project, so that none of their words is declared."""
    from coreloop.base.project.settings import Settings
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
