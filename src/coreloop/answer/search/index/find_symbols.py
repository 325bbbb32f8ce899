"""Searching what files declare: symbols of code, and parts of schemas."""

import re
import sqlite3
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Final

from coreloop.answer.search.index.search_index import bounded, match_expression
from coreloop.answer.search.index.store import reading
from coreloop.answer.search.provider import SearchLimits
from coreloop.answer.search.source import Source

_WEIGHTS: Final = "4.0, 1.0"
"""Of name and words."""
_COLUMNS: Final = """
    SELECT documents.path, documents.indexed_at, entries.kind, entries.name, entries.text, entries.line
    FROM entries JOIN documents ON documents.id = entries.document_id
"""
_BEST: Final = f"""
    {_COLUMNS} JOIN (
        SELECT rowid AS id, bm25(entry_words, {_WEIGHTS}) AS score FROM entry_words
        WHERE entry_words MATCH ? ORDER BY score LIMIT ?
    ) AS best ON best.id = entries.id
    WHERE (entries.kind = 'schema') = ? ORDER BY best.score, entries.id
"""
_LOOKED_AT: Final = 50  # chosen: several times what is shown, since those that a query names come first
_IDENTIFIER: Final = re.compile(r"[^\W\d]\w*(?:\.[^\W\d]\w*)*", re.ASCII)


def find_symbols(path: Path, query: str, limits: SearchLimits) -> list[Source]:
    """Return the symbols that fit a question best; those that it names come first.

    Parameters
    ----------
    query : str
        Text of a user: every text is accepted, and none is an error.

    Returns
    -------
    list of Source
        Of the type ``symbol``; the title is the qualified name, the text has a paragraph for each thing that
        the docstring says.

    Raises
    ------
    WorkspaceError
        There is no index, or it cannot be read.
    SearchTimeoutError
        The time is up.
    """
    return _find(path, query, limits, is_schema=False)


def find_fields(path: Path, query: str, limits: SearchLimits) -> list[Source]:
    """Return the parts of declared schemas that fit a question best, as `find_symbols` does."""
    return _find(path, query, limits, is_schema=True)


def entry_named(path: Path, location: str, name: str) -> Source | None:
    """Return an entry of a file by its name, or None."""
    with reading(path) as connection:
        row = connection.execute(
            f"{_COLUMNS} WHERE documents.path = ? AND entries.name = ?", (location, name)
        ).fetchone()
    return _source(row) if row else None


@dataclass(frozen=True, slots=True)
class IndexedFunction:
    """A function of an indexed file; see `coreloop.answer.search.extract.document.Entry`."""

    location: str
    name: str
    is_public: bool
    is_documented: bool


def read_functions(path: Path) -> list[IndexedFunction]:
    """Return all functions that the index has, by file and line.

    Raises
    ------
    WorkspaceError
        There is no index, or it cannot be read.
    """
    statement = """
        SELECT documents.path, entries.name, is_public, is_documented
        FROM entries JOIN documents ON documents.id = entries.document_id
        WHERE entries.kind = 'function' ORDER BY documents.path, entries.line
    """
    with reading(path) as connection:
        return [
            IndexedFunction(location, name, bool(public), bool(documented))
            for location, name, public, documented in connection.execute(statement)
        ]


def is_named(source: Source, query: str) -> bool:
    """Return whether a question calls an entry by its name: ``Order.total`` or ``total``."""
    called = {name.casefold() for name in _IDENTIFIER.findall(query)}
    name = source.title.casefold()
    return name in called or re.split(r"[./#]", name)[-1] in called


def _find(path: Path, query: str, limits: SearchLimits, *, is_schema: bool) -> list[Source]:
    expression = match_expression(query)
    with reading(path) as connection:
        if expression is None:
            return []
        with bounded(connection, limits.timeout_s):
            rows = connection.execute(_BEST, (expression, _LOOKED_AT, is_schema)).fetchall()
    sources = sorted(map(_source, rows), key=lambda source: not is_named(source, query))
    return sources[: limits.max_results]


def _source(row: sqlite3.Row) -> Source:
    return Source(
        title=row["name"],
        location=row["path"],
        type="schema" if row["kind"] == "schema" else "symbol",
        text=row["text"],
        retrieved_at=datetime.fromisoformat(row["indexed_at"]),
        line=row["line"],
        provider="index",
    )
