"""Bytes as text, without control and invisible characters; a text and its sections, which search can find."""

import codecs
import re
from contextlib import suppress
from dataclasses import dataclass
from typing import Final

# Of a page's or a file's text that becomes a source; about 50,000 tokens, more than a model reads of one.
MAX_CHARS: Final = 200_000
# Of a document; a hostile file has a heading on every line. What follows belongs to the last section.
MAX_SECTIONS: Final = 20_000


@dataclass(frozen=True, slots=True)
class Section:
    """A part of a text under one heading; ``start`` and ``end`` are offsets in `Document.text`.

    Attributes
    ----------
    line : int or None
        Of a PDF the page, 0 if unknown; None where the lines of the text are those of the file.
    published : str
        See `coreloop.answer.search.provider.Source`; "" if unknown.
    """

    start: int
    end: int
    line: int | None = None
    heading: str = ""
    published: str = ""


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
        ``markdown``, ``text``, ``html``, ``table``, ``notebook``, ``data``, ``code``, ``python``, ``schema``,
        ``pdf``, ``docx`` or ``hwpx``.
    title : str
        Empty if the file states none.
    published : str
        When it says that it was written, changed or published.
    sections : tuple of Section
        In the order of the text; they may leave parts out.
    entries : tuple of Entry
        What the file declares.
    """

    type: str
    text: str
    sections: tuple[Section, ...]
    title: str = ""
    published: str = ""
    entries: tuple[Entry, ...] = ()


@dataclass(frozen=True, slots=True)
class Unreadable:
    """A file without text that can be indexed; the reason is for counting: ``binary``, ``damaged PDF``, …"""

    reason: str


_MARKS: Final = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
_NEWLINE: Final = re.compile("\r\n?|[\u2028\u2029]")
_INVISIBLE: Final = re.compile(
    "["
    "\x00-\x08\x0b-\x1f\x7f-\x9f\xad"  # control characters and the soft hyphen
    "\u034f\u115f\u1160\u3164\uffa0"  # the grapheme joiner and the Hangul fillers
    "\u0600-\u0605\u061c\u06dd\u070f\u0890\u0891\u08e2\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u206f"
    "\ud800-\udfff"  # lone surrogates
    "\ufe00-\ufe0f\ufeff\ufff9-\ufffb"  # variation selectors, byte order mark, annotations
    "\U000110bd\U000110cd\U00013430-\U0001343f\U0001bca0-\U0001bca3\U0001d173-\U0001d17a"
    "\U000e0000-\U000e0fff"  # tags, in which text for models can hide
    "]+"
)


def decode_text(data: bytes) -> str | Unreadable:
    """Decode a file: by its byte order mark, else as UTF-8, else as CP949 (which contains EUC-KR)."""
    mark, stated = next(((mark, codec) for mark, codec in _MARKS if data.startswith(mark)), (b"", ""))
    if b"\0" in data and not stated:
        return Unreadable("binary")
    for codec in (stated,) if stated else ("utf-8", "cp949"):
        with suppress(UnicodeDecodeError):
            return clean_text(data[len(mark) :].decode(codec))
    return Unreadable("neither UTF-8 nor CP949")


def clean_text(text: str) -> str:
    r"""Remove control and invisible characters; every line break becomes ``\n``."""
    if "\r" in text or not text.isascii():
        text = _NEWLINE.sub("\n", text)
    return _INVISIBLE.sub("", text)
