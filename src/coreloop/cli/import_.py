"""``dartlab-coreloop import`` and ``look``."""

import os
import re
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import replace
from datetime import UTC, date, datetime, timedelta
from math import inf
from pathlib import Path
from typing import Final, NoReturn

import click

from coreloop.base.errors import UsageError
from coreloop.base.messages import number_of
from coreloop.base.project.settings import Settings
from coreloop.base.project.workspace import open_workspace
from coreloop.base.text import printable
from coreloop.base.untrusted import untrusted
from coreloop.base.validation import fields_of
from coreloop.cli.options import FILE_OR_FOLDER, FOLDER, DayType, days_between, verbose_option
from coreloop.cli.output import Command, Output, cut, show, table, wrap
from coreloop.learn.look import Looked
from coreloop.learn.look import look as look_into
from coreloop.learn.proposals.allowed_lines import Vocabulary
from coreloop.learn.proposals.entry import ErrorRow, Statement
from coreloop.observe.importers.append_requests import ImportReport, run_import
from coreloop.observe.importers.files import TraceFile, find_trace_files, first_reason
from coreloop.observe.importers.recognition import all_suffixes

_FORMATS: Final = (
    "claude-code", "inspect", "langfuse", "langsmith", "otlp", "openai-chat", "codex", "claude-stream-json",
    "atif", "swe-agent", "smolagents", "google-adk", "mcp-log", "phoenix", "mlflow",
)  # fmt: skip
# What can be asked for its traces, and their format.
_SERVERS: Final = {"langfuse": "langfuse", "langsmith": "langsmith", "phoenix": "otlp", "mlflow": "otlp"}
_LOOK_S: Final = 1.0  # chosen: a look is a stat of each file, which every system has, unlike its own notices
_PAUSE_S: Final = 60.0  # as of a pause that ends a turn of Claude Code
_LONG_BYTES: Final = 4 << 20
_MAX_TOOLS_SHOWN: Final = 15
_MAX_ERRORS: Final = 8
_MAX_ARGUMENTS: Final = 3
# The class of an error that says no more than that it is one.
_SAYS_NOTHING: Final = re.compile(
    r"^(?:Error|Exception|ValueError|RuntimeError|AssertionError|Tool\w{0,40}Error): (?=\S)"
)


@click.command(cls=Command)
@click.option(
    "--from", "source", metavar="FORMAT", type=click.Choice(_FORMATS), help=f"One of {', '.join(_FORMATS)}."
)
@click.argument("paths", nargs=-1, type=FILE_OR_FOLDER, metavar="[PATH…]")
@click.option("--url", help="Pull from this server.")
@click.option("--since", type=DayType(), help="First UTC day.  [default: the last pull, or 7d]")
@click.option("--out", type=FOLDER, help="Folder for the records.  [default: data/audit/ai-ask]")
@click.option("--follow", "is_followed", is_flag=True, help="Go on with what is written later, until Ctrl-C.")
def import_(
    source: str | None,
    paths: tuple[Path, ...],
    *,
    url: str | None,
    since: date | timedelta | None,
    out: Path | None,
    is_followed: bool,
) -> Output:
    """Convert traces of other tools into records.

    PATH is a file, or a folder to search. Traces that were imported before are not added again.
    `observe turn` adds each turn of Claude Code, by a hook.

    Example: import ~/.claude/projects
    """
    if not url and (since is not None or not paths):
        raise UsageError("give a PATH, or --from and --url of a server, which --since needs")
    if url and (paths or is_followed or source not in _SERVERS):
        raise UsageError(f"--url needs --from {' or '.join(_SERVERS)}, and takes no PATH or --follow")
    workspace = open_workspace(Path.cwd())
    folder = out or workspace.records_dir
    first = None if since is None else days_between(datetime.now(UTC).date(), since, timedelta())[0]
    pulling = url and _pulled(source or "", url, first, (out or workspace.audit_dir) / "pulled")
    with pulling or nullcontext(list(paths)) as files:

        def run() -> ImportReport:
            reader = _SERVERS.get(source or "", source)
            return run_import(reader, files, workspace, out=folder, now_s=time.time(), watching=reading_bar)

        report = _follow(run, paths) if is_followed else run()
    output = Output({**import_facts(report), "folder": folder}, _import_lines(report))
    is_named = bool(paths) and all(map(Path.is_file, paths))
    if not report.unusable and (report.records or not is_named):
        return replace(output, notes=[f"wrote {folder}"] if report.added else ())
    show(output)
    if not report.unusable:
        raise UsageError(f"{paths[0]}: no request can be read; skipped: {'; '.join(report.skipped_lines())}")
    insisted = f"; --from {source} cannot use it" if source else ""
    raise UsageError(f"{first_reason(report.unusable)}{insisted}")


def _follow(run: Callable[[], ImportReport], paths: Sequence[Path]) -> NoReturn:
    """Import at once where a file has grown, and each minute, since a pause ends a turn of a conversation.

    It reads a tenth of the time at most.
    """
    last: list[tuple[Path, int]] = []
    read_at, took_s = -inf, 0.0
    while True:
        files = find_trace_files(paths, all_suffixes(), now_s=time.time())
        sizes = [(file.path, file.size_bytes) for file in files]
        began = time.monotonic()
        if sizes != last or began - read_at >= _PAUSE_S:
            report = run()
            if report.added or report.corrected:
                show(Output(import_facts(report), [_records_line(report)]))
            last, read_at = sizes, time.monotonic()
            took_s = read_at - began
        time.sleep(max(_LOOK_S, 10 * took_s))


@click.command(cls=Command)
@click.argument("paths", nargs=-1, required=True, type=FILE_OR_FOLDER, metavar="PATH…")
@verbose_option
def look(paths: tuple[Path, ...], verbose: bool) -> Output:
    """Show what traces that exist already say; nothing is kept or sent.

    PATH is a file or a folder with sessions of agents, exports of OTLP, Langfuse and Inspect, or lists of
    chat messages.

    Example: look ~/.claude/projects
    """
    looked = look_into(paths, now=datetime.now(UTC), watching=reading_bar)
    return Output(_look_facts(looked), _look_lines(looked, is_verbose=verbose))


def _pulled(server: str, url: str, since: date | None, parent: Path) -> AbstractContextManager[list[Path]]:
    """The files with a server's traces, while a block reads them."""
    from coreloop.observe.importers.pull import pulled

    def bar(pages: Iterable[bytes]) -> AbstractContextManager[Iterable[bytes]]:
        return click.progressbar(pages, label="pulling", file=sys.stderr, hidden=not sys.stderr.isatty())

    return pulled(server, url, parent, environ=os.environ, now=datetime.now(UTC), since=since, watching=bar)


@contextmanager
def reading_bar(files: Sequence[TraceFile]) -> Iterator[Iterable[TraceFile]]:
    """Show a progress bar of the files if there is much to read and stderr is a terminal."""
    if sum(file.size_bytes for file in files) < _LONG_BYTES or not sys.stderr.isatty():
        yield files
        return
    with click.progressbar(files, label="reading", file=sys.stderr) as bar:
        yield bar


def _import_lines(report: ImportReport) -> Iterator[str]:
    yield _records_line(report)
    if report.tools:
        yield f"calls: {report.tools.total():,} of {number_of(len(report.tools), 'tool')}:"
    yield from (cut(f"  {n:>7,}  {name}") for name, n in report.tools.most_common(_MAX_TOOLS_SHOWN))
    yield from report.unseen.lines()
    yield from (f"skipped: {text}" for text in report.skipped_lines())
    yield from (f"values left out: {count:,}, {reason}" for reason, count in sorted(report.dropped.items()))
    if report.since is not None:
        refine = f"dartlab-coreloop refine --since {report.since}"
        yield f"{_days(report)}; see why calls fail: {refine}"


def _records_line(report: ImportReport) -> str:
    corrected = f", {report.corrected:,} corrected" if report.corrected else ""
    added = f"{report.added:,} added{corrected}, {report.already_there:,} already there"
    return f"records: {added}; files: {report.n_files:,}"


def _days(report: ImportReport) -> str:
    first, last = report.first_day, report.last_day
    if first is None:
        return "dates unknown"
    return first if first == last else f"{first} to {last}"


def import_facts(report: ImportReport) -> dict[str, object]:
    """Return what was read as JSON has it."""
    return {
        **fields_of(report, "n_files", "records", "added", "corrected", "already_there", "formats"),
        **fields_of(report, "skipped", "dropped", "unseen"),
        **untrusted({"tools": dict(report.tools.most_common())}),
        **fields_of(report, "since", "first_day", "last_day"),
    }


def _look_lines(looked: Looked, *, is_verbose: bool) -> Iterator[str]:
    yield from _head_lines(looked)
    yield from _error_lines(looked.found.errors, is_verbose=is_verbose)
    if looked.found.statements or looked.listed:
        yield from ("", "what failing calls have in common:")
    for statement in looked.found.statements:
        yield from statement_lines(statement)
    for name, listed in looked.listed:
        about = f"  {name}: failing calls have other values of {listed} than calls that worked"
        yield wrap(f"{about}; beside the source, `refine` in the project says which it lists")
    if looked.arguments:
        yield from ("", "where arguments come from:")
    shown = looked.arguments if is_verbose else looked.arguments[:_MAX_ARGUMENTS]
    for argument in shown:
        places = ", ".join(f"{place} {share:.0%}" for place, share in argument.places)
        yield cut(f"  {argument.tool}.{argument.argument}: {places}")
    yield from _folded(len(looked.arguments) - len(shown), "argument")
    yield from _unseen_lines(looked, is_verbose=is_verbose)
    yield from ("", wrap(f"next: {looked.next}"))


def _head_lines(looked: Looked) -> Iterator[str]:
    """Yield what was read, by format, and how much of it failed."""
    for name, count in looked.report.formats.items():
        counts = (number_of(n, noun.removesuffix("s")) for noun, n in count.items())
        yield wrap(f"{name}: {', '.join(counts)}")
    report, n_calls = looked.report, looked.report.tools.total()
    guessed = f", {report.unseen.guessed:,} only read like failures" if report.unseen.guessed else ""
    yield wrap(
        f"{number_of(looked.n_requests, 'request')}, {looked.n_failed:,} failed; "
        f"{number_of(n_calls, 'call')} of {number_of(len(report.tools), 'tool')}, "
        f"{looked.n_failed_calls:,} failed{guessed}; {_days(report)}"
    )


def _error_lines(errors: Sequence[ErrorRow], *, is_verbose: bool) -> Iterator[str]:
    rows = sorted(errors, key=lambda row: -row.n_calls)
    shown = rows if is_verbose else rows[:_MAX_ERRORS]
    if shown:
        yield ""
        yield from table("", (">calls", ">lost", ">recovered", "error"), map(_cells, shown))
    yield from _folded(len(rows) - len(shown), "error")


def _cells(row: ErrorRow) -> tuple[str, ...]:
    text = _SAYS_NOTHING.sub("", row.error, count=1) or row.error_class
    return f"{row.n_calls:,}", f"{row.n_lost:,}", row.recovered, printable(f"{row.tool}: {text}")


def _folded(n_more: int, noun: str) -> Iterator[str]:
    if n_more > 0:
        yield f"… and {n_more:,} more {noun}{'' if n_more == 1 else 's'}: --verbose"


def statement_lines(statement: Statement) -> Iterator[str]:
    """Yield a line, how calls on both of its sides ended, and one of each."""
    sides = statement.sides
    dates = f"; {statement.seen}" if statement.n_undated else ""
    yield wrap(f"  {statement.tool}: {statement.line.removeprefix('- ')}")
    worked = f"{sides.n_ok:,} of {number_of(sides.n, 'call')} that follow it"
    yield wrap(f"    worked: {worked}, {sides.other_ok:,} of {sides.other_n:,} others{dates}")
    for what, call in (("failed", statement.failing), ("worked", statement.working)):
        if call:
            yield wrap(f"    {what}: {call}")


def _unseen_lines(looked: Looked, *, is_verbose: bool) -> Iterator[str]:
    """Yield what the traces do not say, what would let them say more, and what was not read."""
    report = looked.report
    texts = [*report.unseen.lines(), *looked.missing]
    texts += [f"skipped: {text}" for text in report.skipped_lines()]
    texts += [f"{it.file.path}: {it.reason}" for it in (report.unread if is_verbose else report.unusable)]
    yield from ("", "not seen:") if texts else ()
    yield from (wrap(f"  {text}") for text in texts)


def _look_facts(looked: Looked) -> dict[str, object]:
    """The facts as JSON; traces belong to no project, so that none of their words is declared."""
    words = Vocabulary({}, Settings())
    return {
        "formats": looked.report.formats,
        "n_unknown": looked.n_unknown,
        "report": import_facts(looked.report),
        **fields_of(looked, "n_requests", "n_failed", "n_failed_calls"),
        "unseen": looked.report.unseen,
        "errors": [row.labelled(words) for row in looked.found.errors],
        "statements": [one.labelled(words) for one in looked.found.statements],
        **untrusted({"arguments": looked.arguments}),
        "missing": looked.missing,
        **untrusted({"listed": looked.listed}),
        "next": looked.next,
    }
