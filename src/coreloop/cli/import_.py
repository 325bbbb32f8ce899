"""``dartlab-coreloop import``."""

import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Final

import click

from coreloop.base.errors import UsageError
from coreloop.base.messages import number_of
from coreloop.base.project.workspace import open_workspace
from coreloop.base.text import printable
from coreloop.cli.emit import emit, fields_of
from coreloop.cli.options import FILE, FILE_OR_FOLDER, FOLDER, json_option

if TYPE_CHECKING:
    from coreloop.observe.importers.append_requests import ImportReport
    from coreloop.observe.importers.files import TraceFile

_FORMATS: Final = ("claude-code", "otlp", "langfuse", "inspect", "openai-chat")
_LONG_BYTES: Final = 4 << 20
_MAX_TOOLS_SHOWN: Final = 15


@click.command()
@click.option(
    "--from", "source", type=click.Choice(_FORMATS), required=True, help="The tool that wrote the traces."
)
@click.argument("paths", nargs=-1, required=True, type=FILE_OR_FOLDER, metavar="PATH…")
@click.option("--out", type=FOLDER, help="Folder for the records.  [default: data/audit/ai-ask]")
@click.option("--times", type=FILE, help="JSON lines that give the time of each request_id (openai-chat).")
@json_option
def command(
    source: str, paths: tuple[Path, ...], out: Path | None, times: Path | None, as_json: bool
) -> None:
    """Convert traces of other tools into records.

    PATH is a file, or a folder to search. Traces that were imported before are not added again.
    """
    from coreloop.observe.importers.run import ImportRequest, run_import

    workspace = open_workspace(Path.cwd())
    folder = out or workspace.records_dir
    request = ImportRequest(source=source, paths=paths, folder=folder, times=times, root=workspace.root)
    report = run_import(request, workspace.settings, now_s=time.time(), watching=reading_bar)
    emit(_facts(report, folder), as_json=as_json, text=lambda _: _show(report, folder))
    if report.unusable:
        first, *more = report.unusable
        others = f" (and {number_of(len(more), 'other file')})" if more else ""
        raise UsageError(f"{first.file.path}: {first.reason}{others}; --from {source} cannot use it")


@contextmanager
def reading_bar(files: "Sequence[TraceFile]") -> "Iterator[Sequence[TraceFile]]":
    """Attach a progress bar to the files if there is much to read and stderr is a terminal."""
    size_bytes = sum(file.size_bytes for file in files)
    if size_bytes < _LONG_BYTES or not sys.stderr.isatty():
        yield files
        return
    with click.progressbar(length=size_bytes, label="reading", file=sys.stderr) as bar:
        yield [replace(file, progress=bar.update) for file in files]


def _show(report: "ImportReport", folder: Path) -> None:
    click.echo(
        f"records: {report.added:,} added, {report.already_there:,} already there; files: {report.n_files:,}"
    )
    if report.tools:
        click.echo(f"calls: {report.tools.total():,}, by tool:")
    for name, count in report.tools.most_common(_MAX_TOOLS_SHOWN):
        click.echo(f"  {count:>7,}  {printable(name)}")
    if len(report.tools) > _MAX_TOOLS_SHOWN:
        click.echo(f"           and {len(report.tools) - _MAX_TOOLS_SHOWN:,} more")
    for reason, count in sorted(report.skipped.items()):
        click.echo(f"skipped: {count:,}, {reason}")
    for reason, count in sorted(report.dropped.items()):
        click.echo(f"values left out: {count:,}, {reason}")
    if report.first_day is not None:
        refine = f"dartlab-coreloop refine --since {report.first_day}"
        click.echo(f"days: {report.first_day} to {report.last_day}; see why calls fail: {refine}")
    if report.added:
        click.echo(f"wrote {folder}", err=True)


def _facts(report: "ImportReport", folder: Path) -> dict[str, object]:
    return {
        **fields_of(report, "n_files", "records", "added", "already_there", "skipped", "dropped"),
        "tools": dict(report.tools.most_common()),
        **fields_of(report, "first_day", "last_day"),
        "folder": folder,
    }
