"""A folder of day files -> their rollups."""

from collections.abc import Iterable
from datetime import date
from pathlib import Path

from coreloop.errors import WorkspaceError
from coreloop.mine.rollup import EPOCH_DAY, MineSettings, Rollup, roll_up


def roll_up_folder(folder: Path, settings: MineSettings) -> list[Rollup]:
    """Roll up every ``*.jsonl`` of a folder, in the order of the names.

    Raises
    ------
    WorkspaceError
        The folder or a file in it cannot be read.
    """
    if not folder.is_dir():
        raise WorkspaceError(
            "no such folder; record requests with AuditCollector, or name the folder with --in-dir",
            path=folder,
        )
    rollups = []
    for path in sorted(folder.glob("*.jsonl")):
        try:
            rollups.append(roll_up(path, settings))
        except OSError as error:
            raise WorkspaceError(f"cannot be read ({error.strerror})", path=path) from error
    return rollups


def expired(rollups: Iterable[Rollup], *, before: date) -> list[Path]:
    """Files whose newest record is older than a day; one without a readable record is never among them."""
    limit = (before - EPOCH_DAY).days
    newest = ((rollup.path, rollup.groups["day"].max()) for rollup in rollups if rollup.groups.height)
    return [path for path, day in newest if isinstance(day, int) and day < limit]
