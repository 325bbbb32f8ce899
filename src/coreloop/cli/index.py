"""``dartlab-coreloop index``."""

from datetime import UTC, datetime
from pathlib import Path

import click

from coreloop.base.project.workspace import open_workspace
from coreloop.cli.options import FILE_OR_FOLDER, json_option


@click.command()
@click.argument("paths", nargs=-1, type=FILE_OR_FOLDER)
@json_option
def command(paths: tuple[Path, ...], as_json: bool) -> None:
    """Read files for search: Markdown, text, HTML, Python and PDF.

    PATHS are files or folders; without them, those of the setting ``search: paths``, by default the project.
    Run this again after changes: only new, changed, moved and removed files are read.
    """
    from coreloop.answer.search.index.run import index_paths
    from coreloop.cli.show_search import show_index_report

    workspace = open_workspace(Path.cwd())
    starts = [path.absolute() for path in paths] or workspace.search_paths
    report = index_paths(workspace, starts, now=datetime.now(UTC))
    show_index_report(report, as_json=as_json)
