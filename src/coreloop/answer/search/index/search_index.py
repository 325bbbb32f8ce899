"""Searching the index: BM25 chooses passages, which are ranked by their sentences, and shown in part."""

import json
import re
import sqlite3
from collections import Counter
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Final

from coreloop.answer.search.extract.document import clean_text
from coreloop.answer.search.index.run import reading, refresh_index, vectors_of
from coreloop.answer.search.provider import Empty, Failed, Found, SearchAnswer, SearchLimits, Source
from coreloop.answer.text.claims import split
from coreloop.answer.text.rank import prior, rank
from coreloop.answer.text.terms import is_cjk, term_set, terms
from coreloop.base.errors import ModelError, WorkspaceError
from coreloop.base.project.workspace import Workspace

if TYPE_CHECKING:
    from coreloop.answer.search.index.vectors import Vectors

_POOL: Final = 30  # passages that are ranked
_WIDER: Final = 4  # times as many are looked at, so that documents are among them before code and tests
_FUSED: Final = 60  # of reciprocal rank fusion (Cormack et al., 2009)
_LOOKED_AT: Final = 50  # chosen: several times what is shown, since symbols that a query names come first
MAX_QUERY_CHARS: Final = 500
MAX_WORDS: Final = 32
_COLUMNS: Final = """
    documents.title, documents.path, documents.type, documents.indexed_at, passages.kind,
        passages.heading, passages.text, passages."start", passages.line,
        passages.published
    FROM passages JOIN documents ON documents.id = passages.document_id
"""
_BEST: Final = """
    JOIN (
        SELECT rowid AS id, bm25({words}, {of_heading}, 1.0) AS score FROM {words} WHERE {words} MATCH ?
        ORDER BY score LIMIT ?
    ) AS best ON best.id = passages.id
    WHERE (passages.kind = 'schema') = ? ORDER BY best.score, passages.id
"""
_SCORED: Final = f"SELECT best.score, {_COLUMNS} {_BEST}"
_TEXTS: Final = _SCORED.format(words="passage_words", of_heading="2.0")
_DECLARED: Final = _SCORED.format(words="entry_words", of_heading="4.0")
SNIPPET_CHARS: Final = 160
_IDENTIFIER: Final = re.compile(r"[^\W\d]\w*(?:\.[^\W\d]\w*)*", re.ASCII)


def search_index(path: Path, query: str, most: int = 10, *, vectors: "Vectors | None" = None) -> list[Source]:
    """Return the passages that fit a query best; an empty list if none has any of its words.

    Parameters
    ----------
    query : str
        Text of a user: every text is accepted, and none is an error.
    vectors : Vectors or None
        Finds passages that are near without the words of the query, too.

    Raises
    ------
    WorkspaceError
        There is no index, or it cannot be read.
    ModelError
        The encoder of the vectors cannot be used.
    """
    with reading(path) as connection:
        found = _best(connection, _TEXTS, query, max(_POOL, most))
        counts = _counts(connection, query) if found else None
        near = vectors.nearest(connection, query[:MAX_QUERY_CHARS], _POOL) if vectors else []
        rows = [connection.execute(f"SELECT {_COLUMNS} WHERE passages.id = ?", (key,)) for key in near]
        meant = [_source(row.fetchone()) for row in rows]
    said = [found[hit.number - 1] for hit in rank(query[:MAX_QUERY_CHARS], found, counts=counts)]
    worth = Counter[Source]()
    for order in (said, meant):
        worth.update({source: 1 / (_FUSED + place) for place, source in enumerate(order)})
    return sorted(worth, key=lambda source: -worth[source])[:most]


def search_files(
    workspace: Workspace, query: str, most: int = 10, *, now: datetime
) -> tuple[list[Source], str]:
    """Return the passages that fit a query best, and how many changed files were not read, else "".

    Raises
    ------
    WorkspaceError
        The index cannot be read or written.
    """
    note = refresh_index(workspace, now=now)
    return search_index(workspace.index_file, query, most, vectors=vectors_of(workspace)), note


def find_declared(path: Path, query: str, most: int = 10, *, is_schema: bool = False) -> list[Source]:
    """Return the symbols, or the parts of declared schemas, that fit a question best, those it names first.

    The type of a symbol is ``symbol``, its title the qualified name; the text has a paragraph for each thing
    that the docstring says.
    """
    with reading(path) as connection:
        found = _best(connection, _DECLARED, query, _LOOKED_AT, is_schema=is_schema)
    return sorted(found, key=lambda source: not is_named(source, query))[:most]


def entry_named(path: Path, reference: str) -> Source | None:
    """Return a symbol (``shop.py::Order.total``) or a part of a schema (``a.sql#orders.total``), or None."""
    place = "documents.path || CASE passages.kind WHEN 'schema' THEN '' ELSE '::' END || passages.heading"
    statement = f"SELECT {_COLUMNS} WHERE {place} = ? AND passages.kind <> 'text'"
    with reading(path) as connection:
        row = connection.execute(statement, (reference,)).fetchone()
    return _source(row) if row else None


def public_functions(path: Path) -> list[tuple[str, bool]]:
    """Return the location of each public function of the index, and whether it is documented."""
    statement = """
        SELECT documents.path, heading, is_documented
        FROM passages JOIN documents ON documents.id = document_id WHERE kind = 'function'
    """
    with reading(path) as connection:
        rows = connection.execute(statement).fetchall()
    return [(place, bool(said)) for place, name, said in rows if not f".{name}".count("._")]


def is_named(source: Source, query: str) -> bool:
    """Return whether a question calls an entry by its name: ``Order.total`` or ``total``."""
    called = {name.casefold() for name in _IDENTIFIER.findall(query)}
    name = source.title.casefold()
    return name in called or re.split(r"[./#]", name)[-1] in called


def word_counts(path: Path, query: str) -> tuple[int, dict[str, int]] | None:
    """Return how many passages there are, and how many have each word of a query; None without an index."""
    if not path.exists():
        return None
    with reading(path) as connection:
        return _counts(connection, query)


def _best(
    connection: sqlite3.Connection, statement: str, query: str, most: int, *, is_schema: bool = False
) -> list[Source]:
    # only quoted words reach FTS5, so its operators mean nothing; a single syllable begins pairs of syllables
    words = (f'"{word}"{"*" * (len(word) == 1 and is_cjk(word))}' for word in _words(query))
    expression = " OR ".join(words)
    rows = connection.execute(statement, (expression, _WIDER * most, is_schema)) if expression else ()
    found = ((row["score"], _source(row)) for row in rows)  # the best score is the least
    return [source for _, source in sorted(found, key=lambda pair: pair[0] * prior(pair[1]))[:most]]


def _words(query: str) -> list[str]:
    return list(dict.fromkeys(terms(clean_text(query[:MAX_QUERY_CHARS]))))[:MAX_WORDS]


def _counts(connection: sqlite3.Connection, query: str) -> tuple[int, dict[str, int]]:
    (n_all,) = connection.execute("SELECT count(*) FROM passages WHERE kind = 'text'").fetchone()
    statement = "SELECT term, doc FROM passage_vocabulary WHERE term IN (SELECT value FROM json_each(?))"
    return n_all, dict(connection.execute(statement, (json.dumps(_words(query)),)).fetchall())


def _source(row: sqlite3.Row) -> Source:
    return Source(
        title=row["heading"] or row["title"] or row["path"],
        location=row["path"],
        type="symbol" if row["kind"] in {"class", "function"} else row["type"],
        text=row["text"],
        retrieved_at=datetime.fromisoformat(row["indexed_at"]),
        published=row["published"] or None,
        start=row["start"],
        line=row["line"] or None,
        provider="index",
    )


@dataclass(frozen=True, slots=True)
class IndexProvider:
    """Searches the files that ``dartlab-coreloop index`` has read; several threads may share it.

    Parameters
    ----------
    path : Path
        The index, see `coreloop.base.project.workspace.Workspace.index_file`.
    vectors : Vectors or None
        See `search_index`.
    """

    path: Path
    vectors: "Vectors | None" = None
    name: str = "index"

    def search(self, query: str, limits: SearchLimits) -> SearchAnswer:
        """Search once; without an index the answer is `Failed` and says how to make one."""
        try:
            sources = search_index(self.path, query, limits.max_results, vectors=self.vectors)
        except (WorkspaceError, ModelError) as error:
            return Failed(str(error), is_retryable=False)
        return Found(tuple(sources)) if sources else Empty()


def cut_snippet(source: Source, query: str) -> str:
    """Return the part of a source's text, from a sentence on, with the most words of a query."""
    parts = [source.text[first : first + SNIPPET_CHARS] for first, _ in split(source.text)]
    wanted = term_set(query)
    return max(parts, key=lambda part: len(wanted & term_set(part)), default=source.text[:SNIPPET_CHARS])
