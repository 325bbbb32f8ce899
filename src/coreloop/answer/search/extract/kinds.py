"""Which files are read, and by which extractor."""

from collections.abc import Callable, Collection
from typing import Final

from coreloop.answer.search.extract.document import Document, Unreadable
from coreloop.answer.search.extract.html import extract_html
from coreloop.answer.search.extract.pdf import extract_pdf
from coreloop.answer.search.extract.python import extract_python
from coreloop.answer.search.extract.schemas import extract_schema
from coreloop.answer.search.extract.text import extract_markdown, extract_plain, extract_rst

Extractor = Callable[[bytes], Document | Unreadable]

_EXTRACTORS: Final[dict[str, Extractor]] = {
    **dict.fromkeys(("md", "markdown", "mdx"), extract_markdown),
    **dict.fromkeys(("txt", "text", "adoc", "org"), extract_plain),
    "rst": extract_rst,
    **dict.fromkeys(("html", "htm", "xhtml"), extract_html),
    **dict.fromkeys(("py", "pyi"), extract_python),
    "pdf": extract_pdf,
}
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
    return extract_plain if name in _PLAIN_NAMES else None
