"""Tables of the index."""

from typing import Final

from coreloop.base import sqlite

_FIRST: Final = """
-- A file. Its id stays when the file changes or moves.
CREATE TABLE documents (
    id INTEGER PRIMARY KEY,
    path TEXT NOT NULL UNIQUE,      -- relative to the project with /, or absolute outside of it
    type TEXT NOT NULL,             -- markdown, text, html, python, pdf
    title TEXT NOT NULL,            -- empty if the file states none
    hash TEXT NOT NULL,             -- SHA-256 of the bytes
    size_bytes INTEGER NOT NULL,
    mtime_ns INTEGER NOT NULL,      -- with the size, decides whether the file is read again
    indexed_at TEXT NOT NULL        -- ISO 8601, UTC
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
    text TEXT NOT NULL
);
CREATE INDEX passages_by_document ON passages (document_id);

-- Words of passages, rowid = passages.id. It keeps no text of its own: FTS5's 'delete' command removes a row
-- when it is given the same words, so a change of how words are made needs a migration that fills this again.
-- The trigram tokenizer finds no Korean word of two characters, and says nothing; bigrams find it.
CREATE VIRTUAL TABLE passage_words USING fts5(
    heading, words, bigrams, content='', tokenize='porter unicode61 remove_diacritics 2'
);
"""
_SECOND: Final = """
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
    heading, words, bigrams, content='', tokenize='porter unicode61 remove_diacritics 2'
);

-- Modules that a file imports; relative ones begin with dots.
CREATE TABLE imports (
    document_id INTEGER NOT NULL REFERENCES documents (id) ON DELETE CASCADE,
    module TEXT NOT NULL,
    PRIMARY KEY (document_id, module)
) WITHOUT ROWID;

-- Python files are read again, since they have symbols now.
UPDATE documents SET mtime_ns = -1, hash = '' WHERE type = 'python';
"""
_THIRD: Final = """
-- Files that had no text when they were last read: they are not read again before they change.
CREATE TABLE unread_files (
    path TEXT PRIMARY KEY,
    size_bytes INTEGER NOT NULL,
    mtime_ns INTEGER NOT NULL,
    reason TEXT NOT NULL
) WITHOUT ROWID;

-- ISO dates, or "": of a file by its front matter, first heading or name; of a passage by its heading.
ALTER TABLE documents ADD COLUMN published TEXT NOT NULL DEFAULT '';
ALTER TABLE passages ADD COLUMN published TEXT NOT NULL DEFAULT '';

-- All files are read again: they have dates now, and Python files their bodies.
UPDATE documents SET mtime_ns = -1, hash = '';
"""
_FOURTH: Final = """
-- Python files are read again: each argument is an entry's line now.
UPDATE documents SET mtime_ns = -1, hash = '' WHERE type = 'python';
"""
_TABLES: Final = frozenset({"documents", "passages", "passage_words"})


INDEX: Final = sqlite.Schema("index", (_FIRST, _SECOND, _THIRD, _FOURTH), sqlite.with_tables(_TABLES))
