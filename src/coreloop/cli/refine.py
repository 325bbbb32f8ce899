"""``dartlab-coreloop refine``."""

from datetime import UTC, date, datetime, timedelta
from pathlib import Path

import click

from coreloop.cli.mining import Mining, mining_options
from coreloop.cli.options import FOLDER, days_between, in_dir_option, json_option, window_options
from coreloop.mine.address import Folder
from coreloop.project.workspace import open_workspace


@click.command()
@window_options
@click.option("--min-failures", type=click.IntRange(1), help="Failures a group needs.  [default: 2]")
@click.option("--exclude-types", default="", help="Failure labels and error classes to leave out, by commas.")
@in_dir_option
@click.option("--out", type=FOLDER, help="Where they go.  [default: data/audit/counterexamples]")
@click.option("--sanitize", is_flag=True, help="For others to read: redacted, and folded under 5.")
@click.option("--dry-run", is_flag=True, expose_value=False, help="Always on: refine only proposes.")
@mining_options
@json_option
def command(
    since: date | timedelta,
    until: date | timedelta,
    min_failures: int | None,
    exclude_types: str,
    in_dir: Folder | None,
    out: Path | None,
    sanitize: bool,
    mining: Mining,
    as_json: bool,
) -> None:
    """Find failures that repeat (Phase F).

    Writes {day}-counterexamples.json and {day}-draft.md; changes nothing else. --exclude-types takes for
    example transient_network,rate_limit.
    """
    from coreloop.cli.show_refine import show_refined
    from coreloop.history.promotions import project_keys
    from coreloop.mine.rollup import mine_settings
    from coreloop.mine.signals import known_types
    from coreloop.mine.window import Days
    from coreloop.refine.propose import refine, write_refined

    now = datetime.now(UTC)
    workspace = open_workspace(Path.cwd())
    settings = workspace.settings
    mined = mine_settings(settings, settings.gates.min_chunk_len, replayed=workspace.replayed())
    refined = refine(
        mining.rollups(in_dir or workspace.records_dir, mined, workspace=workspace),
        Days(*days_between(now.date(), since, until)),
        workspace=workspace,
        min_failures=min_failures if min_failures is not None else settings.gates.min_failures,
        excluded=known_types(exclude_types.split(",")),
        known=project_keys(workspace.root, base=settings.forge.base),
    )
    folder = out or workspace.counterexamples_dir
    workspace.keep_private(folder)
    document, paths = write_refined(refined, folder, now=now, sanitized=sanitize)
    show_refined(refined, document, paths, as_json=as_json)
