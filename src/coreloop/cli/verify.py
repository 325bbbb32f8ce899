"""``dartlab-coreloop verify``."""

from pathlib import Path

import click

from coreloop.base.messages import Phrase, say
from coreloop.base.project.workspace import open_workspace
from coreloop.cli.options import candidate_options, json_option


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
    import orjson

    from coreloop.promote.asking import verify
    from coreloop.promote.replay import ReplayVerdict

    workspace = open_workspace(Path.cwd())
    replayed = verify(workspace, candidate, wanted, runs=runs, confirmed=confirm)
    if as_json:
        facts = {"id": wanted, "verdict": replayed.verdict, "runs": replayed.runs}
        click.echo(orjson.dumps(facts, option=orjson.OPT_INDENT_2))
    else:
        for number, run in enumerate(replayed.runs, start=1):
            outcome = Phrase({True: "agrees", False: "disagrees", None: "unusable"}[run.agrees])
            click.echo(
                say(
                    "run {number}: {outcome}{more}",
                    number=number,
                    outcome=outcome,
                    more=f" ({say(run.reason)})" if run.reason else "",
                )
            )
        click.echo(f"{wanted}: {say(replayed.verdict)}")
    if replayed.verdict is not ReplayVerdict.REPRODUCED:
        click.get_current_context().exit(1)
