"""``dartlab-coreloop demo``."""

import sys
import tempfile
from pathlib import Path

import click

from coreloop.cli.options import json_option
from coreloop.errors import GitError


@click.command()
@click.option("--seed", default=7, show_default=True, help="Which questions are asked.")
@click.option(
    "--out",
    type=click.Path(path_type=Path, file_okay=False),
    help="A new folder.  [default: a temporary one]",
)
@json_option
def command(seed: int, out: Path | None, as_json: bool) -> None:
    """Run the whole loop on a scratch project, without a key or a network.

    A scripted agent answers 300 questions with a small finance package's tools, really calling them; the
    requests are recorded and mined, and the first candidate becomes a branch of a scratch repository.
    """
    import orjson

    from coreloop.cli.show import proposals_json, show_proposals
    from coreloop.cli.show_promotion import show_change
    from coreloop.demo.promoting import promote_candidate
    from coreloop.demo.run import DAYS, make_project, propose_candidates, record_requests

    folder = out if out is not None else Path(tempfile.mkdtemp(prefix="coreloop-demo-"))
    make_project(folder)
    recorded = record_requests(folder, seed=seed)
    click.echo(
        f"observe  {recorded.n_requests} requests answered with {recorded.n_calls} tool calls, "
        f"{recorded.n_failed_calls} of which failed",
        err=as_json,
    )
    click.echo(f"         recorded in {folder / 'data' / 'audit' / 'ai-ask'}", err=as_json)
    click.echo("pattern  sequences that keep succeeding\n", err=as_json)
    proposals, document, paths = propose_candidates(folder)
    if not as_json:
        show_proposals(proposals, document, paths, as_json=False)
    first = next((one for one in document.candidates if one.suggested_append is not None), None)
    promoted, failed = None, None
    if first is not None:
        try:
            promoted = promote_candidate(folder, paths[0], first.id, seed=seed)
        except GitError as error:
            error.add_note("the candidates are there, only the promotion was left out")
            failed = error
    if as_json:
        found = orjson.loads(proposals_json(proposals, document, paths))
        found["promotion"] = promoted and {
            "id": promoted.plan.proposal.id,
            "branch": promoted.done.branch,
            "body": str(promoted.body),
            "verdict": promoted.plan.replay.verdict,
        }
        click.echo(orjson.dumps(found, option=orjson.OPT_INDENT_2))
    elif promoted is not None:
        said = "proved and committed; in a real project a draft pull request"
        click.echo(f"\npromote  {promoted.plan.proposal.id}, {said}\n")
        show_change(promoted.plan, promoted.done, promoted.body)
        click.echo(f"\nTry it yourself:\n  cd {folder}")
        window = f"--since {DAYS.since} --until {DAYS.until}"
        click.echo(f"  {sys.argv[0]} pattern {window} --min-success-rate 0.9")
        click.echo(f"  git show {promoted.done.branch}")
    if failed is not None:
        raise failed
