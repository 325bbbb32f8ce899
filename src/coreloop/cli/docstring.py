"""``dartlab-coreloop docstring check``."""

from collections.abc import Iterator
from pathlib import Path

import click

from coreloop.base.project.workspace import open_workspace
from coreloop.cli.options import FILE_OR_FOLDER
from coreloop.cli.output import Group, Output
from coreloop.descriptions.lost_sections import FileReport, check_files


@click.group(cls=Group)
def docstring() -> None:
    """List the docstring sections of public functions.

    Example: docstring check src
    """


@docstring.command()
@click.argument("paths", metavar="PATH…", nargs=-1, required=True, type=FILE_OR_FOLDER)
@click.option("--base", metavar="REV", help="Exit 1 if a section was lost since this revision.")
def check(paths: tuple[Path, ...], base: str | None) -> Output:
    """List the docstring sections of every public function.

    A heading without text counts as missing. With --base, exits 1 if a definition lost a section since
    that revision.

    Example: docstring check src --base main
    """
    sections = open_workspace(Path.cwd()).settings.docstring.sections
    reports = check_files(paths, root=Path.cwd(), base=base, sections=sections)
    is_lost = any(report.lost or report.unreadable for report in reports)
    return Output(reports, [line for report in reports for line in _lines(report)], code=int(is_lost))


def _lines(report: FileReport) -> Iterator[str]:
    if report.unreadable is not None:
        yield f"{report.path}: cannot be read: {report.unreadable}"
    for shape in report.shapes:
        missing = f"  missing {', '.join(shape.missing)}" if shape.missing else ""
        n_expected = len(shape.present) + len(shape.missing)
        yield f"{report.path}:{shape.line} {shape.qualname}  {len(shape.present)}/{n_expected}{missing}"
    for loss in report.lost:
        yield f"{report.path}:{loss.line} {loss.qualname}  LOST {', '.join(loss.missing)}"
