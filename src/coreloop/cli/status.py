"""``dartlab-coreloop status``."""

import os
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

import click

from coreloop.base.project.workspace import open_workspace
from coreloop.cli.mining import mining_options, watched
from coreloop.cli.options import json_option

if TYPE_CHECKING:
    from coreloop.learn.mine.session import MiningOptions


@click.command()
@click.option(
    "--stability", "only_stability", is_flag=True, help="Check only the stability gates; exit 1 if one fails."
)
@mining_options
@json_option
def command(only_stability: bool, mining: "MiningOptions", as_json: bool) -> None:
    """Show where the loop stands, and warn when a stage produces no output.

    Reads the log, the proposals, the verdicts and the history of this clone; with a token in GITHUB_TOKEN
    or GH_TOKEN, also the open pull requests. Runs notify.command of coreloop.yaml once for each
    change since the last run. Exits 0 even if there are alarms.
    """
    from coreloop.admin.status.notify import notify_changes
    from coreloop.admin.status.read import read_stability_gates, read_status
    from coreloop.cli.show_status import show_stability, show_status

    now = datetime.now(UTC)
    workspace = open_workspace(Path.cwd())
    if not only_stability:
        watch = watched(quiet=True)
        status = read_status(workspace, now=now, environ=os.environ, mining=mining, watch=watch)
        show_status(status, as_json=as_json)
        if mining.is_of_agent:  # another log's alarms are not the project's
            for warning in notify_changes(workspace, status, environ=os.environ):
                click.echo(warning, err=True)
        return
    stability = read_stability_gates(workspace, now=now)
    show_stability(stability, as_json=as_json)
    click.get_current_context().exit(0 if stability.holds else 1)
