"""The database of the index: opening it, and what is stored of a file."""

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import date, datetime
from pathlib import Path
from typing import Any, Final

from coreloop.answer.search.extract.document import Document, Unreadable
from coreloop.answer.search.extract.file_date import date_in_name, document_date
from coreloop.answer.search.extract.split_passages import split_passages
from coreloop.answer.search.index.tree import File
from coreloop.answer.text.terms import terms
from coreloop.base import sqlite
from coreloop.base.errors import DamagedDatabaseError, WorkspaceError

NO_INDEX: Final = "no index yet; run `dartlab-coreloop index`"
_SCRIPT: Final = """
CREATE TABLE documents (
    id INTEGER PRIMARY KEY,
    path TEXT NOT NULL UNIQUE,
    size_bytes INTEGER NOT NULL,
    changed_ns INTEGER NOT NULL,
    reason TEXT NOT NULL,
    type TEXT NOT NULL,
    title TEXT NOT NULL,
    indexed_at TEXT NOT NULL,
    published TEXT NOT NULL
);
CREATE TABLE passages (
    id INTEGER PRIMARY KEY,
    document_id INTEGER NOT NULL REFERENCES documents (id) ON DELETE CASCADE,
    kind TEXT NOT NULL,
    heading TEXT NOT NULL,
    text TEXT NOT NULL,
    line INTEGER NOT NULL,
    "start" INTEGER,
    published TEXT NOT NULL,
    is_documented INTEGER NOT NULL
);
CREATE INDEX passages_by_document ON passages (document_id);
CREATE INDEX passages_by_heading ON passages (heading);
CREATE VIRTUAL TABLE passage_words USING fts5(
    heading, words, tokenize="unicode61 remove_diacritics 2 tokenchars '_-.+#'"
);
CREATE VIRTUAL TABLE entry_words USING fts5(
    heading, words, tokenize="unicode61 remove_diacritics 2 tokenchars '_-.+#'"
);
CREATE VIRTUAL TABLE passage_vocabulary USING fts5vocab(passage_words, row);
CREATE TRIGGER passage_gone AFTER DELETE ON passages BEGIN
    DELETE FROM passage_words WHERE rowid = old.id; DELETE FROM entry_words WHERE rowid = old.id; END;
"""
"""Files, and their passages with the words of `coreloop.answer.text.terms`.

Of a file, size and times decide whether it is read again; ``reason`` says why it has no text, or is "";
``published`` is an ISO date by its front matter, first heading, name or git, or "". A passage is of the
``kind`` text, or what the file declares: class, function (whose ``heading`` is the qualified name) or schema
(``#`` and where it stands). ``start`` counts characters of the file's text, which has neither control nor
invisible ones.
"""
INDEX: Final = sqlite.Schema("index", _SCRIPT, {"documents", "passages", "passage_words"}, version=6)
_DOCUMENT: Final = """
    INSERT INTO documents (path, size_bytes, changed_ns, reason, type, title, indexed_at, published)
    VALUES (?, ?, ?, ?, ?, ?, ?, ?)
"""
_PASSAGE: Final = """
    INSERT INTO passages (document_id, kind, heading, text, line, "start", published, is_documented)
    VALUES (?, ?, ?, ?, ?, ?, ?, ?)
"""
_WORDS: Final = "INSERT INTO {}_words (rowid, heading, words) VALUES (?, ?, ?)"


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
    """Refuse an index that cannot be searched, before any work is done; as `reading`."""
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


def known_files(connection: sqlite3.Connection) -> dict[str, File]:
    """Return every file as it was when it was last read, by its location."""
    rows = connection.execute("SELECT path, size_bytes, changed_ns, reason FROM documents")
    return {row[0]: File(*row) for row in rows}


def put_document(
    connection: sqlite3.Connection, file: File, document: Document | Unreadable, *, now: datetime
) -> None:
    """Replace what is stored of a file; of one without text, why it has none."""
    with sqlite.transaction(connection):
        remove_document(connection, file.location)
        stored = (file.location, file.size_bytes, file.changed_ns)
        at = now.isoformat(timespec="seconds")
        if isinstance(document, Unreadable):
            connection.execute(_DOCUMENT, (*stored, document.reason, "", "", at, ""))
            return
        published = _iso(document_date(document, file.location))
        values = (*stored, "", document.type, document.title, at, published)
        _put_passages(connection, connection.execute(_DOCUMENT, values).lastrowid, document)


def _put_passages(connection: sqlite3.Connection, key: int | None, document: Document) -> None:
    for part in split_passages(document):
        dated = _iso(date_in_name(part.heading))
        _put(connection, key, "text", part.heading, part.text, part.line, part.start, dated, 0)
    for entry in document.entries:
        _put(connection, key, entry.kind, entry.name, entry.text, entry.line, None, "", entry.is_documented)


def _put(connection: sqlite3.Connection, *values: Any) -> None:
    _, kind, heading, text, *_ = values
    row = connection.execute(_PASSAGE, values).lastrowid
    words = _WORDS.format("passage" if kind == "text" else "entry")
    connection.execute(words, (row, " ".join(terms(heading)), " ".join(terms(text))))


def remove_document(connection: sqlite3.Connection, location: str) -> None:
    """Remove a file and all that came from it."""
    connection.execute("DELETE FROM documents WHERE path = ?", (location,))


def _iso(day: date | None) -> str:
    return day.isoformat() if day else ""
