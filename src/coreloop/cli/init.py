"""``dartlab-coreloop init``."""

from pathlib import Path
from typing import TYPE_CHECKING

import click
import orjson

from coreloop.cli.options import json_option
from coreloop.errors import UsageError
from coreloop.project.settings import FILE_NAME
from coreloop.project.workspace import open_workspace
from coreloop.text import printable

if TYPE_CHECKING:
    from coreloop.project.scaffold import ProjectFile

_SAYS = {"new": "write", "grows": "append to", "there": "keep"}


@click.command()
@click.option("--owner", metavar="@LOGIN", help="Who reviews.  [default: the owner of the GitHub repository]")
@click.option("--confirm", is_flag=True, help="Write; without it what would be written is shown.")
@json_option
def command(owner: str | None, confirm: bool, as_json: bool) -> None:
    """Put what coreloop needs into a project's repository.

    coreloop.yaml, the workflows, the branch rules, CODEOWNERS, data/audit/ and lines of .gitignore. What is
    there is never overwritten.
    """
    from coreloop.history.repository import Repository, github_repo
    from coreloop.project.scaffold import plan_files, write_files

    with Repository(Path.cwd()) as repository:
        root, remote = repository.root, github_repo(repository)
        workspace = open_workspace(Path.cwd())
        if (workspace.root / FILE_NAME).is_file() and not workspace.root.samefile(root):
            raise UsageError(f"{FILE_NAME} is in {workspace.root}; move it to the repository's root, {root}")
    reviewer = owner or (f"@{remote.partition('/')[0]}" if remote else "@OWNER")
    planned = plan_files(root, workspace.settings, owner=_checked(reviewer))
    if confirm:
        write_files(root, planned)
    if as_json:
        facts = [{"path": one.path, "state": one.state, "added": one.added} for one in planned]
        click.echo(
            orjson.dumps({"root": str(root), "files": facts, "written": confirm}, option=orjson.OPT_INDENT_2)
        )
    else:
        _show(root, planned, reviewer, confirm=confirm)


def _checked(owner: str) -> str:
    if not owner.startswith("@") or not owner[1:] or not owner.isprintable() or " " in owner:
        raise UsageError(f"{printable(owner)} is no reviewer; write --owner @login or @organization/team")
    return owner


def _show(root: Path, planned: "list[ProjectFile]", reviewer: str, *, confirm: bool) -> None:
    for one in planned:
        click.echo(f"{_SAYS[one.state]:10} {one.path}")
        for line in one.added:
            click.echo(f"           {line}")
    todo = sum(one.state != "there" for one in planned)
    if not todo:
        click.echo("nothing to do: all of it is there")
    elif not confirm:
        click.echo(f"{todo} files in {printable(str(root))}; --confirm writes them")
    else:
        click.echo(
            f"{todo} files written; then: commit them, review who {reviewer} is in CODEOWNERS, and run"
        )
        click.echo("  dartlab-coreloop guard protect")
