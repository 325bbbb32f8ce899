"""A web page as a source: fetched from public addresses alone, as robots.txt allows, and read as text.

Everything about an address is untrusted and bounded, also its redirects.
"""

import codecs
import re
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Final
from urllib.parse import SplitResult, urljoin, urlsplit

from coreloop.answer.search import provider
from coreloop.answer.search.extract.document import MAX_CHARS, Document, Unreadable, clean_text, decode_text
from coreloop.answer.search.extract.html import extract_html
from coreloop.answer.search.extract.packed import extract_packed
from coreloop.answer.search.extract.text import plain_document
from coreloop.answer.search.services import USER_AGENT, asked_to_wait
from coreloop.base import http
from coreloop.base.extras import needs

if TYPE_CHECKING:
    from protego import Protego

MAX_REDIRECTS: Final = 5
_MAX_URL: Final = 2_000
_PORTS: Final = {"http": 80, "https": 443}
Refused = provider.Blocked | provider.Failed
# An address and the time that is left -> why it must not be fetched, or None.
Refusal = Callable[[str, provider.SearchLimits], Refused | None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Network:
    """How the world outside is reached; tests bring their own.

    Attributes
    ----------
    resolve : callable
        A host's name -> its IP addresses.
    allows : callable
        Whether an IP address may be connected to.
    ports : frozenset of int
        That may be connected to.
    now : callable
        Returns the time, with a time zone.
    """

    resolve: http.Resolve = http.resolve_host
    allows: http.Allows = http.is_public
    ports: frozenset[int] = frozenset(_PORTS.values())
    now: provider.Now = lambda: datetime.now(UTC)


def fetch(
    url: str,
    limits: provider.SearchLimits,
    network: Network,
    *,
    refusal: Refusal = lambda _url, _limits: None,
) -> tuple[str, http.HttpAnswer] | Refused:
    """Fetch an address and follow its redirects; returns the last address and any status but a redirect.

    Parameters
    ----------
    url : str
        Untrusted.
    limits : SearchLimits
        ``timeout_s`` is for all redirects together.
    network : Network
        How the world outside is reached.
    refusal : callable
        Is asked before each address, also of a redirect.
    """
    ends_at = time.monotonic() + limits.timeout_s
    for _ in range(MAX_REDIRECTS + 1):
        try:
            parts = checked_parts(url, network.ports)
            refused = refusal(url, _left(limits, ends_at))
            if refused is not None:
                return refused
            answer = _exchange(parts, network, limits, ends_at)
            target = answer.headers.get("location", "")
            if answer.status not in {301, 302, 303, 307, 308} or not target:
                down = provider.Failed(f"HTTP {answer.status}") if answer.status >= 500 else None
                return asked_to_wait(answer, network.now()) or down or (url, answer)
            url = urljoin(url, target)
        except http.RefusedAddressError as error:
            return provider.Failed(str(error), is_retryable=False)
        except http.ExchangeError as error:
            return provider.Failed(str(error), is_retryable=error.failure != "too_long")
        except ValueError:
            return provider.Failed("redirects to what is not an address", is_retryable=False)
    return provider.Failed(f"redirects more than {MAX_REDIRECTS} times", is_retryable=False)


def checked_parts(url: str, ports: frozenset[int]) -> SplitResult:
    """Split an address that may be fetched.

    Raises
    ------
    RefusedAddressError
        It is not ``http(s)``, has no host, a name and password, or another port.
    """
    if not url.isprintable() or len(url) > _MAX_URL:
        raise http.RefusedAddressError("not an address")
    try:
        parts = urlsplit(url)
        port = parts.port or _PORTS.get(parts.scheme, 0)
    except ValueError as error:
        raise http.RefusedAddressError("not an address") from error
    if parts.scheme not in _PORTS or not parts.hostname:
        raise http.RefusedAddressError("only http and https addresses are fetched")
    if parts.username is not None:
        raise http.RefusedAddressError("an address with a name or password is not fetched")
    if port not in ports:
        raise http.RefusedAddressError(f"port {port} is not fetched from")
    return parts


def _left(limits: provider.SearchLimits, ends_at: float) -> provider.SearchLimits:
    left_s = ends_at - time.monotonic()
    if left_s <= 0:
        raise http.ExchangeError("too_late", f"no complete answer in {limits.timeout_s:g} s")
    return replace(limits, timeout_s=left_s)


def _exchange(
    parts: SplitResult, network: Network, limits: provider.SearchLimits, ends_at: float
) -> http.HttpAnswer:
    timeout_s = _left(limits, ends_at).timeout_s
    host = str(parts.hostname)
    address = http.checked_address(host, resolve=network.resolve, allows=network.allows, timeout_s=timeout_s)
    request = http.HttpRequest(
        url=parts._replace(fragment="").geturl(),
        headers={"User-Agent": USER_AGENT, "Accept": "text/html, application/pdf, text/plain;q=0.9"},
        address=address,
    )
    timeout_s = _left(limits, ends_at).timeout_s
    with http.HttpClient() as client:
        return client.exchange(request, timeout_s=timeout_s, max_bytes=limits.max_bytes)


_MAX_ROBOTS_BYTES: Final = 500 << 10
_GROUP: Final = re.compile(
    r"^[^\S\n]*user(?:-|[^\S\n])*agent(?::|[^\S\n])+(?P<name>[\w*-]*)[^\n]*", re.IGNORECASE | re.MULTILINE
)  # User-agent: ours/1.0
_HTML: Final = frozenset({"", "text/html", "application/xhtml+xml"})
_PLAIN: Final = frozenset({"text/plain", "text/markdown"})
# text/html; charset=utf-8; <meta charset="euc-kr">; <meta http-equiv="…" content="text/html; charset=euc-kr">
_CHARSET: Final = re.compile(r"charset\s*+=\s*+[\"']?\s*+([\w-]{2,40})", re.IGNORECASE)
_META: Final = re.compile(r"<meta[^>]{0,200}?" + _CHARSET.pattern, re.IGNORECASE)
_META_BYTES: Final = 4_096
# Python has others: "punycode" takes quadratic time, "unicode_escape" turns escapes into characters
# Python's names of what pages are written in.
_OF_PAGES: Final = re.compile(
    r"""utf-(?:8|16(?:-[lb]e)?) | cp\d+ | iso8859-\d+ | johab | koi8-[ru] | shift_jis | euc_(?:jp|kr)
      | iso2022_jp | gb\w+ | big5\w* | ascii""",
    re.VERBOSE,
)
# Charsets and the larger ones that are meant by them (https://encoding.spec.whatwg.org/#names-and-labels).
_SAME: Final = {"euc_kr": "cp949", "ascii": "cp1252", "iso8859-1": "cp1252"}


class PageReader:
    """Reads pages; threads may share it.

    Parameters
    ----------
    network : Network
        How the world outside is reached.
    """

    def __init__(self, *, network: Network | None = None) -> None:
        self._network = network or Network()
        self._rules: dict[str, Protego | provider.Blocked | provider.Failed] = {}
        """Of each site, which is asked once."""

    def read(self, url: str, limits: provider.SearchLimits) -> provider.SearchAnswer:
        """Fetch a page and extract its text: `Found` with one source, or one of the other answers.

        ``timeout_s`` is for fetching, with redirects and every site's robots.txt; reading a PDF may take as
        long again.
        """
        page = fetch(url, limits, self._network, refusal=self._refusal)
        if not isinstance(page, tuple):
            return page
        location, answer = page
        if answer.status in {404, 410}:
            return provider.Empty()
        if answer.status != 200:
            return provider.Failed(f"HTTP {answer.status}", is_retryable=False)
        document = page_text(answer.content, answer.headers.get("content-type", ""), limits.timeout_s)
        if isinstance(document, Unreadable):
            return provider.Failed(document.reason, is_retryable=False)
        if not document.text.strip():
            return provider.Empty()
        source = provider.Source(
            title=" ".join(document.title.split())[:300] or location,
            location=location,
            type="web" if document.type == "html" else document.type,
            text=document.text[:MAX_CHARS],
            retrieved_at=self._network.now(),
            published=document.published or None,
            start=0,
            provider="page",
        )
        return provider.Found((source,))

    def _refusal(self, url: str, limits: provider.SearchLimits) -> Refused | None:
        """Return why a page must not be fetched, or None.

        A site without rules allows everything. A site that does not answer allows nothing for now.
        """
        parts = urlsplit(url)
        site = f"{parts.scheme}://{parts.netloc}"
        rules = self._rules[site] = self._rules.get(site) or self._read_rules(site, limits)
        if isinstance(rules, provider.Blocked | provider.Failed):
            return replace(rules, reason=f"robots.txt: {rules.reason}")
        if rules.can_fetch(url, USER_AGENT):
            return None
        return provider.Failed("robots.txt does not allow it", is_retryable=False)

    def _read_rules(self, site: str, limits: provider.SearchLimits) -> "Protego | Refused":
        try:
            from protego import Protego
        except ModuleNotFoundError:
            return provider.Failed(needs("research", feature="reading it"), is_retryable=False)
        page = fetch(f"{site}/robots.txt", replace(limits, max_bytes=_MAX_ROBOTS_BYTES), self._network)
        if not isinstance(page, tuple):
            return page
        text = page[1].content.decode("utf-8-sig", "replace") if page[1].status < 400 else ""
        return Protego.parse(_with_few_groups(clean_text(text)))


def _with_few_groups(rules: str) -> str:
    """Give all groups that are not for us one name.

    The parser keeps every rule once for each agent of its group: 20,000 agents with 20,000 rules, which a
    site can say in 500 kB, would be 400 million.
    """

    def named(group: re.Match[str]) -> str:
        is_meant = group["name"].lower() == USER_AGENT or group["name"].startswith("*")
        return f"User-agent: {group['name'] if is_meant else 'other'}"

    return _GROUP.sub(named, rules)


def page_text(content: bytes, content_type: str, timeout_s: float) -> Document | Unreadable:
    """Read the text of a page: untrusted bytes, and the type that its server gives them."""
    media = content_type.partition(";")[0].strip().lower()
    if media == "application/pdf" or content.startswith(b"%PDF-"):
        return extract_packed(content, kind="pdf", timeout_s=timeout_s)
    if media not in _HTML | _PLAIN:
        return Unreadable("not HTML, PDF or plain text")
    text = _decoded(content, content_type)
    return extract_html(text) if media in _HTML else plain_document(text)


def _decoded(content: bytes, content_type: str) -> str:
    """Decode by the header, else by the page's own statement, else as UTF-8 or CP949."""
    last = "utf-8"
    for match in (_CHARSET.search(content_type), _META.search(content[:_META_BYTES].decode("latin-1"))):
        with suppress(LookupError, UnicodeDecodeError):
            name = codecs.lookup(match[1]).name if match else ""
            if _OF_PAGES.fullmatch(name):
                last = _SAME.get(name, name)
                return clean_text(content.decode(last))
    text = decode_text(content)
    return clean_text(content.decode(last, "replace")) if isinstance(text, Unreadable) else text
