"""The text of a fetched page: HTML by trafilatura, PDF by pypdf, plain text as it is."""

import codecs
import importlib.util
import json
import re
import subprocess
import sys
from dataclasses import dataclass
from typing import Final

from coreloop.extras import DISTRIBUTION
from coreloop.search.extract.decode import clean_text, decode_text
from coreloop.search.extract.document import Document, Unreadable
from coreloop.search.extract.pdf import extract_pdf

TIMEOUT_S: Final = 20.0
_PROGRAM: Final = "coreloop.search.page.html_process"
_HTML: Final = frozenset({"text/html", "application/xhtml+xml"})
_PLAIN: Final = frozenset({"text/plain", "text/markdown"})
# <meta charset="euc-kr">, <meta http-equiv="Content-Type" content="text/html; charset=euc-kr">
_META: Final = re.compile(rb"<meta[^>]{0,200}?charset\s*=\s*[\"']?\s*([\w-]{2,40})", re.IGNORECASE)
_META_BYTES: Final = 4_096


@dataclass(frozen=True, slots=True)
class PageText:
    """What a page says, without control and invisible characters; ``date`` is ISO 8601 or empty."""

    title: str
    date: str
    text: str
    type: str


def page_text(content: bytes, content_type: str, *, timeout_s: float = TIMEOUT_S) -> PageText | Unreadable:
    """Read the text of a page.

    Parameters
    ----------
    content : bytes
        Untrusted.
    content_type : str
        Of the answer, such as ``text/html; charset=euc-kr``.
    timeout_s : float
        For HTML and PDF, which are read in processes of their own.
    """
    media = content_type.partition(";")[0].strip().lower()
    if media == "application/pdf" or content.startswith(b"%PDF-"):
        return _of_pdf(extract_pdf(content))
    if media not in _HTML | _PLAIN and media:
        return Unreadable("not HTML, PDF or plain text")
    text = _decoded(content, content_type)
    if isinstance(text, Unreadable):
        return text
    return PageText("", "", text, "text") if media in _PLAIN else _of_html(text, timeout_s)


def _of_pdf(document: Document | Unreadable) -> PageText | Unreadable:
    if isinstance(document, Unreadable):
        return document
    return PageText(document.title, "", document.text, "pdf")


def _of_html(page: str, timeout_s: float) -> PageText | Unreadable:
    if importlib.util.find_spec("trafilatura") is None:
        return Unreadable(f"web pages need an extra; install it: pip install '{DISTRIBUTION}[research]'")
    command = [sys.executable, "-P", "-m", _PROGRAM]  # -P: no modules of the current folder
    try:
        done = subprocess.run(
            command, input=page.encode(), capture_output=True, check=False, timeout=timeout_s
        )
    except subprocess.TimeoutExpired:
        return Unreadable(f"the page takes longer than {timeout_s:g} s to read")
    if done.returncode:
        return Unreadable("the page is damaged or too large to read")
    facts = json.loads(done.stdout)
    return PageText(clean_text(facts["title"]), facts["date"], clean_text(facts["text"]), "web")


def _decoded(content: bytes, content_type: str) -> str | Unreadable:
    """Decode by the header, else by the page's own statement, else as UTF-8 or CP949."""
    declared = re.search(r"charset\s*=\s*[\"']?\s*([\w-]{2,40})", content_type, re.IGNORECASE)
    stated = _META.search(content[:_META_BYTES])
    names = [declared[1]] if declared else []
    names += [stated[1].decode("ascii")] if stated else []
    for name in names:
        try:
            codec = codecs.lookup("cp949" if name.lower() in {"euc-kr", "ks_c_5601-1987"} else name)
            if codec._is_text_encoding:
                return clean_text(content.decode(codec.name))
        except (LookupError, UnicodeDecodeError):
            continue
    text = decode_text(content)
    return clean_text(content.decode("utf-8", "replace")) if isinstance(text, Unreadable) else text
