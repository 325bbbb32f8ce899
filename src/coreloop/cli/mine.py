"""``dartlab-coreloop mine``."""

from dataclasses import asdict
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING

import click

from coreloop.base.project.workspace import open_workspace
from coreloop.cli.emit import emit, fields_of
from coreloop.cli.mining_options import mining_options, watched
from coreloop.cli.options import days_between, json_option, window_options

if TYPE_CHECKING:
    from coreloop.learn.mine.run import MineResult, MiningOptions


@click.command()
@window_options
@mining_options
@json_option
def command(since: date | timedelta, until: date | timedelta, mining: "MiningOptions", as_json: bool) -> None:
    """Read the records into the facts that the other commands use.

    A file's facts are its records as columns. All files are read; --since and --until only limit the report.
    Verifies all stored facts and reads damaged ones again. Exits 1 if they cannot be written.
    """
    from coreloop.base.date_range import Days
    from coreloop.learn.mine.run import run_mine

    workspace = open_workspace(Path.cwd())
    days = Days(*days_between(datetime.now(UTC).date(), since, until))
    result = run_mine(workspace, days, mining, watch=watched())
    facts = {
        "n_files": result.n_files,
        "n_files_counted_before": result.n_reused,
        **fields_of(result, "n_bytes_read", "n_records"),
        **asdict(result.oddities),
    }
    emit(facts, as_json=as_json, text=lambda _: _show(result))
    click.get_current_context().exit(1 if result.not_cached else 0)


def _show(result: "MineResult") -> None:
    from coreloop.base.messages import number_of
    from coreloop.cli.mining_options import show_oddities

    click.echo(
        f"{number_of(result.n_records, 'record')} in {number_of(result.n_files, 'file')}, "
        f"{result.days.since} to {result.days.until}"
    )
    show_oddities(result.oddities)
