"""``dartlab-coreloop pattern``."""

from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from coreloop.base.messages import Phrase, say
from coreloop.base.project.workspace import Workspace, open_workspace
from coreloop.base.text import printable
from coreloop.cli.mining import min_chunk_len_option, mining_options, watched
from coreloop.cli.options import FOLDER, ShareType, days_between, json_option, window_options
from coreloop.observe.reading.remote import Address

if TYPE_CHECKING:
    from coreloop.learn.mine.session import MiningOptions
    from coreloop.learn.pattern.run import PatternResult


@click.command()
@window_options
@click.option("--min-repeat", type=click.IntRange(1), help="Fewest requests of a pattern.  [default: 3]")
@click.option(
    "--min-unique-questions",
    type=click.IntRange(1),
    help="Fewest distinct questions of a pattern.  [default: 3]",
)
@min_chunk_len_option
@click.option(
    "--min-success-rate", type=ShareType(), help="Lowest success rate of a pattern.  [default: 1.0]"
)
@click.option("--out", type=FOLDER, help="Output folder.  [default: data/audit/candidates]")
@click.option(
    "--sanitize",
    "sanitized",
    is_flag=True,
    help="Write files to share: no questions, no groups of fewer than 5 requests.",
)
@click.option(
    "--include-audit-analysis",
    "with_notes",
    is_flag=True,
    help="Include the notes in data/dart/auditAnalysis; retention_days then removes nothing.",
)
@click.option(
    "--dry-run",
    is_flag=True,
    expose_value=False,
    help="No effect (for compatibility): pattern never opens a pull request; retention_days still applies.",
)
@mining_options
@json_option
def command(
    since: date | timedelta,
    until: date | timedelta,
    mining: "MiningOptions",
    as_json: bool,
    **options: Any,
) -> None:
    """Find where arguments come from, and sequences that keep succeeding.

    Writes {day}-candidates.json and {day}-draft.md. If coreloop.yaml sets retention_days, removes and names
    older files of records. The gates can be set in coreloop.yaml too.
    """
    from coreloop.base.date_range import Days
    from coreloop.cli.show import show_proposals, warn_of_skipped
    from coreloop.learn.pattern.run import PatternRequest, run_pattern

    now = datetime.now(UTC)
    workspace = open_workspace(Path.cwd())
    days = Days(*days_between(now.date(), since, until))
    request = PatternRequest(days=days, mining=mining, **options)
    result = run_pattern(workspace, request, now=now, watch=watched())
    _show_notes(result)
    show_proposals(result.proposals, result.document, result.paths, kept=result.kept, as_json=as_json)
    warn_of_skipped(result.mined.judgments.skipped, "judgments")
    _show_removed(result, workspace, mining, with_notes=options["with_notes"])


def _show_notes(result: "PatternResult") -> None:
    if result.notes.missing is not None:
        click.echo(say("no audit notes: {missing} is missing", missing=result.notes.missing), err=True)
    for name, reason in result.notes.skipped.items():
        click.echo(say("skipped {name}: {reason}", name=printable(name), reason=Phrase(reason)), err=True)


def _show_removed(
    result: "PatternResult", workspace: Workspace, mining: "MiningOptions", *, with_notes: bool
) -> None:
    keep_days = workspace.settings.retention_days
    if with_notes:
        message = say("dry run: with audit notes nothing is removed, and no text is proposed from them")
        click.echo(message, err=True)
    elif keep_days is not None and isinstance(mining.in_dir, Address):
        message = say(
            "{in_dir}: nothing is removed at an address; retention_days is for folders", in_dir=mining.in_dir
        )
        click.echo(message, err=True)
    for path in result.removed:
        click.echo(
            say(
                "removed {path}: all of it is older than retention_days ({keep_days})",
                path=path,
                keep_days=keep_days,
            ),
            err=True,
        )
