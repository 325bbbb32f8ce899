"""``dartlab-coreloop import`` and ``look``."""

import sys
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import click

from coreloop.base.errors import UsageError
from coreloop.base.messages import number_of
from coreloop.base.project.workspace import open_workspace
from coreloop.base.text import printable
from coreloop.base.untrusted import untrusted
from coreloop.base.validation import fields_of
from coreloop.cli.options import FILE_OR_FOLDER, FOLDER, verbose_option
from coreloop.cli.output import Command, Output, cut, show, table, wrap

if TYPE_CHECKING:
    from coreloop.learn.look import Looked
    from coreloop.learn.proposals.entry import ErrorRow
    from coreloop.observe.importers.append_requests import ImportReport
    from coreloop.observe.importers.files import TraceFile

_FORMATS: Final = (
    "claude-code", "inspect", "langfuse", "otlp", "openai-chat", "codex", "claude-stream-json", "atif",
    "swe-agent", "smolagents", "google-adk", "mcp-log",
)  # fmt: skip
_LONG_BYTES: Final = 4 << 20
_MAX_TOOLS_SHOWN: Final = 15


@click.command(cls=Command)
@click.option("--from", "source", type=click.Choice(_FORMATS), help="Read files as this format only.")
@click.argument("paths", nargs=-1, required=True, type=FILE_OR_FOLDER, metavar="PATH…")
@click.option("--out", type=FOLDER, help="Folder for the records.  [default: data/audit/ai-ask]")
def import_(source: str | None, paths: tuple[Path, ...], out: Path | None) -> Output:
    """Convert traces of other tools into records.

    PATH is a file, or a folder to search. Traces that were imported before are not added again.

    Example: import ~/.claude/projects
    """
    from coreloop.observe.importers.append_requests import run_import
    from coreloop.observe.importers.files import first_reason

    workspace = open_workspace(Path.cwd())
    folder = out or workspace.records_dir
    report = run_import(source, paths, workspace, out=folder, now_s=time.time(), watching=reading_bar)
    output = Output({**import_facts(report), "folder": folder}, _import_lines(report))
    if not report.unusable:
        return replace(output, notes=[f"wrote {folder}"] if report.added else ())
    show(output)
    insisted = f"; --from {source} cannot use it" if source else ""
    raise UsageError(f"{first_reason(report.unusable)}{insisted}")


@click.command(cls=Command)
@click.argument("paths", nargs=-1, required=True, type=FILE_OR_FOLDER, metavar="PATH…")
@verbose_option
def look(paths: tuple[Path, ...], verbose: bool) -> Output:
    """Show what traces that exist already say; nothing is kept or sent.

    PATH is a file or a folder with sessions of agents, exports of OTLP, Langfuse and Inspect, or lists of
    chat messages.

    Example: look ~/.claude/projects
    """
    from coreloop.learn.look import look as look_into

    looked = look_into(paths, now=datetime.now(UTC), watching=reading_bar)
    return Output(_look_facts(looked), _look_lines(looked, is_verbose=verbose))


@contextmanager
def reading_bar(files: "Sequence[TraceFile]") -> "Iterator[Iterable[TraceFile]]":
    """Show a progress bar of the files if there is much to read and stderr is a terminal."""
    if sum(file.size_bytes for file in files) < _LONG_BYTES or not sys.stderr.isatty():
        yield files
        return
    with click.progressbar(files, label="reading", file=sys.stderr) as bar:
        yield bar


def _import_lines(report: "ImportReport") -> Iterator[str]:
    added = f"{report.added:,} added, {report.already_there:,} already there"
    yield f"records: {added}; files: {report.n_files:,}"
    if report.tools:
        yield f"calls: {report.tools.total():,}, by tool:"
    yield from (cut(f"  {n:>7,}  {name}") for name, n in report.tools.most_common(_MAX_TOOLS_SHOWN))
    if len(report.tools) > _MAX_TOOLS_SHOWN:
        yield f"           and {len(report.tools) - _MAX_TOOLS_SHOWN:,} more"
    yield from report.unseen.lines()
    for what, counts in (("skipped", report.skipped), ("values left out", report.dropped)):
        yield from (f"{what}: {count:,}, {reason}" for reason, count in sorted(counts.items()))
    if report.first_day is not None:
        refine = f"dartlab-coreloop refine --since {report.first_day}"
        yield f"days: {report.first_day} to {report.last_day}; see why calls fail: {refine}"


def import_facts(report: "ImportReport") -> dict[str, object]:
    """Return what was read as JSON has it."""
    return {
        **fields_of(report, "n_files", "records", "added", "already_there", "formats"),
        **fields_of(report, "skipped", "dropped", "unseen"),
        **untrusted({"tools": dict(report.tools.most_common())}),
        **fields_of(report, "first_day", "last_day"),
    }


def _look_lines(looked: "Looked", *, is_verbose: bool) -> Iterator[str]:
    yield from _head_lines(looked)
    errors, statements, arguments = (
        rows if is_verbose else rows[:most] for rows, most in _parts(looked).values()
    )
    if errors:
        yield ""
        yield from table("", (">calls", ">lost", ">recovered", "error"), map(_cells, errors))
    if statements:
        yield from ("", "calls that do not follow these lines nearly always fail:")
    for statement in statements:
        yield wrap(f"  {statement.tool}: {statement.line.removeprefix('- ')} ({statement.sides})")
    if arguments:
        yield from ("", "where arguments come from:")
    for argument in arguments:
        places = ", ".join(f"{place} {share:.0%}" for place, share in argument.places)
        yield cut(f"  {argument.tool}.{argument.argument}: {places}")
    n_more = {noun: len(rows) - most for noun, (rows, most) in _parts(looked).items()}
    if more := [number_of(n, noun) for noun, n in n_more.items() if n > 0 and not is_verbose]:
        yield f"… and {', '.join(more)}; -v shows them"
    yield from _missing_lines(looked)


def _parts(looked: "Looked") -> "dict[str, tuple[Sequence[Any], int]]":
    """What is listed, and how much of it one screen of 24 lines has room for."""
    return {
        "error": (looked.errors, 4),
        "statement": (looked.statements, 3),
        "argument": (looked.arguments, 2),
    }


def _cells(row: "ErrorRow") -> tuple[str, ...]:
    counts = (row.n_calls, row.n_lost, row.n_recovered)
    return *(f"{n:,}" for n in counts), printable(f"{row.tool}: {row.error or row.error_class}")


def _head_lines(looked: "Looked") -> Iterator[str]:
    formats = ", ".join(f"{name} ({_read_of(looked, name, n)})" for name, n in looked.formats.items())
    first, last = looked.report.first_day, looked.report.last_day
    yield wrap(f"{formats}; {first if first == last else f'{first} to {last}'}")
    n_calls, n_tools = looked.report.tools.total(), len(looked.report.tools)
    yield (
        f"{number_of(looked.n_requests, 'request')}, {looked.n_failed:,} failed; "
        f"{number_of(n_calls, 'call')} of {number_of(n_tools, 'tool')}"
    )
    yield from map(wrap, looked.unseen.lines())


def _read_of(looked: "Looked", name: str, n_files: int) -> str:
    counts = dict(looked.report.formats.get(name, {})) if len(looked.formats) > 1 else {}
    read = (number_of(n, noun.removesuffix("s")) for noun, n in counts.items())
    return ", ".join((number_of(n_files, "file"), *read))


def _missing_lines(looked: "Looked") -> Iterator[str]:
    """Yield what would let the traces say more, and what was not read."""
    yield from ("", "missing for more:")
    yield from (wrap(f"  {text}") for text in looked.missing)
    if looked.few_failures:
        yield cut(f"    few failures: {', '.join(looked.few_failures)}")
    for reason, n in sorted(looked.report.skipped.items()):
        yield wrap(f"  skipped: {n:,}, {reason}")
    yield from (wrap(f"  {file.file.path}: {file.reason}") for file in looked.report.unusable)


def _look_facts(looked: "Looked") -> dict[str, object]:
    """The facts as JSON; traces belong to no project, so that none of their words is declared."""
    from coreloop.base.project.settings import Settings
    from coreloop.learn.proposals.allowed_lines import Vocabulary

    words = Vocabulary({}, Settings())
    return {
        **fields_of(looked, "formats", "n_unknown"),
        "report": import_facts(looked.report),
        **fields_of(looked, "n_requests", "n_failed", "unseen"),
        "errors": [row.labelled(words) for row in looked.errors],
        "statements": [one.labelled(words) for one in looked.statements],
        **untrusted({"arguments": looked.arguments}),
        "missing": looked.missing,
        **untrusted({"few_failures": looked.few_failures}),
    }
