"""The knowledge database: opened for reading or writing, and its rows as SQLite takes them."""

import json
import sqlite3
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

from coreloop import sqlite
from coreloop.errors import WorkspaceError
from coreloop.knowledge.schema import KNOWLEDGE
from coreloop.records import encodable

_ABSENT: Final = "does not exist; `backfill-blog --confirm` makes it"


@contextmanager
def reading(path: Path) -> Iterator[sqlite3.Connection]:
    """Open a database to read it; the file stays as it is.

    A database of an older version is read through a copy in memory that is migrated.

    Raises
    ------
    WorkspaceError
        There is no such file, it is no knowledge database, or one of a newer version.
    """
    if not path.exists():
        raise WorkspaceError(_ABSENT, path=path)
    with sqlite.reader(path, KNOWLEDGE, now=datetime.now(UTC)) as connection:
        yield connection


@contextmanager
def writing(path: Path) -> Iterator[sqlite3.Connection]:
    """Open a database to write to it; it is made, or migrated, where that is needed.

    Several processes may do so at once: each waits for the others' transactions.

    Raises
    ------
    WorkspaceError
        It is no knowledge database, one of a newer version, cannot be written, or another process has been
        writing for longer than `coreloop.sqlite.BUSY_TIMEOUT_S`.
    """
    with sqlite.writer(path, KNOWLEDGE, now=datetime.now(UTC)) as connection:
        yield connection


def storable(row: Mapping[str, Any]) -> dict[str, Any]:
    """A row as SQLite takes it: lists and mappings as JSON, half characters replaced."""
    return {name: _storable(value) for name, value in row.items()}


def _storable(value: Any) -> Any:
    if isinstance(value, list | tuple | Mapping):
        parts = dict(value) if isinstance(value, Mapping) else value
        value = json.dumps(parts, ensure_ascii=False)
    return encodable(value) if isinstance(value, str) else value
