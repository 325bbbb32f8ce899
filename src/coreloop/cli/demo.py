"""``dartlab-coreloop demo``."""

import tempfile
from pathlib import Path

import click

from coreloop.cli.options import json_option


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
    requests are recorded and mined, and the candidates shown.
    """
    from coreloop.cli.show import show_proposals, show_text
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
    show_proposals(proposals, document, paths, as_json=as_json)
    if not as_json and document.candidates:
        click.echo("\nThe first one as docstring text:\n")
        show_text(document.candidates[0])
        click.echo(f"\nTry it yourself:\n  cd {folder}")
        click.echo(
            f"  dartlab-coreloop pattern --since {DAYS.since} --until {DAYS.until} --min-success-rate 0.9"
        )
