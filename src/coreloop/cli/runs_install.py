"""``dartlab-coreloop runs install|uninstall``."""

import shutil
from pathlib import Path
from typing import TYPE_CHECKING, Final

import click

from coreloop.base.text import padded, text_width
from coreloop.cli.options import FOLDER, NOT_CONFIRMED, DurationType, confirm_option
from coreloop.cli.output import Command, Output

if TYPE_CHECKING:
    from collections.abc import Sequence

    from coreloop.base.claude_settings import InstallChange
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


@click.command(cls=Command)
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
def install(agent: str, project: Path | None, language: "Language", lease: float, confirm: bool) -> Output:
    """Install the hook and the skills: deep-research, dr, research-pause, -stop, -report, use-coreloop.

    AGENT is claude-code, plugin (the folder coreloop-plugin, for Claude Code's plugins), or agents-md (a
    section of AGENTS.md, for other agents).

    Example: runs install claude-code --language en --confirm
    """
    from coreloop.runs.claude_code import installer, plugin

    root = _root(project)
    if agent == "claude-code":
        changes = installer.install(root, lease_s=int(lease), confirm=confirm, language=language)
    elif agent == "plugin":
        changes = plugin.install_plugin(root, lease_s=int(lease), confirm=confirm, language=language)
    else:
        changes = plugin.install_agents(root, confirm=confirm, language=language)
    notes = [_NOT_ON_PATH] if shutil.which("dartlab-coreloop") is None else []
    return changed_files(changes, confirm=confirm, notes=notes)


@click.command(cls=Command)
@_agent_argument
@_root_option
@confirm_option
def uninstall(agent: str, project: Path | None, confirm: bool) -> Output:
    """Remove what install wrote. Files that were changed since are kept.

    Example: runs uninstall claude-code --confirm
    """
    from coreloop.runs.claude_code import installer, plugin

    remove = {
        "claude-code": installer.uninstall,
        "plugin": plugin.uninstall_plugin,
        "agents-md": plugin.uninstall_agents,
    }[agent]
    return changed_files(remove(_root(project), confirm=confirm), confirm=confirm)


def _root(project: Path | None) -> Path:
    from coreloop.runs.claude_code.installer import project_root

    return project_root(Path.cwd()) if project is None else project.resolve()


def changed_files(
    changes: "Sequence[InstallChange]", *, confirm: bool, notes: "Sequence[str]" = ()
) -> Output:
    """Return which files change and, as a note, that nothing did without ``--confirm``."""
    width = max(text_width(change.what) for change in changes)
    lines = [f"{padded(change.what, width)}  {change.path}" for change in changes]
    return Output({"files": changes, "done": confirm}, lines, [*([] if confirm else [NOT_CONFIRMED]), *notes])
