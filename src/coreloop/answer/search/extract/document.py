"""What an extractor returns: the text of a file and the sections that search can find."""

from dataclasses import dataclass
from datetime import date
from typing import Final

MAX_CHARS: Final = 200_000
"""Of a page's or a file's text that becomes a source; about 50,000 tokens, more than a model reads of one."""
MAX_SECTIONS: Final = 20_000
"""Of a document; a hostile file has a heading on every line. What follows belongs to the last section."""


@dataclass(frozen=True, slots=True)
class Section:
    """A part of a text under one heading; ``start`` and ``end`` are offsets in `Document.text`.

    Attributes
    ----------
    line : int
        Where it begins in the file, from 1; of a PDF the page; 0 if unknown.
    """

    start: int
    end: int
    line: int
    heading: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """Something that a file declares: a symbol of code, or a part of a schema.

    Attributes
    ----------
    kind : str
        ``class``, ``function`` or ``schema``.
    name : str
        Of a symbol, qualified in its module; of a part of a schema, ``#`` and where it stands.
    line : int
        Of the file, from 1.
    text : str
        A paragraph for each thing that is said of it.
    is_documented : bool
        Of a function, whether each parameter and what it returns are described.
    """

    kind: str
    name: str
    line: int
    text: str
    is_documented: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Document:
    """The text of a file, without control and invisible characters.

    Attributes
    ----------
    type : str
        ``markdown``, ``text``, ``html``, ``python``, ``pdf`` or ``schema``.
    title : str
        Empty if the file states none.
    published : date or None
        When the page says that it was published.
    has_own_lines : bool
        Whether the lines of the text are the lines of the file.
    sections : tuple of Section
        In the order of the text; they may leave parts out.
    entries : tuple of Entry
        What the file declares.
    """

    type: str
    text: str
    sections: tuple[Section, ...]
    title: str = ""
    published: date | None = None
    has_own_lines: bool = True
    entries: tuple[Entry, ...] = ()


@dataclass(frozen=True, slots=True)
class Unreadable:
    """A file without text that can be indexed; the reason is for counting: ``binary``, ``damaged PDF``, …"""

    reason: str
