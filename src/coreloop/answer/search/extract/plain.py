"""Plain text: one section."""

from coreloop.answer.search.extract.decode import decode_text
from coreloop.answer.search.extract.document import Document, Section, Unreadable


def extract_plain(data: bytes) -> Document | Unreadable:
    """Read a plain text."""
    text = decode_text(data)
    return text if isinstance(text, Unreadable) else plain_document(text)


def plain_document(text: str) -> Document:
    """Return a text as a document of one section."""
    return Document(type="text", text=text, sections=(Section(0, len(text), 1),))
