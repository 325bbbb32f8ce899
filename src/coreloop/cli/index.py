"""``dartlab-coreloop index``."""

from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Final

import click

from coreloop.base.messages import number_of
from coreloop.base.project.workspace import open_workspace
from coreloop.base.text import printable
from coreloop.cli.emit import emit
from coreloop.cli.options import FILE_OR_FOLDER, json_option

if TYPE_CHECKING:
    from coreloop.answer.search.index.run import IndexReport

_KINDS: Final = ("added", "changed", "moved", "removed", "unchanged")


@click.command()
@click.argument("paths", nargs=-1, type=FILE_OR_FOLDER)
@json_option
def command(paths: tuple[Path, ...], as_json: bool) -> None:
    """Read files for search: Markdown, text, HTML, Python and PDF.

    PATHS are files or folders; without them, those of the setting ``search: paths``, by default the project.
    Run this again after changes: only new, changed, moved and removed files are read.
    """
    from coreloop.answer.search.index.run import index_paths

    workspace = open_workspace(Path.cwd())
    starts = [path.absolute() for path in paths] or workspace.search_paths
    report = index_paths(workspace, starts, now=datetime.now(UTC))
    counts = {kind: report.counts[kind] for kind in _KINDS}
    skipped = [
        {"reason": reason, "files": count, "first": report.first_skipped[reason]}
        for reason, count in report.skipped.most_common()
    ]
    emit({**counts, "skipped": skipped}, as_json=as_json, text=lambda _: _show(report, counts))


def _show(report: "IndexReport", counts: dict[str, int]) -> None:
    parts = (f"{count:,} {kind}" for kind, count in counts.items())
    click.echo(", ".join(parts))
    for reason, count in report.skipped.most_common():
        first = printable(report.first_skipped[reason])
        click.echo(f"  {number_of(count, 'file')} skipped: {reason}, first {first}")
