"""``dartlab-coreloop promote``."""

import os
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import click

from coreloop.cli.options import candidate_options, json_option
from coreloop.files import locked
from coreloop.project.workspace import open_workspace

if TYPE_CHECKING:
    from coreloop.promote.reach import Reach


@click.command()
@candidate_options
@click.option("--confirm", is_flag=True, help="Push the branch and open the draft pull request.")
@click.option("--allow-unreached", is_flag=True, help="Go on although lines do not reach the model.")
@click.option(
    "--allow-unverified", is_flag=True, help="Go on although the replay is unavailable or inconclusive."
)
@click.option("--allow-unprotected", is_flag=True, help="Go on although the base branch asks for no review.")
@json_option
def command(
    candidate: Path,
    wanted: str,
    confirm: bool,
    allow_unreached: bool,
    allow_unverified: bool,
    allow_unprotected: bool,
    as_json: bool,
) -> None:
    """Make a candidate a draft pull request that proves itself (Phase R).

    Without --confirm it prints what it would do and changes nothing. What is allowed is written into the
    pull request. Only a human can merge it. The token comes from GITHUB_TOKEN or GH_TOKEN.
    """
    from coreloop.cli.show_promotion import show_done, show_plan
    from coreloop.forge.connect import connect_forge
    from coreloop.promote.asking import ask_again
    from coreloop.promote.commits import WritableRepository
    from coreloop.promote.promotion import Leave, base_commit, keep_body, make_plan, promote
    from coreloop.promote.proposal import read_proposal

    workspace = open_workspace(Path.cwd())
    settings = workspace.settings
    proposal = read_proposal(candidate, wanted, settings)
    leave = Leave(unreached=allow_unreached, unverified=allow_unverified, unprotected=allow_unprotected)
    with WritableRepository(workspace.root) as repository:
        if not confirm:
            replayed = workspace.replayed()
            plan = make_plan(
                proposal,
                repository,
                base_commit(repository, settings.forge.base, fetch=False),
                project=workspace.root,
                settings=settings,
                ask=lambda one: ask_again(one, workspace, runs=None, confirmed=False),
                leave=leave,
            )
            new = workspace.replayed() - replayed
            if new:
                kept = f"kept the ids of {len(new)} replayed requests in {workspace.replays_file}"
                click.echo(f"{kept}: they are never mined", err=True)
            show_plan(plan, as_json=as_json)
            click.get_current_context().exit(1 if plan.obstacles else 0)
        # One at a time: two runs of one candidate would each find no branch and make one.
        with (
            locked(workspace.candidates_dir),
            connect_forge(repository, settings.forge, os.environ) as forge,
        ):
            carried, done = promote(
                proposal,
                repository,
                forge,
                project=workspace.root,
                settings=settings,
                ask=lambda one: ask_again(one, workspace, runs=None, confirmed=True),
                leave=leave,
                reached=partial(_keep_reach, workspace.reach_file, proposal.key),
            )
    note = keep_body(carried, candidate) if carried is not None and done.pull_request is None else None
    show_done(carried, done, note, as_json=as_json)


def _keep_reach(path: Path, key: str, reach: "Reach") -> None:
    """Leave the outcome for ``status``, which tells a check that refuses everything."""
    from coreloop.errors import WorkspaceError
    from coreloop.promote.reach_log import ReachOutcome, append_reach

    try:
        append_reach(path, ReachOutcome(datetime.now(UTC), key, reach.ok))
    except WorkspaceError as error:
        click.echo(f"{error}; status will not know of this reach check", err=True)
