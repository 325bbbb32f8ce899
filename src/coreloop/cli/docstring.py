"""``dartlab-coreloop docstring append`` and ``docstring check``."""

from pathlib import Path
from typing import TYPE_CHECKING

import click
import orjson

from coreloop.cli.groups import SuggestingGroup
from coreloop.cli.options import FILE_OR_FOLDER, json_option
from coreloop.project.workspace import open_workspace

if TYPE_CHECKING:
    from coreloop.docstrings.files import FileReport


@click.group(cls=SuggestingGroup)
def command() -> None:
    """Edit or check docstrings as promotion does."""


@command.command()
@click.argument("target", metavar="FILE::QUALNAME")
@click.option("--section", required=True, help="Heading; appended if absent.")
@click.option("--line", "lines", multiple=True, required=True, help="A line to append; can be repeated.")
@click.option("--create", is_flag=True, help="Create a docstring if absent.")
@click.option("--write", is_flag=True, help="Write the file; without it only the diff is printed.")
@json_option
def append(
    target: str, section: str, lines: tuple[str, ...], create: bool, write: bool, as_json: bool
) -> None:
    """Append lines to a section of one docstring, as one proven insertion.

    FILE::QUALNAME:LINE names one of several definitions of a name. Exits 1 when the edit is refused.
    """
    from coreloop.docstrings.edit import Edited, Refused, append_to_section
    from coreloop.docstrings.files import split_target
    from coreloop.files import read_file, rewrite_file
    from coreloop.promote.plan import diff_of

    path, qualname, at = split_target(target)
    source = read_file(path)
    outcome = append_to_section(source, qualname, section, lines, line=at, create_docstring=create)
    diff = diff_of(outcome, path.as_posix()) if isinstance(outcome, Edited) else ""
    if write and isinstance(outcome, Edited):
        rewrite_file(path, outcome.source)
    reason = outcome.reason if isinstance(outcome, Refused) else None
    said = type(outcome).__name__.lower()
    if as_json:
        facts = {"outcome": said, "reason": reason, "diff": diff, "written": write and bool(diff)}
        click.echo(orjson.dumps(facts, option=orjson.OPT_INDENT_2))
    else:
        click.echo(diff or f"{said}: {reason or 'the section has these lines already'}")
    if reason is not None:
        click.get_current_context().exit(1)


@command.command()
@click.argument("paths", metavar="PATH…", nargs=-1, required=True, type=FILE_OR_FOLDER)
@click.option("--base", metavar="REV", help="Fail when a section was lost since this revision.")
@json_option
def check(paths: tuple[Path, ...], base: str | None, as_json: bool) -> None:
    """Show which sections every public function's docstring has.

    A heading without text, or with a placeholder under it, counts as missing. With --base it exits 1 when a
    definition lost a section that it had at that revision.
    """
    from coreloop.docstrings.files import check_files

    sections = open_workspace(Path.cwd()).settings.docstring.sections
    reports = check_files(paths, root=Path.cwd(), base=base, sections=sections)
    if as_json:
        click.echo(orjson.dumps(reports, default=str, option=orjson.OPT_INDENT_2))
    else:
        for report in reports:
            _show(report)
    if any(report.lost or report.unreadable for report in reports):
        click.get_current_context().exit(1)


def _show(report: "FileReport") -> None:
    if report.unreadable is not None:
        click.echo(f"{report.path}: cannot be read: {report.unreadable}")
    for shape in report.shapes:
        missing = f"  missing {', '.join(shape.missing)}" if shape.missing else ""
        asked = len(shape.present) + len(shape.missing)
        click.echo(f"{report.path}:{shape.line} {shape.qualname}  {len(shape.present)}/{asked}{missing}")
    for loss in report.lost:
        click.echo(f"{report.path}:{loss.line} {loss.qualname}  LOST {', '.join(loss.sections)}")
