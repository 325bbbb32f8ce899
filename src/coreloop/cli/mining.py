"""How a command gets its rollups: from the cache or counted, by how many processes, here or on a cluster."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import wraps
from typing import TYPE_CHECKING, Any

import click

from coreloop.mine.address import Folder
from coreloop.project.workspace import Workspace

if TYPE_CHECKING:
    from coreloop.mine.rollup import MineSettings, Rollup


@dataclass(frozen=True, slots=True)
class Mining:
    """What ``--jobs``, ``--no-cache`` and ``--scheduler`` say."""

    jobs: int | None = None
    no_cache: bool = False
    scheduler: str | None = None

    def rollups(
        self,
        folder: Folder,
        settings: "MineSettings",
        *,
        workspace: Workspace,
        check: bool = False,
        quiet: bool = False,
    ) -> "list[Rollup]":
        """Roll up a folder and, but for ``quiet``, say on stderr what was there already.

        The rollups last as long as the command. Where they cannot be written, all is counted in memory.
        """
        from coreloop.errors import NotKeptError
        from coreloop.mine.folder import day_files, roll_up_folder
        from coreloop.mine.shelf import open_shelf
        from coreloop.mine.workers import Workers

        day_files(folder)  # an error here must leave no folder behind
        context = click.get_current_context()
        kept_in = None if self.no_cache else workspace.rollups_dir
        try:
            shelf = context.with_resource(open_shelf(kept_in, settings, check=check))
            rollups = roll_up_folder(
                folder, settings, shelf=shelf, workers=Workers(self.jobs, self.scheduler)
            )
        except NotKeptError as error:
            click.echo(f"rollups are not kept: {error}", err=True)
            return roll_up_folder(folder, settings)
        context.call_on_close(lambda: shelf.sweep(folder))
        if not quiet:
            _say(rollups)
        return rollups


def mining_options(command: Callable[..., None]) -> Callable[..., None]:
    """``--jobs``, ``--no-cache`` and ``--scheduler``, given to the command as ``mining``."""

    @click.option("--jobs", type=click.IntRange(1), help="Processes that count.  [default: one per core]")
    @click.option("--no-cache", is_flag=True, help="Count everything again, and keep nothing.")
    @click.option("--scheduler", metavar="ADDRESS", help="A Dask cluster that counts: tcp://host:8786.")
    @wraps(command)
    def with_mining(
        *args: Any, jobs: int | None, no_cache: bool, scheduler: str | None, **options: Any
    ) -> None:
        command(*args, mining=Mining(jobs, no_cache, scheduler), **options)

    return with_mining


def _say(rollups: "list[Rollup]") -> None:
    n_reused = sum(rollup.n_bytes_read is None for rollup in rollups)
    if n_reused:
        megabytes = sum(rollup.n_bytes_read or 0 for rollup in rollups) / 1e6
        click.echo(
            f"{n_reused} of {len(rollups)} files were counted before; read {megabytes:,.1f} MB", err=True
        )
