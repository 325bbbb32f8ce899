"""Searching the index: the passages that fit a query best, by BM25."""

import sqlite3
import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import date, datetime
from pathlib import Path
from typing import Final

from coreloop.answer.search.index.store import reading
from coreloop.answer.search.index.terms import match_expression
from coreloop.answer.search.provider import SearchLimits
from coreloop.answer.search.source import Source
from coreloop.base.errors import SearchTimeoutError

_WEIGHTS: Final = "4.0, 2.0, 1.0"
"""Of heading, words and bigrams."""
_BEST: Final = f"""
    SELECT documents.title, documents.path, documents.type, documents.indexed_at,
        passages.heading, passages.text, passages."start", passages.line,
        coalesce(nullif(passages.published, ''), documents.published) AS published
    FROM (
        SELECT rowid AS id, bm25(passage_words, {_WEIGHTS}) AS score FROM passage_words
        WHERE passage_words MATCH ? ORDER BY score LIMIT ?
    ) AS best
    JOIN passages ON passages.id = best.id
    JOIN documents ON documents.id = passages.document_id
    ORDER BY best.score, passages.id
"""
_STEPS_BETWEEN_LOOKS: Final = 10_000  # of SQLite's machine: a millisecond or less between looks at the clock


def search_index(path: Path, query: str, limits: SearchLimits) -> list[Source]:
    """Return the passages that fit a query best; an empty list if none has any of its words.

    Parameters
    ----------
    query : str
        Text of a user: every text is accepted, and none is an error.

    Raises
    ------
    WorkspaceError
        There is no index, or it cannot be read.
    SearchTimeoutError
        The time is up.
    """
    expression = match_expression(query)
    with reading(path) as connection:
        if expression is None:
            return []
        with bounded(connection, limits.timeout_s):
            return [_source(row) for row in connection.execute(_BEST, (expression, limits.max_results))]


@contextmanager
def bounded(connection: sqlite3.Connection, timeout_s: float) -> Iterator[None]:
    """Interrupt statements that take longer than a time.

    Raises
    ------
    SearchTimeoutError
        The time is up.
    """
    deadline = time.monotonic() + timeout_s
    connection.set_progress_handler(lambda: time.monotonic() > deadline, _STEPS_BETWEEN_LOOKS)
    try:
        yield
    except sqlite3.OperationalError as error:
        if error.sqlite_errorcode != sqlite3.SQLITE_INTERRUPT:
            raise
        raise SearchTimeoutError(f"the search of the index took longer than {timeout_s:g} s") from error


def _source(row: sqlite3.Row) -> Source:
    return Source(
        title=row["heading"] or row["title"] or row["path"],
        location=row["path"],
        type=row["type"],
        text=row["text"],
        retrieved_at=datetime.fromisoformat(row["indexed_at"]),
        published=date.fromisoformat(row["published"]) if row["published"] else None,
        start=row["start"],
        line=row["line"],
        provider="index",
    )
