"""``dartlab-coreloop observe``."""

import os
import sys
import time
from pathlib import Path

import click

from coreloop.base.errors import CoreloopError
from coreloop.base.project.workspace import open_workspace
from coreloop.cli.emit import fields_of, json_of
from coreloop.cli.groups import SuggestingGroup
from coreloop.cli.options import confirm_option, json_option
from coreloop.cli.runs_install import agent_argument, project_option, show_changes


@click.group(cls=SuggestingGroup)
def command() -> None:
    """Record the sessions of a coding agent in this project."""


@command.command()
@agent_argument
@project_option
@confirm_option
@json_option
def install(agent: str, project: Path, confirm: bool, as_json: bool) -> None:
    """Add a Stop hook to the agent's settings, which records each turn."""
    from coreloop.observe.claude_code import install as install_hook

    del agent  # the only one so far
    show_changes(install_hook(project.resolve(), confirm=confirm), confirm=confirm, as_json=as_json)


@command.command()
@agent_argument
@project_option
@confirm_option
@json_option
def uninstall(agent: str, project: Path, confirm: bool, as_json: bool) -> None:
    """Take the hook out of the agent's settings. Records stay."""
    from coreloop.observe.claude_code import uninstall as remove_hook

    del agent
    show_changes(remove_hook(project.resolve(), confirm=confirm), confirm=confirm, as_json=as_json)


@command.command()
@json_option
def turn(as_json: bool) -> None:
    """Record the turns of a session, of which the hook is told on stdin. Used by the hook.

    Exits with 1 if that fails, never with 2, by which a hook keeps Claude Code at work.
    """
    from coreloop.observe.claude_code import read_turn, record_turn

    try:
        told = read_turn(sys.stdin.buffer.read())
        workspace = open_workspace(Path(os.environ.get("CLAUDE_PROJECT_DIR") or Path.cwd()))
        report = record_turn(told, workspace, now_s=time.time())
    except CoreloopError as error:
        click.echo(f"dartlab-coreloop: this turn is not recorded: {error}", err=True)
        sys.exit(1)
    if as_json:
        click.echo(json_of(fields_of(report, "added", "already_there"), is_compact=True))
