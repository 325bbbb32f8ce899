"""Which files are read, and by which extractor."""

import re
from collections.abc import Callable, Collection
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, Final

from coreloop.answer.search.extract import text
from coreloop.answer.search.extract.document import Document, Unreadable, decode_text
from coreloop.answer.search.extract.html import extract_html
from coreloop.answer.search.extract.packed import extract_packed
from coreloop.answer.search.extract.python import extract_python
from coreloop.answer.search.extract.schemas import extract_schema
from coreloop.answer.search.extract.text import SYNTAXES, plain_document
from coreloop.base.files import open_regular
from coreloop.sanitize.detectors.rule import Sign
from coreloop.sanitize.detectors.secrets import looks_like_credential, looks_like_password
from coreloop.sanitize.find_in_text import matches

Extractor = Callable[[Any], Document | Unreadable]  # of the text of a file; of a packed one, of its bytes
_READ: Final[dict[str, Extractor]] = {
    **{row[0]: partial(text.extract_marked, name=name) for name, row in SYNTAXES.items()},
    "md markdown mdx": text.extract_markdown,
    "py pyi": extract_python,
    "json": text.extract_json,
    "txt text": plain_document,
    "html htm xhtml": extract_html,
    "csv tsv": text.extract_csv,
    "ipynb": text.extract_notebook,
    "env": text.extract_env,
    **{kind: partial(extract_packed, kind=kind) for kind in ("pdf", "docx", "hwpx")},
}
_EXTRACTORS: Final = {suffix: read for suffixes, read in _READ.items() for suffix in suffixes.split()}
# password: hunter2, API_KEY = "4f1c…", postgres://shop:hunter2@db
_NAMED: Final = re.compile(
    r"""(?:(?P<pass>passw(?:or)?d|passphrase|pwd|비밀번호)|secret(?:[_-]?key)?|token|(?:api|access|private)[_-]?key
      |credentials?)["']?\]?\s{0,3}(?:[:=]|:=|=>)\s{0,3}(?:["'`](?P<quoted>[^"'`\n]{3,500})|(?P<bare>[^\n"'`,;\#]{3,500}))
      | ://[^\s:/@]{1,60}:(?P<inside>[^\s@/"']{3,200})@""",
    re.IGNORECASE | re.VERBOSE,
)
_CODE: Final = frozenset({"code", "python"})
_UNNAMED: Final = Sign(int(Sign.FIRST_TOKEN) - 1) & ~Sign.PRIVATE_KEY  # all but known forms of credentials
_MAY_HIDE: Final = re.compile(
    r"(?:gh[a-z]|pat|hf|live|test)_\w{12}|(?:sk|xox.|pat)-\w{8}|A[KS]IA[A-Z0-9]{8}|AIza|eyJ|KEY-----"
)
# Written by programs; and coreloop's own settings, which answer no question about the project.
_UNREAD: Final = re.compile(r"-lock\.(?:json|yaml)$|shrinkwrap\.json$|\.min\.\w+$|^coreloop\.yaml$")
MAX_FILE_BYTES: Final = 20_000_000
_PLAIN_NAMES: Final = frozenset({"readme", "license", "copying", "notice", "authors", "changelog", "changes"})


def extractor_of(location: str, schemas: Collection[str] = ()) -> Extractor | None:
    """Return the function that reads a file of this name; None if files of this kind are not read.

    Parameters
    ----------
    location : str
        See `coreloop.answer.search.provider.Source`.
    schemas : collection of str
        Locations of declared schemas.
    """
    if location in schemas:
        return extract_schema
    name = location.rpartition("/")[2].lower()
    suffix = "env" if name.startswith(".env") else name.rpartition(".")[2]
    if "." not in name:
        return plain_document if name in _PLAIN_NAMES else None
    return None if _UNREAD.search(name) else _EXTRACTORS.get(suffix)


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
    if getattr(extract, "func", None) is extract_packed:
        return extract(data)
    content = decode_text(data)
    document = content if isinstance(content, Unreadable) else extract(content)
    if isinstance(document, Unreadable):
        return document
    entries = (replace(one, text=_without_secrets(one.text, document.type)) for one in document.entries)
    return replace(document, text=_without_secrets(document.text, document.type), entries=tuple(entries))


def _without_secrets(text: str, kind: str) -> str:
    """Hide credentials, each by as many stars: known forms, and values beside a name for them."""
    known = matches(text, without=_UNNAMED) if _MAY_HIDE.search(text) else ()
    spans = [(start, end) for found, start, end in known if found == "SECRET"]
    for match in _NAMED.finditer(text):
        is_secret = looks_like_password if match["pass"] or match["inside"] else looks_like_credential
        name = match.lastgroup or ""
        # in code, a bare word is another name; in prose, some words say what a password is
        is_value = name != "bare" or kind == "data" or (kind not in _CODE and " " not in match[name].strip())
        if is_value and is_secret(match[name].strip()):
            spans.append(match.span(name))
    shown = list(text) if spans else []
    for start, end in spans:
        shown[start:end] = re.sub(r"\S", "*", text[start:end])
    return "".join(shown) or text
