"""``dartlab-coreloop report``."""

import os
from pathlib import Path

import click

from coreloop.base.extras import needs_extra
from coreloop.base.messages import number_of
from coreloop.base.project.workspace import open_workspace
from coreloop.base.text import printable
from coreloop.cli.emit import emit
from coreloop.cli.options import FOLDER, json_option


@click.command()
@click.option("--out", type=FOLDER, required=True, help="A new folder, or one with an earlier report.")
@click.option(
    "--language", type=click.Choice(["en", "ko"]), default="en", show_default=True, help="Of the pages."
)
@json_option
def command(out: Path, language: str, as_json: bool) -> None:
    """Write the pages of `serve` as files, to share or to keep: no buttons, no text of users.

    Names that neither coreloop.yaml nor the source declares are left out.
    """
    try:
        from coreloop.learn.verdicts.judge import damaged_files
        from coreloop.web.pages.page_data import open_source
        from coreloop.web.pages.report import write_report
    except ModuleNotFoundError as error:
        raise needs_extra("service", feature="report") from error
    workspace = open_workspace(Path.cwd())
    with open_source(workspace, os.environ) as source:
        pages = write_report(source, out, language="ko" if language == "ko" else "en")
    for line in damaged_files(workspace):
        click.echo(printable(line), err=True)
    written = f"wrote {number_of(len(pages), 'page')}; begin with {out / 'index.html'}"
    emit({"pages": pages}, as_json=as_json, text=written)
