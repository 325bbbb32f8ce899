"""Bringing the index up to date with files, in short transactions."""

import sqlite3
from collections.abc import Collection, Iterable, Iterator, Sequence
from datetime import datetime
from pathlib import Path
from typing import Final

from coreloop.answer.search.index.changes import Change, Comparison, Drop, IndexReport, Put
from coreloop.answer.search.index.store import known_files, place_document, put_document, remove_document
from coreloop.base import sqlite

_BATCH_CHARS: Final = 8_000_000
_CHANGE_CHARS: Final = 1_000
"""What a change without text counts as."""


def update_index(
    connection: sqlite3.Connection,
    starts: Sequence[Path],
    *,
    root: Path,
    data_dir: Path,
    now: datetime,
    schemas: Collection[str] = (),
) -> IndexReport:
    """Index the files at or below some paths; documents elsewhere stay as they are.

    A killed process leaves every document either old or new. The next run completes the work.

    Parameters
    ----------
    connection : sqlite3.Connection
        Open for writing; no other process updates the index.
    starts : sequence of Path
        Absolute and resolved.
    root, data_dir : Path
        The project and its data folder, which is ignored unless a start is in it.
    now : datetime
        With a time zone.
    schemas : collection of str
        Locations of declared schemas.

    Raises
    ------
    WorkspaceError
        A start does not exist, and no document came from it.
    """
    report = IndexReport()
    comparison = Comparison(known_files(connection), root, data_dir, report, schemas)
    for batch in _batches(comparison.changes(starts)):
        with sqlite.transaction(connection):
            for change in batch:
                _apply(connection, change, now)
        report.counts.update(change.kind for change in batch)
    return report


def _apply(connection: sqlite3.Connection, change: Change, now: datetime) -> None:
    if isinstance(change, Drop):
        remove_document(connection, change.known_id)
    elif isinstance(change, Put):
        put_document(connection, change.file, change.document, known_id=change.known_id, now=now)
    else:
        place_document(connection, change.file, known_id=change.known_id, now=now)


def _batches(changes: Iterable[Change]) -> Iterator[list[Change]]:
    batch: list[Change] = []
    size = 0
    for change in changes:
        batch.append(change)
        size += len(change.document.text) if isinstance(change, Put) else _CHANGE_CHARS
        if size > _BATCH_CHARS:
            yield batch
            batch, size = [], 0
    if batch:
        yield batch
