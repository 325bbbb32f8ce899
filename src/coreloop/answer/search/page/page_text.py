"""The text of a fetched page: HTML by trafilatura, PDF by pypdf, plain text as it is."""

import codecs
import importlib.util
import json
import re
import subprocess
import sys
from contextlib import suppress
from dataclasses import dataclass
from typing import Final

from coreloop.answer.search.extract.decode import clean_text, decode_text
from coreloop.answer.search.extract.document import Document, Unreadable
from coreloop.answer.search.extract.pdf import extract_pdf
from coreloop.base.extras import needs

TIMEOUT_S: Final = 20.0  # chosen: who asks does not wait longer for one page
_PROGRAM: Final = "coreloop.answer.search.page.html_process"
_HTML: Final = frozenset({"text/html", "application/xhtml+xml"})
_PLAIN: Final = frozenset({"text/plain", "text/markdown"})
# <meta charset="euc-kr">, <meta http-equiv="Content-Type" content="text/html; charset=euc-kr">
_META: Final = re.compile(rb"<meta[^>]{0,200}?charset\s*=\s*+[\"']?\s*([\w-]{2,40})", re.IGNORECASE)
_META_BYTES: Final = 4_096
# Python has others: "punycode" takes quadratic time, "unicode_escape" turns escapes into characters
_CHARSETS: Final = frozenset(
    {"utf-8", "utf-16", "utf-16-le", "utf-16-be", "cp949", "johab", "koi8-r", "koi8-u", "cp866", "cp874"}
    | {"cp932", "shift_jis", "euc_jp", "iso2022_jp", "gb18030", "gbk", "gb2312", "big5", "big5hkscs"}
    | {f"cp{number}" for number in range(1250, 1259)}
    | {f"iso8859-{number}" for number in range(2, 17)}
)
"""Python's names of what pages are written in."""
_SAME: Final = {"euc_kr": "cp949", "ascii": "cp1252", "iso8859-1": "cp1252"}
"""Charsets and the larger ones that are meant by them (https://encoding.spec.whatwg.org/#names-and-labels)."""


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
        return _of_pdf(extract_pdf(content, timeout_s=timeout_s))
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
        return Unreadable(needs("research", feature="reading web pages"))
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
    charsets = _stated_charsets(content, content_type)
    for charset in charsets:
        with suppress(UnicodeDecodeError):
            return clean_text(content.decode(charset))
    text = decode_text(content)
    if not isinstance(text, Unreadable):
        return text
    return clean_text(content.decode(charsets[0] if charsets else "utf-8", "replace"))


def _stated_charsets(content: bytes, content_type: str) -> list[str]:
    declared = re.search(r"charset\s*=\s*+[\"']?\s*([\w-]{2,40})", content_type, re.IGNORECASE)
    stated = _META.search(content[:_META_BYTES])
    names = [declared[1]] if declared else []
    names += [stated[1].decode("ascii")] if stated else []
    known = []
    for name in names:
        with suppress(LookupError):
            charset = codecs.lookup(name).name
            known.append(_SAME.get(charset, charset))
    return [charset for charset in known if charset in _CHARSETS]
