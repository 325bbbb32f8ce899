"""``dartlab-coreloop mine``."""

from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING

import click

from coreloop.cli.mining import Mining, mining_options
from coreloop.cli.options import days_between, in_dir_option, json_option, window_options
from coreloop.mine.address import Folder
from coreloop.project.workspace import open_workspace

if TYPE_CHECKING:
    from coreloop.mine.rollup import Rollup
    from coreloop.mine.window import Window


@click.command()
@window_options
@in_dir_option
@mining_options
@json_option
def command(
    since: date | timedelta, until: date | timedelta, in_dir: Folder | None, mining: Mining, as_json: bool
) -> None:
    """Count the records once and keep the counts, so that every other command is quick.

    Every kept rollup is checked; one that is damaged is made again. --since and --until only say of which
    days records are reported.
    """
    from coreloop.mine.rollup import mine_settings
    from coreloop.mine.window import Days, merge
    from coreloop.verdicts.judge import read_judgments

    workspace = open_workspace(Path.cwd())
    days = Days(*days_between(datetime.now(UTC).date(), since, until))
    settings = mine_settings(
        workspace.settings,
        workspace.settings.gates.min_chunk_len,
        replayed=workspace.replayed(),
        verdicts=read_judgments(workspace.judgments_dir).of_requests(),
    )
    rollups = mining.rollups(in_dir or workspace.records_dir, settings, workspace=workspace, check=True)
    _show(rollups, merge(rollups, days), days_text=f"{days.since} to {days.until}", as_json=as_json)


def _show(rollups: "list[Rollup]", window: "Window", *, days_text: str, as_json: bool) -> None:
    import orjson

    from coreloop.cli.show import counted, show_skipped

    n_records = window.n_records()
    if as_json:
        facts = {
            "n_files": len(rollups),
            "n_files_counted_before": sum(rollup.n_bytes_read is None for rollup in rollups),
            "n_bytes_read": sum(rollup.n_bytes_read or 0 for rollup in rollups),
            "n_records": n_records,
            "skipped": window.skipped,
        }
        click.echo(orjson.dumps(facts, option=orjson.OPT_INDENT_2).decode())
        return
    click.echo(f"{counted(n_records, 'record')} in {counted(len(rollups), 'file')}, {days_text}")
    show_skipped(window.skipped)
