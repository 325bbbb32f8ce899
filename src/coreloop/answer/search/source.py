"""A source: a passage, where it stands, and where it was found."""

import hashlib
from dataclasses import dataclass
from datetime import date, datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """Something that was found.

    Attributes
    ----------
    title : str
        Of the page or file; its location if it has none.
    location : str
        An ``http(s)`` address, or a path relative to the project, with ``/``.
    type : str
        ``web``, ``paper``, ``markdown``, ``text``, ``html``, ``python``, ``pdf``, …
    text : str
        The passage that was found: data of others, without control and invisible characters.
    retrieved_at : datetime
        With a time zone.
    published : date or None
        None if unknown.
    start : int or None
        Where the passage begins in the text of the file or page, in characters; None for a text that is the
        provider's own, such as a snippet.
    line : int or None
        Where the passage begins in a file, from 1; of a PDF the page. None for pages of the web.
    provider : str
        The name of the provider that found it.
    """

    title: str
    location: str
    type: str
    text: str
    retrieved_at: datetime
    published: date | None = None
    start: int | None = None
    line: int | None = None
    provider: str = ""

    @property
    def hash(self) -> str:
        """SHA-256 of the text, in hexadecimal."""
        return hashlib.sha256(self.text.encode("utf-8", "surrogatepass")).hexdigest()

    @property
    def reference(self) -> str:
        """How a symbol or a part of a schema is named: ``shop.py::Order.total``, ``a.sql#orders.total``."""
        return f"{self.location}{'' if self.type == 'schema' else '::'}{self.title}"
