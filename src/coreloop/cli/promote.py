"""``dartlab-coreloop promote``."""

import os
import re
from datetime import UTC, datetime
from functools import partial
from pathlib import Path

import click

from coreloop.base.errors import UsageError
from coreloop.base.messages import Phrase, number_of, say
from coreloop.base.project.workspace import open_workspace
from coreloop.base.text import printable
from coreloop.cli.options import FILE, json_option


class _Promote(click.Command):
    """Names --tool where a tool stands alone: ``promote refund_order``."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        try:
            return super().parse_args(ctx, args)
        except click.UsageError as error:
            extra = re.fullmatch(r"Got unexpected extra arguments? \((\S+).*\)", error.message)
            if extra is None:
                raise
            meant = say("promote --tool {extra}", extra=printable(extra[1]))
            raise UsageError(Phrase("nothing to promote; did you mean {meant}?", meant=meant)) from error


@click.command(cls=_Promote)
@click.option("--tool", help="Promote all statements about this tool.")
@click.option(
    "--candidate",
    type=FILE,
    help="A …-candidates.json or …-counterexamples.json.  [default, with --tool: the newest of each]",
)
@click.option("--id", "wanted", help="An id in the file.")
@click.option("--revert", metavar="ID", help="Take a change back instead: its proposal's id, or its commit.")
@click.option("--extend", is_flag=True, help="Add to the open promotion of the same docstring.")
@click.option("--confirm", is_flag=True, help="Push the branch and open the draft pull request.")
@click.option(
    "--ask", is_flag=True, help="Replay the questions in a dry run too; the agent's tools really run."
)
@click.option(
    "--allow-unreached",
    is_flag=True,
    help="Continue if lines do not reach the model, or the reach is unmeasured.",
)
@click.option(
    "--allow-unverified", is_flag=True, help="Continue if the replay is unavailable or inconclusive."
)
@click.option("--allow-harm", is_flag=True, help="Continue if a measurement says that the lines hurt.")
@click.option("-v", "--verbose", is_flag=True, help="Show all texts of a dry run.")
@click.option("--allow-unprotected", is_flag=True, help="Continue if the base branch requires no review.")
@json_option
def command(
    tool: str | None,
    candidate: Path | None,
    wanted: str | None,
    revert: str | None,
    extend: bool,
    confirm: bool,
    ask: bool,
    verbose: bool,
    allow_unreached: bool,
    allow_unverified: bool,
    allow_harm: bool,
    allow_unprotected: bool,
    as_json: bool,
) -> None:
    """Open a draft pull request that adds proposals to a docstring.

    Choose with --tool, or with --candidate and --id; --revert removes the lines of a change instead.
    Without --confirm, prints the plan and changes nothing.
    The pull request, which only a human can merge, lists each failed check that an --allow option overrode.
    The token comes from GITHUB_TOKEN or GH_TOKEN.
    """
    from coreloop.cli.show_promotion import show_done, show_left_out, show_plan
    from coreloop.promote.plan import Overrides
    from coreloop.promote.run import PromoteRequest, confirm_promotion, plan_promotion

    if revert is not None:
        if tool is not None or wanted is not None or candidate is not None:
            raise UsageError("--revert stands alone, with --confirm or --json at most")
        _revert(revert, confirm=confirm, as_json=as_json)
        return
    if (tool is None) == (wanted is None) or (wanted is not None and candidate is None):
        raise UsageError("nothing to promote; give --tool NAME, or --candidate FILE with --id ID")
    workspace = open_workspace(Path.cwd())
    overrides = Overrides(
        unreached=allow_unreached,
        unverified=allow_unverified,
        unprotected=allow_unprotected,
        harm=allow_harm,
    )
    request = PromoteRequest(
        path=candidate, wanted=wanted, tool=tool, overrides=overrides, extend=extend, ask=ask
    )
    if confirm:
        warn, now = partial(click.echo, err=True), datetime.now(UTC)
        result = confirm_promotion(workspace, request, environ=os.environ, now=now, warn=warn)
        show_left_out(result.left_out)
        show_done(result, as_json=as_json)
        return
    planned = plan_promotion(workspace, request)
    if planned.n_replayed:
        requests = say(number_of(planned.n_replayed, "replayed request"))
        click.echo(
            say(
                "kept the ids of {requests} in {replays_file}: never mined",
                requests=requests,
                replays_file=workspace.replays_file,
            ),
            err=True,
        )
    show_left_out(planned.left_out, verbose=verbose)
    show_plan(planned.plan, as_json=as_json, verbose=verbose)
    click.get_current_context().exit(1 if planned.plan.obstacles else 0)


def _revert(wanted: str, *, confirm: bool, as_json: bool) -> None:
    from coreloop.cli.show_promotion import show_revert, show_reverted
    from coreloop.learn.effect.run import run_effect
    from coreloop.promote.revert import confirm_revert, plan_revert

    workspace = open_workspace(Path.cwd())
    effects = run_effect(workspace, now=datetime.now(UTC)).chosen(id=wanted).effects
    if len({effect.change.tool for effect in effects}) > 1:
        raise UsageError(
            Phrase("{wanted} changed several tools; take it back with git revert", wanted=printable(wanted))
        )
    if confirm:
        show_reverted(confirm_revert(workspace, effects[-1], environ=os.environ), as_json=as_json)
    else:
        show_revert(plan_revert(workspace, effects[-1]), as_json=as_json)
