"""Searching the index: BM25 chooses passages, which are ranked by their sentences."""

import json
import sqlite3
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import date, datetime
from pathlib import Path
from typing import Final

from coreloop.answer.search.extract.decode import clean_text
from coreloop.answer.search.index.store import reading
from coreloop.answer.search.provider import Empty, Failed, Found, SearchAnswer, SearchLimits
from coreloop.answer.search.source import Source
from coreloop.answer.text.rank import rank
from coreloop.answer.text.terms import is_cjk, terms
from coreloop.base.errors import SearchTimeoutError, WorkspaceError

_WEIGHTS: Final = "2.0, 1.0"
"""Of heading and words."""
_POOL: Final = 30
"""Passages that are ranked."""
MAX_QUERY_CHARS: Final = 500
MAX_WORDS: Final = 32
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
            pool = max(_POOL, limits.max_results)
            found = [_source(row) for row in connection.execute(_BEST, (expression, pool))]
            counts = _counts(connection, query)
    hits = rank(query[:MAX_QUERY_CHARS], found, counts=counts)
    return [found[hit.number - 1] for hit in hits[: limits.max_results]]


def word_counts(path: Path, query: str) -> tuple[int, dict[str, int]] | None:
    """Return how many passages there are, and how many have each word of a query; None without an index."""
    if not path.exists():
        return None
    with reading(path) as connection:
        return _counts(connection, query)


def match_expression(query: str) -> str | None:
    """Return an FTS5 expression for the text of a user; None if it has no words.

    Only quoted words reach FTS5, so its operators in the text (``NEAR``, ``*``, quotes) mean nothing.
    """
    words = list(dict.fromkeys(terms(clean_text(query[:MAX_QUERY_CHARS]))))[:MAX_WORDS]
    # of one syllable there is no pair: it begins some
    return " OR ".join(f'"{word}"{"*" * (len(word) == 1 and is_cjk(word))}' for word in words) or None


def _counts(connection: sqlite3.Connection, query: str) -> tuple[int, dict[str, int]]:
    (n_all,) = connection.execute("SELECT count(*) FROM passages").fetchone()
    words = json.dumps(list(dict.fromkeys(terms(query[:MAX_QUERY_CHARS])))[:MAX_WORDS])
    statement = "SELECT term, doc FROM passage_vocabulary WHERE term IN (SELECT value FROM json_each(?))"
    return n_all, dict(connection.execute(statement, (words,)).fetchall())


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


@dataclass(frozen=True, slots=True)
class IndexProvider:
    """Searches the files that ``dartlab-coreloop index`` has read; several threads may share it.

    Parameters
    ----------
    path : Path
        The index, see `coreloop.base.project.workspace.Workspace.index_file`.
    """

    path: Path
    name: str = "index"

    def search(self, query: str, limits: SearchLimits) -> SearchAnswer:
        """Search once; without an index the answer is `Failed` and says how to make one."""
        try:
            sources = search_index(self.path, query, limits)
        except SearchTimeoutError as error:
            return Failed(str(error))
        except WorkspaceError as error:
            return Failed(str(error), is_retryable=False)
        return Found(tuple(sources)) if sources else Empty()
