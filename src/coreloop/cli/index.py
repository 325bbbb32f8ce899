"""``dartlab-coreloop index``."""

from datetime import UTC, datetime
from pathlib import Path

import click
import orjson

from coreloop.cli.options import FILE_OR_FOLDER, json_option
from coreloop.project.workspace import open_workspace


@click.command()
@click.argument("paths", nargs=-1, required=True, type=FILE_OR_FOLDER)
@json_option
def command(paths: tuple[Path, ...], as_json: bool) -> None:
    """Read files for search: Markdown, text, HTML, Python and PDF.

    PATHS are files or folders. Run this again after changes: only new, changed, moved and removed files are
    read.
    """
    from coreloop.cli.show_search import show_index_report
    from coreloop.search.index.run import index_paths

    report = index_paths(
        open_workspace(Path.cwd()), [path.absolute() for path in paths], now=datetime.now(UTC)
    )
    if as_json:
        click.echo(orjson.dumps(report, option=orjson.OPT_INDENT_2))
    else:
        show_index_report(report)
