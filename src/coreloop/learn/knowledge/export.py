"""Export of the shareable tables as JSON files: insights and playbook, never executions."""

import sqlite3
from collections.abc import Sequence
from pathlib import Path
from typing import Final

import orjson

from coreloop.base.files import write_private
from coreloop.learn.knowledge.insights import all_insights
from coreloop.learn.knowledge.playbook import bullets

_SCHEMA_VERSION: Final = 1
_OPTIONS: Final = orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE


def export_json(connection: sqlite3.Connection, folder: Path) -> dict[Path, int]:
    """Write ``insights.json`` and ``playbook.json``; the same rows give the same bytes.

    Parameters
    ----------
    connection : sqlite3.Connection
        Of `coreloop.learn.knowledge.store.reading`.
    folder : Path
        Target folder; existing files of these names are replaced.

    Returns
    -------
    dict of Path to int
        File -> number of rows in it.

    Raises
    ------
    WorkspaceError
        A file cannot be written.
    """
    parts: dict[str, Sequence[object]] = {
        "insights": all_insights(connection),
        "playbook": bullets(connection),
    }
    row_counts = {}
    for name, rows in parts.items():
        path = folder / f"{name}.json"
        write_private(path, orjson.dumps({"schema_version": _SCHEMA_VERSION, name: rows}, option=_OPTIONS))
        row_counts[path] = len(rows)
    return row_counts
