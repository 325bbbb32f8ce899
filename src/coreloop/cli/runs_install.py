"""``dartlab-coreloop runs install|uninstall``."""

from pathlib import Path
from typing import TYPE_CHECKING

import click
import orjson

from coreloop.cli.options import FOLDER, NOT_CONFIRMED, DurationType, confirm_option, json_option

if TYPE_CHECKING:
    from coreloop.base.claude_settings import InstallChange

agent_argument = click.argument("agent", type=click.Choice(["claude-code"]))
project_option = click.option(
    "--project", type=FOLDER, default=Path(), help="The project's folder.  [default: the current folder]"
)


@click.command()
@agent_argument
@project_option
@click.option(
    "--lease",
    type=DurationType(),
    default="30m",
    show_default=True,
    metavar="TIME",
    help="Let a turn end if nothing was recorded for so long.",
)
@confirm_option
@json_option
def install(agent: str, project: Path, lease: float, confirm: bool, as_json: bool) -> None:
    """Install the Stop hook and the skills deep-research, dr, research-pause and research-stop."""
    from coreloop.runs.claude_code.installer import install as install_files

    del agent  # the only one so far
    changes = install_files(project.resolve(), lease_s=int(lease), confirm=confirm)
    show_changes(changes, confirm=confirm, as_json=as_json)


@click.command()
@agent_argument
@project_option
@confirm_option
@json_option
def uninstall(agent: str, project: Path, confirm: bool, as_json: bool) -> None:
    """Remove what install wrote. Files that were changed since are kept."""
    from coreloop.runs.claude_code.installer import uninstall as remove_files

    del agent
    show_changes(remove_files(project.resolve(), confirm=confirm), confirm=confirm, as_json=as_json)


def show_changes(changes: "list[InstallChange]", *, confirm: bool, as_json: bool) -> None:
    if as_json:
        files = [{"path": change.path, "what": change.what} for change in changes]
        click.echo(orjson.dumps({"files": files, "done": confirm}, option=orjson.OPT_INDENT_2))
        return
    width = max(len(change.what) for change in changes)
    for change in changes:
        click.echo(f"{change.what:<{width}}  {change.path}")
    if not confirm:
        click.echo(NOT_CONFIRMED, err=True)
