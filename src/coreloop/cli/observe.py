"""``dartlab-coreloop observe``."""

import os
import sys
import time
from pathlib import Path

import click

from coreloop.base.errors import CoreloopError
from coreloop.base.project.workspace import open_workspace
from coreloop.base.validation import fields_of
from coreloop.cli.options import confirm_option
from coreloop.cli.output import Group, Output
from coreloop.cli.runs_install import agent_argument, changed_files, project_option


@click.group(cls=Group)
def observe() -> None:
    """Record the sessions of a coding agent in this project."""


@observe.command()
@agent_argument
@project_option
@confirm_option
def install(agent: str, project: Path, confirm: bool) -> Output:
    """Add a Stop hook to the agent's settings, which records each turn.

    Example: observe install claude-code --confirm
    """
    from coreloop.observe.claude_code import install as install_hook

    del agent  # the only one so far
    return changed_files(install_hook(project.resolve(), confirm=confirm), confirm=confirm)


@observe.command()
@agent_argument
@project_option
@confirm_option
def uninstall(agent: str, project: Path, confirm: bool) -> Output:
    """Take the hook out of the agent's settings. Records stay.

    Example: observe uninstall claude-code --confirm
    """
    from coreloop.observe.claude_code import uninstall as remove_hook

    del agent
    return changed_files(remove_hook(project.resolve(), confirm=confirm), confirm=confirm)


@observe.command()
def turn() -> Output:
    """Record the turns of a session, of which the hook is told on stdin. Used by the hook.

    Exits with 1 if that fails, never with 2, by which a hook keeps Claude Code at work.

    Example: observe turn < turn.json
    """
    from coreloop.observe.claude_code import read_turn, record_turn

    try:
        told = read_turn(sys.stdin.buffer.read())
        workspace = open_workspace(Path(os.environ.get("CLAUDE_PROJECT_DIR") or Path.cwd()))
        report = record_turn(told, workspace, now_s=time.time())
    except CoreloopError as error:
        return Output({}, (), [f"dartlab-coreloop: this turn is not recorded: {error}"], code=1)
    return Output(fields_of(report, "added", "already_there"), ())
