"""Opening the knowledge database for reading or writing, and converting rows for SQLite."""

import json
import sqlite3
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

from coreloop.base import sqlite
from coreloop.base.errors import WorkspaceError
from coreloop.base.records import encodable
from coreloop.learn.knowledge.schema import knowledge_schema

_ABSENT: Final = "does not exist; `backfill-blog --confirm` creates it"


@contextmanager
def reading(path: Path) -> Iterator[sqlite3.Connection]:
    """Open a database for reading, without changing the file.

    A database of dartlab is read through a converted copy in memory.

    Raises
    ------
    WorkspaceError
        The file does not exist, is not a knowledge database, or has another version.
    """
    if not path.exists():
        raise WorkspaceError(_ABSENT, path=path)
    with sqlite.reader(path, knowledge_schema(datetime.now(UTC))) as connection:
        yield connection


@contextmanager
def writing(path: Path) -> Iterator[sqlite3.Connection]:
    """Open a database for writing; it is created, or converted from dartlab's, if necessary.

    Several processes may write at once: each waits for the transactions of the others.

    Raises
    ------
    WorkspaceError
        The file is not a knowledge database, has another version or is not writable, or another process has
        been writing for longer than `coreloop.base.sqlite.BUSY_TIMEOUT_S`.
    """
    with sqlite.writer(path, knowledge_schema(datetime.now(UTC))) as connection:
        yield connection


def storable(row: Mapping[str, Any]) -> dict[str, Any]:
    """Convert a row for SQLite: lists and mappings to JSON, lone surrogates replaced."""
    return {name: _storable(value) for name, value in row.items()}


def _storable(value: Any) -> Any:
    if isinstance(value, list | tuple | Mapping):
        parts = dict(value) if isinstance(value, Mapping) else value
        value = json.dumps(parts, ensure_ascii=False)
    return encodable(value) if isinstance(value, str) else value
