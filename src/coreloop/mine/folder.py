"""A folder of day files -> their rollups."""

import re
from collections.abc import Iterable
from datetime import date, timedelta
from pathlib import Path
from typing import Final

from coreloop.errors import WorkspaceError
from coreloop.mine.rollup import EPOCH_DAY, MineSettings, Rollup, roll_up

_DAY_FILE: Final = re.compile(r"\d{4}-\d\d-\d\d\.jsonl")


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
    for path in _day_files(folder):
        try:
            rollups.append(roll_up(path, settings))
        except OSError as error:
            raise WorkspaceError(f"cannot be read ({error.strerror})", path=path) from error
    return rollups


def _day_files(folder: Path) -> list[Path]:
    """Every ``*.jsonl`` in the order of the names; a folder of that name is none, a pipe is refused."""
    try:
        paths = sorted(path for path in folder.iterdir() if path.suffix == ".jsonl" and not path.is_dir())
    except OSError as error:
        raise WorkspaceError(f"cannot be read ({error.strerror})", path=folder) from error
    odd = next((path for path in paths if path.exists() and not path.is_file()), None)
    if odd is not None:  # a pipe would be waited for without end
        raise WorkspaceError("is no regular file; move it away", path=odd)
    return paths


def newest_day(rollups: Iterable[Rollup]) -> date | None:
    """UTC day of the newest record; None when there is none."""
    days = [day for rollup in rollups if (day := _newest(rollup)) is not None]
    return EPOCH_DAY + timedelta(days=max(days)) if days else None


def expired(rollups: Iterable[Rollup], *, before: date) -> list[Path]:
    """Day files (``YYYY-MM-DD.jsonl``) whose newest record is older than a day.

    One without a readable record, or with records of a newer version, is never among them.
    """
    limit = (before - EPOCH_DAY).days
    return [
        rollup.path
        for rollup in rollups
        if _DAY_FILE.fullmatch(rollup.path.name)
        and (day := _newest(rollup)) is not None
        and day < limit
        and not any(reason.startswith("schema version") for reason in rollup.skipped)
    ]


def remove(path: Path) -> None:
    """Remove a file of records for good.

    Raises
    ------
    WorkspaceError
        It cannot be removed.
    """
    try:
        path.unlink(missing_ok=True)
    except OSError as error:
        raise WorkspaceError(f"cannot be removed ({error.strerror})", path=path) from error


def _newest(rollup: Rollup) -> int | None:
    day = rollup.groups["day"].max()
    return day if isinstance(day, int) else None
