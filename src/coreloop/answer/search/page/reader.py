"""An address -> the page behind it as a source."""

import codecs
import re
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import replace
from threading import Lock
from typing import TYPE_CHECKING, Final
from urllib.parse import urlsplit

from coreloop.answer.search.exchange import USER_AGENT
from coreloop.answer.search.extract.decode import clean_text, decode_text
from coreloop.answer.search.extract.document import MAX_CHARS, Document, Unreadable
from coreloop.answer.search.extract.html import read_page
from coreloop.answer.search.extract.pdf import extract_pdf
from coreloop.answer.search.extract.text import plain_document
from coreloop.answer.search.page.fetch import Fetched, Network, fetch
from coreloop.answer.search.provider import Blocked, Empty, Failed, Found, SearchAnswer, SearchLimits
from coreloop.answer.search.source import Source
from coreloop.base.extras import DISTRIBUTION

if TYPE_CHECKING:
    from protego import Protego

_MAX_ROBOTS_BYTES: Final = 500 << 10
_PRODUCT: Final = USER_AGENT.partition("/")[0]
_GROUP: Final = re.compile(
    r"\s*user[-\s]*agent[\s:]+(?P<name>[\w*-]*)", re.IGNORECASE
)  # User-agent: ours/1.0
_GONE: Final = frozenset({404, 410})
_HTML: Final = frozenset({"", "text/html", "application/xhtml+xml"})
_PLAIN: Final = frozenset({"text/plain", "text/markdown"})
# text/html; charset=utf-8; <meta charset="euc-kr">; <meta http-equiv="…" content="text/html; charset=euc-kr">
_CHARSET: Final = re.compile(r"charset\s*+=\s*+[\"']?\s*+([\w-]{2,40})", re.IGNORECASE)
_META: Final = re.compile(r"<meta[^>]{0,200}?" + _CHARSET.pattern, re.IGNORECASE)
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


class PageReader:
    """Reads pages; threads may share it.

    Parameters
    ----------
    network : Network
        How the world outside is reached.
    """

    def __init__(self, *, network: Network | None = None) -> None:
        self._network = network or Network()
        self._rules: dict[str, Protego | Blocked | Failed] = {}
        """Of each site, which is asked once."""
        self._lock = Lock()

    def read(self, url: str, limits: SearchLimits) -> SearchAnswer:
        """Fetch a page and extract its text: `Found` with one source, or one of the other answers.

        ``timeout_s`` is for fetching, with redirects and every site's robots.txt; reading a PDF may take as
        long again.
        """
        page = fetch(url, limits, self._network, refusal=self._refusal)
        if not isinstance(page, Fetched):
            return page
        answer = page.answer
        if answer.status in _GONE:
            return Empty()
        if answer.status != 200:
            return Failed(f"HTTP {answer.status}", is_retryable=False)
        document = page_text(answer.content, answer.headers.get("content-type", ""), limits.timeout_s)
        if isinstance(document, Unreadable):
            return Failed(document.reason, is_retryable=False)
        if not document.text.strip():
            return Empty()
        source = Source(
            title=" ".join(document.title.split())[:300] or page.url,
            location=page.url,
            type="web" if document.type == "html" else document.type,
            text=document.text[:MAX_CHARS],
            retrieved_at=self._network.now(),
            published=document.published,
            start=0,
            provider="page",
        )
        return Found((source,))

    def _refusal(self, url: str, limits: SearchLimits) -> Blocked | Failed | None:
        """Return why a page must not be fetched, or None.

        A site without rules allows everything. A site that does not answer allows nothing for now.
        """
        parts = urlsplit(url)
        site = f"{parts.scheme}://{parts.netloc}"
        with self._lock:
            rules = self._rules.get(site)
        if rules is None:
            rules = self._read_rules(site, limits)
            with self._lock:
                self._rules[site] = rules
        if isinstance(rules, Blocked | Failed):
            return replace(rules, reason=f"robots.txt: {rules.reason}")
        if rules.can_fetch(url, _PRODUCT):
            return None
        return Failed("robots.txt does not allow it", is_retryable=False)

    def _read_rules(self, site: str, limits: SearchLimits) -> "Protego | Blocked | Failed":
        try:
            from protego import Protego
        except ModuleNotFoundError:
            install = f"pip install '{DISTRIBUTION}[research]'"
            return Failed(f"reading it needs an extra; install it: {install}", is_retryable=False)
        page = fetch(f"{site}/robots.txt", replace(limits, max_bytes=_MAX_ROBOTS_BYTES), self._network)
        if not isinstance(page, Fetched):
            return page
        text = page.answer.content.decode("utf-8-sig", "replace") if page.answer.status < 400 else ""
        return Protego.parse("\n".join(_with_few_groups(clean_text(text).splitlines())))


def _with_few_groups(lines: Iterable[str]) -> Iterator[str]:
    """Give all groups that are not for us one name.

    The parser keeps every rule once for each agent of its group: 20,000 agents with 20,000 rules, which a
    site can say in 500 kB, would be 400 million.
    """
    for line in lines:
        group = _GROUP.match(line)
        if group is None:
            yield line
        elif group["name"].lower() == _PRODUCT or group["name"].startswith("*"):
            yield f"User-agent: {group['name']}"
        else:
            yield "User-agent: other"


def page_text(content: bytes, content_type: str, timeout_s: float) -> Document | Unreadable:
    """Read the text of a page: untrusted bytes, and the type that its server gives them."""
    media = content_type.partition(";")[0].strip().lower()
    if media == "application/pdf" or content.startswith(b"%PDF-"):
        return extract_pdf(content, timeout_s=timeout_s)
    if media not in _HTML | _PLAIN:
        return Unreadable("not HTML, PDF or plain text")
    text = _decoded(content, content_type)
    return read_page(text) if media in _HTML else plain_document(text)


def _decoded(content: bytes, content_type: str) -> str:
    """Decode by the header, else by the page's own statement, else as UTF-8 or CP949."""
    charsets = _stated_charsets(content, content_type)
    for charset in charsets:
        with suppress(UnicodeDecodeError):
            return clean_text(content.decode(charset))
    text = decode_text(content)
    if isinstance(text, Unreadable):
        return clean_text(content.decode(charsets[0] if charsets else "utf-8", "replace"))
    return text


def _stated_charsets(content: bytes, content_type: str) -> list[str]:
    stated = (_CHARSET.search(content_type), _META.search(content[:_META_BYTES].decode("latin-1")))
    known = []
    for match in stated:
        with suppress(LookupError):
            name = codecs.lookup(match[1]).name if match else ""
            known.append(_SAME.get(name, name))
    return [charset for charset in known if charset in _CHARSETS]
