"""``dartlab-coreloop runs install|uninstall``."""

import shutil
from pathlib import Path
from typing import TYPE_CHECKING, Final

import click

from coreloop.base.text import padded, text_width
from coreloop.cli.emit import emit, fields_of
from coreloop.cli.options import FOLDER, NOT_CONFIRMED, DurationType, confirm_option, json_option

if TYPE_CHECKING:
    from coreloop.base.claude_settings import InstallChange
    from coreloop.runs.claude_code.installer import Agent
    from coreloop.runs.claude_code.skills import Language

_NOT_ON_PATH: Final = (
    "dartlab-coreloop is not on PATH, where the skills look for it: start the agent in the environment that "
    "has it, or install it for all with pipx or uv tool"
)
project_option = click.option(
    "--project", type=FOLDER, default=Path(), help="The project's folder.  [default: the current folder]"
)
agent_argument = click.argument("agent", type=click.Choice(["claude-code"]))
_agent_argument = click.argument("agent", type=click.Choice(["claude-code", "plugin", "agents-md"]))
_root_option = click.option(
    "--project",
    type=FOLDER,
    help="The project's folder.  [default: the top of the git repository, or the current folder]",
)


@click.command()
@_agent_argument
@_root_option
@click.option(
    "--language",
    type=click.Choice(["ko", "en"]),
    default="ko",
    show_default=True,
    help="Of the skills.",
)
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
def install(
    agent: "Agent", project: Path | None, language: "Language", lease: float, confirm: bool, as_json: bool
) -> None:
    """Install the hook and the skills: deep-research, dr, research-pause, -stop, -report, use-coreloop.

    AGENT is claude-code, plugin (the folder coreloop-plugin, for Claude Code's plugins), or agents-md (a
    section of AGENTS.md, for other agents).
    """
    from coreloop.runs.claude_code import installer

    changes = installer.install(
        _root(project), agent=agent, lease_s=int(lease), confirm=confirm, language=language
    )
    show_changes(changes, confirm=confirm, as_json=as_json)
    if shutil.which("dartlab-coreloop") is None:
        click.echo(_NOT_ON_PATH, err=True)


@click.command()
@_agent_argument
@_root_option
@confirm_option
@json_option
def uninstall(agent: "Agent", project: Path | None, confirm: bool, as_json: bool) -> None:
    """Remove what install wrote. Files that were changed since are kept."""
    from coreloop.runs.claude_code import installer

    changes = installer.uninstall(_root(project), agent=agent, confirm=confirm)
    show_changes(changes, confirm=confirm, as_json=as_json)


def _root(project: Path | None) -> Path:
    from coreloop.runs.claude_code.installer import project_root

    return project_root(Path.cwd()) if project is None else project.resolve()


def show_changes(changes: "list[InstallChange]", *, confirm: bool, as_json: bool) -> None:
    """Print which files change and, on stderr, that nothing did without ``--confirm``."""
    files = [fields_of(change, "path", "what") for change in changes]
    emit({"files": files, "done": confirm}, as_json=as_json, text=lambda _: _show(changes))
    if not (confirm or as_json):
        click.echo(NOT_CONFIRMED, err=True)


def _show(changes: "list[InstallChange]") -> None:
    verbs = [change.what for change in changes]
    width = max(map(text_width, verbs))
    for verb, change in zip(verbs, changes, strict=True):
        click.echo(f"{padded(verb, width)}  {change.path}")
