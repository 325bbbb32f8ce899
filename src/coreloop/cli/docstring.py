"""``dartlab-coreloop docstring append`` and ``docstring check``."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from coreloop.base.project.workspace import open_workspace
from coreloop.cli.emit import emit
from coreloop.cli.groups import SuggestingGroup
from coreloop.cli.options import FILE_OR_FOLDER, json_option

if TYPE_CHECKING:
    from coreloop.descriptions.lost_sections import FileReport


@click.group(cls=SuggestingGroup)
def command() -> None:
    """Edit or check docstrings the way promotion does."""


@command.command()
@click.argument("target", metavar="FILE::QUALNAME")
@click.option("--section", required=True, help="Heading of the section; added at the end if absent.")
@click.option("--line", "lines", multiple=True, required=True, help="A line to append; repeat for more.")
@click.option("--write", is_flag=True, help="Write the file; without it, only print the diff.")
@json_option
def append(target: str, section: str, lines: tuple[str, ...], write: bool, as_json: bool) -> None:
    """Append lines to a section of one docstring, as one proven insertion.

    Use FILE::QUALNAME:LINE if a name is defined more than once. Exits 1 if the edit is refused.
    """
    from coreloop.base.files import read_file, rewrite_file
    from coreloop.descriptions.edit import Edited, Refused, append_to_section
    from coreloop.descriptions.lost_sections import split_target
    from coreloop.promote.docstring_edit import diff_of

    path, qualname, line = split_target(target)
    source = read_file(path)
    outcome = append_to_section(source, qualname, section, lines, line=line)
    diff = diff_of(outcome, path.as_posix()) if isinstance(outcome, Edited) else ""
    if write and isinstance(outcome, Edited):
        rewrite_file(path, outcome.source)
    reason = outcome.reason if isinstance(outcome, Refused) else None
    name = type(outcome).__name__.lower()
    facts = {"outcome": name, "reason": reason, "diff": diff, "written": write and bool(diff)}
    why = reason if reason is not None else "the section has these lines already"
    shown = diff or f"{name}: {why}"
    emit(facts, as_json=as_json, text=shown)
    if reason is not None:
        click.get_current_context().exit(1)


@command.command()
@click.argument("paths", metavar="PATH…", nargs=-1, required=True, type=FILE_OR_FOLDER)
@click.option("--base", metavar="REV", help="Exit 1 if a section was lost since this revision.")
@json_option
def check(paths: tuple[Path, ...], base: str | None, as_json: bool) -> None:
    """List the docstring sections of every public function.

    A heading without text, or with only a placeholder, counts as missing. With --base, exits 1 if a
    definition lost a section since that revision.
    """
    from coreloop.descriptions.lost_sections import check_files

    sections = open_workspace(Path.cwd()).settings.docstring.sections
    reports = check_files(paths, root=Path.cwd(), base=base, sections=sections)
    emit(reports, as_json=as_json, text=_show)
    if any(report.lost or report.unreadable for report in reports):
        click.get_current_context().exit(1)


def _show(reports: "Sequence[FileReport]") -> None:
    for report in reports:
        _show_report(report)


def _show_report(report: "FileReport") -> None:
    if report.unreadable is not None:
        click.echo(f"{report.path}: cannot be read: {report.unreadable}")
    for shape in report.shapes:
        missing = f"  missing {', '.join(shape.missing)}" if shape.missing else ""
        n_expected = len(shape.present) + len(shape.missing)
        click.echo(f"{report.path}:{shape.line} {shape.qualname}  {len(shape.present)}/{n_expected}{missing}")
    for loss in report.lost:
        click.echo(f"{report.path}:{loss.line} {loss.qualname}  LOST {', '.join(loss.sections)}")
