"""``dartlab-coreloop status``."""

from datetime import UTC, datetime
from functools import partial
from pathlib import Path

import click

from coreloop.cli.mining import Mining, mining_options
from coreloop.cli.options import in_dir_option, json_option
from coreloop.mine.address import Folder
from coreloop.project.workspace import open_workspace


@click.command()
@click.option(
    "--stability", "only_stability", is_flag=True, help="Only the stability gates; exits 1 if one says no."
)
@in_dir_option
@mining_options
@json_option
def command(only_stability: bool, in_dir: Folder | None, mining: Mining, as_json: bool) -> None:
    """Show where the loop stands, and sound an alarm where nothing comes out.

    Reads the log, the proposals, the verdicts and the history of this clone; with a token in GITHUB_TOKEN or
    GH_TOKEN also the open pull requests. Changes nothing but the kept counts of
    the records. Exits 0 with alarms too.
    """
    from coreloop.cli.show_status import show_stability, show_status
    from coreloop.status.read import read_gates, read_status

    now = datetime.now(UTC)
    workspace = open_workspace(Path.cwd())
    if not only_stability:
        roll_up = partial(mining.rollups, workspace=workspace, quiet=True)
        show_status(read_status(workspace, now=now, in_dir=in_dir, roll_up=roll_up), as_json=as_json)
        return
    stability = read_gates(workspace, now=now)
    show_stability(stability, as_json=as_json)
    click.get_current_context().exit(0 if stability.holds else 1)
