"""Rows of what files declare."""

import sqlite3
from typing import Final

from coreloop.answer.search.extract.document import Document
from coreloop.answer.text.terms import terms

_ENTRY: Final = """
    INSERT INTO entries (document_id, kind, name, line, text, is_public, is_documented)
    VALUES (?, ?, ?, ?, ?, ?, ?)
"""
_WORDS: Final = "INSERT INTO entry_words (rowid, heading, words) VALUES (?, ?, ?)"
_REMOVED: Final = "INSERT INTO entry_words (entry_words, rowid, heading, words) VALUES ('delete', ?, ?, ?)"


def add_entries(connection: sqlite3.Connection, document_id: int | None, document: Document) -> None:
    """Add what a document declares."""
    for entry in document.entries:
        values = (document_id, entry.kind, entry.name, entry.line, entry.text)
        row = connection.execute(_ENTRY, (*values, entry.is_public, entry.is_documented))
        connection.execute(_WORDS, (row.lastrowid, *_entry_words(entry.name, entry.text)))


def remove_entries(connection: sqlite3.Connection, document_id: int) -> None:
    """Remove what a document declares."""
    rows = connection.execute("SELECT id, name, text FROM entries WHERE document_id = ?", (document_id,))
    connection.executemany(_REMOVED, [(key, *_entry_words(name, text)) for key, name, text in rows])
    connection.execute("DELETE FROM entries WHERE document_id = ?", (document_id,))


def _entry_words(name: str, text: str) -> tuple[str, str]:
    return " ".join(terms(name)), " ".join(terms(text))
