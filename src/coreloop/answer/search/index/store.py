"""The database of the index: opening it, and the statements that add, move and remove documents."""

import json
import sqlite3
from collections.abc import Collection, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import date, datetime
from pathlib import Path
from typing import Final

from coreloop.answer.search.extract.document import Document
from coreloop.answer.search.extract.file_date import date_in_name, document_date
from coreloop.answer.search.extract.split_passages import Passage, split_passages
from coreloop.answer.text.terms import terms
from coreloop.base import sqlite
from coreloop.base.errors import DamagedDatabaseError, WorkspaceError

_ENTRY: Final = """
    INSERT INTO entries (document_id, kind, name, line, text, is_public, is_documented)
    VALUES (?, ?, ?, ?, ?, ?, ?)
"""
_ENTRY_WORDS: Final = "INSERT INTO entry_words (rowid, heading, words) VALUES (?, ?, ?)"
_REMOVED: Final = "INSERT INTO entry_words (entry_words, rowid, heading, words) VALUES ('delete', ?, ?, ?)"


def add_entries(connection: sqlite3.Connection, document_id: int | None, document: Document) -> None:
    """Add what a document declares."""
    for entry in document.entries:
        values = (document_id, entry.kind, entry.name, entry.line, entry.text)
        row = connection.execute(_ENTRY, (*values, entry.is_public, entry.is_documented))
        connection.execute(_ENTRY_WORDS, (row.lastrowid, *_words(entry.name, entry.text)))


def remove_entries(connection: sqlite3.Connection, document_id: int) -> None:
    """Remove what a document declares."""
    rows = connection.execute("SELECT id, name, text FROM entries WHERE document_id = ?", (document_id,))
    connection.executemany(_REMOVED, [(key, *_words(name, text)) for key, name, text in rows])
    connection.execute("DELETE FROM entries WHERE document_id = ?", (document_id,))


NO_INDEX: Final = "no index yet; run `dartlab-coreloop index`"
_SCRIPT: Final = """
-- A file. Its id stays when the file changes or moves.
CREATE TABLE documents (
    id INTEGER PRIMARY KEY,
    path TEXT NOT NULL UNIQUE,      -- relative to the project with /, or absolute outside of it
    type TEXT NOT NULL,             -- markdown, text, html, python, pdf
    title TEXT NOT NULL,            -- empty if the file states none
    hash TEXT NOT NULL,             -- SHA-256 of the bytes
    size_bytes INTEGER NOT NULL,
    mtime_ns INTEGER NOT NULL,      -- with the size, decides whether the file is read again
    indexed_at TEXT NOT NULL,       -- ISO 8601, UTC
    published TEXT NOT NULL DEFAULT ''  -- ISO date by its front matter, first heading or name, or ""
);
CREATE INDEX documents_by_hash ON documents (hash);

-- start and end count characters of the file's text, which has neither control nor invisible characters.
CREATE TABLE passages (
    id INTEGER PRIMARY KEY,
    document_id INTEGER NOT NULL REFERENCES documents (id) ON DELETE CASCADE,
    "start" INTEGER NOT NULL,
    "end" INTEGER NOT NULL,
    line INTEGER NOT NULL,          -- of the file, from 1; of a PDF the page
    heading TEXT NOT NULL,
    text TEXT NOT NULL,
    published TEXT NOT NULL DEFAULT ''  -- ISO date by its heading, or ""
);
CREATE INDEX passages_by_document ON passages (document_id);

-- Words of passages, rowid = passages.id, see coreloop.answer.text.terms. It keeps no text of its own: FTS5's
-- 'delete' command removes a row when it is given the same words, so a change of how words are made needs a
-- new version.
CREATE VIRTUAL TABLE passage_words USING fts5(
    heading, words, content='', tokenize="unicode61 remove_diacritics 2 tokenchars '_-.+#'"
);
CREATE VIRTUAL TABLE passage_vocabulary USING fts5vocab(passage_words, row);

-- What files declare: symbols of code, and parts of schemas.
CREATE TABLE entries (
    id INTEGER PRIMARY KEY,
    document_id INTEGER NOT NULL REFERENCES documents (id) ON DELETE CASCADE,
    kind TEXT NOT NULL,             -- class, function, schema
    name TEXT NOT NULL,             -- qualified in its module; of a schema # and where it stands
    line INTEGER NOT NULL,
    text TEXT NOT NULL,             -- signature, parameters, fields: a line each
    is_public INTEGER NOT NULL,
    is_documented INTEGER NOT NULL
);
CREATE INDEX entries_by_document ON entries (document_id);
CREATE INDEX entries_by_name ON entries (name);

-- As passage_words; rowid = entries.id.
CREATE VIRTUAL TABLE entry_words USING fts5(
    heading, words, content='', tokenize="unicode61 remove_diacritics 2 tokenchars '_-.+#'"
);

-- Files that had no text when they were last read: they are not read again before they change.
CREATE TABLE unread_files (
    path TEXT PRIMARY KEY,
    size_bytes INTEGER NOT NULL,
    mtime_ns INTEGER NOT NULL,
    reason TEXT NOT NULL
) WITHOUT ROWID;
"""
_TABLES: Final = frozenset({"documents", "passages", "passage_words"})


INDEX: Final = sqlite.Schema("index", _SCRIPT, sqlite.with_tables(_TABLES), version=5)
_PUT: Final = """
    INSERT INTO documents (id, path, type, title, hash, size_bytes, mtime_ns, indexed_at, published)
    VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)
    ON CONFLICT (id) DO UPDATE SET
        path = excluded.path, type = excluded.type, title = excluded.title, hash = excluded.hash,
        size_bytes = excluded.size_bytes, mtime_ns = excluded.mtime_ns, indexed_at = excluded.indexed_at,
        published = excluded.published
"""
_PASSAGE: Final = (
    'INSERT INTO passages (document_id, "start", "end", line, heading, text, published) '
    "VALUES (?, ?, ?, ?, ?, ?, ?)"
)
_WORDS: Final = "INSERT INTO passage_words (rowid, heading, words) VALUES (?, ?, ?)"
_REMOVED_WORDS: Final = (
    "INSERT INTO passage_words (passage_words, rowid, heading, words) VALUES ('delete', ?, ?, ?)"
)


@dataclass(frozen=True, slots=True)
class FileState:
    """A file as it is now; ``path`` is its location, see `coreloop.answer.search.source.Source`."""

    path: str
    hash: str
    size_bytes: int
    mtime_ns: int


@dataclass(frozen=True, slots=True)
class KnownFile:
    """A document's file when it was last read."""

    id: int
    path: str
    hash: str
    size_bytes: int
    mtime_ns: int
    indexed_at: str


@dataclass(frozen=True, slots=True)
class UnreadFile:
    """A file that had no text when it was last read, and why."""

    path: str
    size_bytes: int
    mtime_ns: int
    reason: str


@contextmanager
def reading(path: Path) -> Iterator[sqlite3.Connection]:
    """Open an index for searching; its file is not changed.

    Raises
    ------
    WorkspaceError
        There is no index, it has another version, or it cannot be read.
    """
    if not path.exists():
        raise WorkspaceError(NO_INDEX, path=path)
    with _with_remedy(path), sqlite.reader(path, INDEX) as connection:
        yield connection


def require_index(path: Path) -> None:
    """Refuse an index that cannot be searched, before any work is done.

    Raises
    ------
    WorkspaceError
        As `reading`.
    """
    with reading(path):
        pass


@contextmanager
def writing(path: Path) -> Iterator[sqlite3.Connection]:
    """Open an index for changes; it is created if necessary. Searches go on.

    Raises
    ------
    WorkspaceError
        The file is not an index, has another version, or cannot be written.
    """
    with _with_remedy(path), sqlite.writer(path, INDEX) as connection:
        connection.execute(
            "PRAGMA synchronous = NORMAL"
        )  # a power failure may lose the last commits, no more
        yield connection


@contextmanager
def _with_remedy(path: Path) -> Iterator[None]:
    try:
        yield
    except DamagedDatabaseError as error:
        remedy = "is damaged; delete it and run `dartlab-coreloop index` again"
        raise WorkspaceError(remedy, path=path) from error


def known_files(
    connection: sqlite3.Connection, *, only: Collection[str] | None = None
) -> dict[str, KnownFile]:
    """Return every document's file, or those at some paths, by its path."""
    rows = connection.execute(
        "SELECT id, path, hash, size_bytes, mtime_ns, indexed_at FROM documents "
        "WHERE ? OR path IN (SELECT value FROM json_each(?))",
        (only is None, json.dumps(sorted(only or ()))),
    )
    return {row[1]: KnownFile(*row) for row in rows}


def unread_files(connection: sqlite3.Connection) -> dict[str, UnreadFile]:
    """Return the files that had no text, by path."""
    rows = connection.execute("SELECT path, size_bytes, mtime_ns, reason FROM unread_files")
    return {row[0]: UnreadFile(*row) for row in rows}


def put_unread(connection: sqlite3.Connection, file: UnreadFile) -> None:
    """Remember a file without text."""
    values = (file.path, file.size_bytes, file.mtime_ns, file.reason)
    connection.execute("INSERT OR REPLACE INTO unread_files VALUES (?, ?, ?, ?)", values)


def put_document(
    connection: sqlite3.Connection,
    file: FileState,
    document: Document,
    *,
    known_id: int | None,
    now: datetime,
) -> None:
    """Add a document, or replace what is stored of it; its id stays."""
    if known_id is not None:
        _remove_passages(connection, known_id)
        remove_entries(connection, known_id)
    connection.execute("DELETE FROM unread_files WHERE path = ?", (file.path,))
    published = _iso(document_date(document, file.path))
    values = (known_id, file.path, document.type, document.title, *_state(file, now), published)
    inserted = connection.execute(_PUT, values).lastrowid
    _add_passages(connection, known_id or inserted, split_passages(document))
    add_entries(connection, known_id or inserted, document)


def place_document(connection: sqlite3.Connection, file: FileState, *, known_id: int, now: datetime) -> None:
    """Store where a document is now, and its file's size and time; its text is the same."""
    connection.execute(
        "UPDATE documents SET path = ?, hash = ?, size_bytes = ?, mtime_ns = ?, indexed_at = ? WHERE id = ?",
        (file.path, *_state(file, now), known_id),
    )


def remove_document(connection: sqlite3.Connection, known_id: int) -> None:
    """Remove a document and all that came from it."""
    _remove_passages(connection, known_id)
    remove_entries(connection, known_id)
    connection.execute("DELETE FROM documents WHERE id = ?", (known_id,))


def _state(file: FileState, now: datetime) -> tuple[str, int, int, str]:
    return file.hash, file.size_bytes, file.mtime_ns, now.isoformat(timespec="seconds")


def _iso(day: date | None) -> str:
    return day.isoformat() if day else ""


def _add_passages(
    connection: sqlite3.Connection, document_id: int | None, passages: Iterable[Passage]
) -> None:
    for passage in passages:
        place = (passage.start, passage.end, passage.line)
        dated = _iso(date_in_name(passage.heading))
        values = (document_id, *place, passage.heading, passage.text, dated)
        key = connection.execute(_PASSAGE, values).lastrowid
        connection.execute(_WORDS, (key, *_words(passage.heading, passage.text)))


def _remove_passages(connection: sqlite3.Connection, document_id: int) -> None:
    rows = connection.execute("SELECT id, heading, text FROM passages WHERE document_id = ?", (document_id,))
    removed = [(key, *_words(heading, text)) for key, heading, text in rows]
    connection.executemany(_REMOVED_WORDS, removed)
    connection.execute("DELETE FROM passages WHERE document_id = ?", (document_id,))


def _words(heading: str, text: str) -> tuple[str, str]:
    return " ".join(terms(heading)), " ".join(terms(text))
