"""``dartlab-coreloop refine``."""

import os
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from coreloop.base.project.workspace import open_workspace
from coreloop.cli.mining import min_chunk_len_option, mining_options, watched
from coreloop.cli.options import FOLDER, days_between, json_option, verbose_option, window_options

if TYPE_CHECKING:
    from coreloop.learn.mine.session import MiningOptions


@click.command()
@window_options
@click.option("--min-failures", type=click.IntRange(1), help="Fewest failures of a group.  [default: 2]")
@min_chunk_len_option
@click.option(
    "--exclude-types",
    default="",
    help="Failure labels and error classes to ignore, such as timeout,rate_limit.",
)
@click.option("--out", type=FOLDER, help="Output folder.  [default: data/audit/counterexamples]")
@click.option(
    "--sanitize",
    "sanitized",
    is_flag=True,
    help="Write files to share: no questions, no groups of fewer than 5 requests.",
)
@click.option(
    "--dry-run",
    is_flag=True,
    expose_value=False,
    help="No effect (for compatibility): refine never opens a pull request.",
)
@mining_options
@verbose_option
@json_option
def command(
    since: date | timedelta,
    until: date | timedelta,
    exclude_types: str,
    mining: "MiningOptions",
    verbose: bool,
    as_json: bool,
    **options: Any,
) -> None:
    """Find what distinguishes failed calls from successful calls.

    Writes {day}-counterexamples.json and {day}-draft.md; changes nothing else.
    """
    from coreloop.base.date_range import Days
    from coreloop.cli.show import warn_of_skipped
    from coreloop.cli.show_refine import refined_json, show_refined
    from coreloop.learn.refine.run import RefineRequest, run_refine

    now = datetime.now(UTC)
    days = Days(*days_between(now.date(), since, until))
    excluded = tuple(exclude_types.split(","))
    request = RefineRequest(days=days, mining=mining, excluded=excluded, environ=os.environ, **options)
    result = run_refine(open_workspace(Path.cwd()), request, now=now, watch=watched())
    if as_json:
        facts = refined_json(result.refined, result.document, result.paths, result.gaps, result.kept)
        click.echo(facts)
    else:
        show_refined(
            result.refined,
            result.document,
            result.paths,
            kept=result.kept,
            gaps=result.gaps,
            is_verbose=verbose,
        )
    warn_of_skipped(result.mined.judgments.skipped, "judgments")
