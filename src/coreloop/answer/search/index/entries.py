"""Rows of what files declare, and of what they import."""

import re
import sqlite3
from typing import Final

from coreloop.answer.search.extract.document import Document
from coreloop.answer.search.index.terms import passage_words

_WORD: Final = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+|[^\W\d_a-zA-Z]+")  # getPage_2 -> get Page 2
_ENTRY: Final = """
    INSERT INTO entries (document_id, kind, name, line, text, is_public, is_documented)
    VALUES (?, ?, ?, ?, ?, ?, ?)
"""
_WORDS: Final = "INSERT INTO entry_words (rowid, heading, words, bigrams) VALUES (?, ?, ?, ?)"
_REMOVED: Final = (
    "INSERT INTO entry_words (entry_words, rowid, heading, words, bigrams) VALUES ('delete', ?, ?, ?, ?)"
)


def identifier_words(name: str) -> str:
    """Return an identifier and its words: ``read_page`` is ``read_page read page``."""
    return f"{name} {' '.join(_WORD.findall(name))}"


def add_entries(connection: sqlite3.Connection, document_id: int | None, document: Document) -> None:
    """Add what a document declares and imports."""
    for entry in document.entries:
        values = (document_id, entry.kind, entry.name, entry.line, entry.text)
        row = connection.execute(_ENTRY, (*values, entry.is_public, entry.is_documented))
        connection.execute(_WORDS, (row.lastrowid, *_entry_words(entry.name, entry.text)))
    rows = [(document_id, module) for module in document.imports]
    connection.executemany("INSERT INTO imports VALUES (?, ?)", rows)


def remove_entries(connection: sqlite3.Connection, document_id: int) -> None:
    """Remove what a document declares and imports."""
    rows = connection.execute("SELECT id, name, text FROM entries WHERE document_id = ?", (document_id,))
    connection.executemany(_REMOVED, [(key, *_entry_words(name, text)) for key, name, text in rows])
    connection.execute("DELETE FROM entries WHERE document_id = ?", (document_id,))
    connection.execute("DELETE FROM imports WHERE document_id = ?", (document_id,))


def _entry_words(name: str, text: str) -> tuple[str, str, str]:
    return passage_words(identifier_words(name), text)
