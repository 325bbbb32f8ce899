"""``dartlab-coreloop verify``."""

from pathlib import Path
from typing import TYPE_CHECKING

import click

from coreloop.base.project.workspace import open_workspace
from coreloop.cli.emit import emit, fields_of
from coreloop.cli.options import candidate_options, json_option

if TYPE_CHECKING:
    from coreloop.promote.replay import Replay


@click.command()
@candidate_options
@click.option("--runs", type=click.IntRange(1), help="Number of replays.  [default: 3]")
@click.option("--confirm", is_flag=True, help="Allow sending the questions to another machine.")
@json_option
def command(candidate: Path, wanted: str, runs: int | None, confirm: bool, as_json: bool) -> None:
    """Replay a proposal's questions and compare.

    Asks the endpoint in coreloop.yaml. Questions are private, so an endpoint on another machine needs
    --confirm. Exits 0 only if the result is reproduced.
    """
    from coreloop.promote.replay import ReplayVerdict
    from coreloop.promote.replay_proposal import verify

    workspace = open_workspace(Path.cwd())
    replayed = verify(workspace, candidate, wanted, runs=runs, confirmed=confirm)
    facts = {"id": wanted, **fields_of(replayed, "verdict", "runs")}
    emit(facts, as_json=as_json, text=lambda _: _show(replayed, wanted))
    if replayed.verdict is not ReplayVerdict.REPRODUCED:
        click.get_current_context().exit(1)


def _show(replayed: "Replay", wanted: str) -> None:
    for number, run in enumerate(replayed.runs, start=1):
        outcome = {True: "agrees", False: "disagrees", None: "unusable"}[run.agrees]
        more = f" ({run.reason})" if run.reason else ""
        click.echo(f"run {number}: {outcome}{more}")
    click.echo(f"{wanted}: {replayed.verdict}")
