"""Which files are read, and by which extractor."""

from collections.abc import Callable, Collection
from pathlib import Path
from typing import Any, Final

from coreloop.answer.search.extract.document import Document, Unreadable, decode_text
from coreloop.answer.search.extract.html import extract_html
from coreloop.answer.search.extract.pdf import extract_pdf
from coreloop.answer.search.extract.python import extract_python
from coreloop.answer.search.extract.schemas import extract_schema
from coreloop.answer.search.extract.text import extract_markdown, extract_rst, plain_document
from coreloop.base.files import open_regular

Extractor = Callable[[Any], Document | Unreadable]  # of the text of a file; of a PDF, of its bytes

_EXTRACTORS: Final[dict[str, Extractor]] = {
    **dict.fromkeys(("md", "markdown", "mdx"), extract_markdown),
    **dict.fromkeys(("txt", "text", "adoc", "org"), plain_document),
    "rst": extract_rst,
    **dict.fromkeys(("html", "htm", "xhtml"), extract_html),
    **dict.fromkeys(("py", "pyi"), extract_python),
    "pdf": extract_pdf,
}
MAX_FILE_BYTES: Final = 20_000_000
_PLAIN_NAMES: Final = frozenset({"readme", "license", "copying", "notice", "authors", "changelog", "changes"})


def extractor_of(location: str, schemas: Collection[str] = ()) -> Extractor | None:
    """Return the function that reads a file of this name; None if files of this kind are not read.

    Parameters
    ----------
    location : str
        See `coreloop.answer.search.source.Source`.
    schemas : collection of str
        Locations of declared schemas.
    """
    if location in schemas:
        return extract_schema
    name = location.rpartition("/")[2].lower()
    stem, _, suffix = name.rpartition(".")
    if stem:
        return _EXTRACTORS.get(suffix)
    return plain_document if name in _PLAIN_NAMES else None


def read_document(path: Path, location: str, schemas: Collection[str] = ()) -> Document | Unreadable:
    """Read a file; one of another kind is plain text."""
    try:
        with open_regular(path) as file:
            data = file.read(MAX_FILE_BYTES + 1)
    except OSError as error:
        return Unreadable(f"cannot be read ({error.strerror})")
    return document_of(data, location, schemas)


def document_of(data: bytes, location: str, schemas: Collection[str] = ()) -> Document | Unreadable:
    """Extract what a file of a kind holds, as `read_document`."""
    if len(data) > MAX_FILE_BYTES:
        return Unreadable(f"larger than {MAX_FILE_BYTES // 1_000_000} MB")
    extract: Extractor = extractor_of(location, schemas) or plain_document
    text = data if extract is extract_pdf else decode_text(data)
    return text if isinstance(text, Unreadable) else extract(text)
