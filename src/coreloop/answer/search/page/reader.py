"""An address -> the page behind it as a source, and its raw content on disk."""

import hashlib
import re
from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Final
from urllib.parse import urlsplit

from coreloop.answer.search.exchange import USER_AGENT
from coreloop.answer.search.extract.decode import clean_text
from coreloop.answer.search.extract.document import MAX_CHARS, Unreadable
from coreloop.answer.search.page.fetch import Fetched, Network, fetch
from coreloop.answer.search.page.page_text import page_text
from coreloop.answer.search.provider import Blocked, Empty, Failed, Found, SearchAnswer, SearchLimits
from coreloop.answer.search.source import Source
from coreloop.answer.search.web_results import date_in
from coreloop.base.extras import DISTRIBUTION
from coreloop.base.files import write_private

if TYPE_CHECKING:
    from protego import Protego

_MAX_BYTES: Final = 500 << 10
_PRODUCT: Final = USER_AGENT.partition("/")[0]
_GROUP: Final = re.compile(
    r"\s*user[-\s]*agent[\s:]+(?P<name>[\w*-]*)", re.IGNORECASE
)  # User-agent: ours/1.0


class Robots:
    """The rules of the sites of one research; each site is asked once. Threads may share it."""

    def __init__(self, network: Network) -> None:
        self._network = network
        self._rules: dict[str, Protego | Blocked | Failed] = {}
        self._lock = Lock()

    def refusal(self, url: str, limits: SearchLimits) -> Blocked | Failed | None:
        """Return why a page must not be fetched, or None.

        A site without rules allows everything. A site that does not answer allows nothing for now.
        """
        parts = urlsplit(url)
        site = f"{parts.scheme}://{parts.netloc}"
        with self._lock:
            rules = self._rules.get(site)
        if rules is None:
            rules = self._read(site, limits)
            with self._lock:
                self._rules[site] = rules
        if isinstance(rules, Blocked | Failed):
            return replace(rules, reason=f"robots.txt: {rules.reason}")
        if rules.can_fetch(url, _PRODUCT):
            return None
        return Failed("robots.txt does not allow it", is_retryable=False)

    def _read(self, site: str, limits: SearchLimits) -> "Protego | Blocked | Failed":
        try:
            from protego import Protego
        except ModuleNotFoundError:
            install = f"pip install '{DISTRIBUTION}[research]'"
            return Failed(f"reading it needs an extra; install it: {install}", is_retryable=False)
        answer = fetch(f"{site}/robots.txt", replace(limits, max_bytes=_MAX_BYTES), self._network)
        if not isinstance(answer, Fetched):
            return answer
        text = answer.content.decode("utf-8-sig", "replace") if answer.status < 400 else ""
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


_GONE: Final = frozenset({404, 410})


class PageReader:
    """Reads pages; threads may share it.

    Parameters
    ----------
    folder : Path
        Keeps what was fetched as it came, in files named by its SHA-256.
    network : Network
        How the world outside is reached.
    """

    def __init__(self, folder: Path, *, network: Network | None = None) -> None:
        self._folder = folder
        self._network = network or Network()
        self._robots = Robots(self._network)

    def read(self, url: str, limits: SearchLimits) -> SearchAnswer:
        """Fetch a page and extract its text: `Found` with one source, or one of the other answers.

        ``timeout_s`` is for fetching, with redirects and every site's robots.txt; reading the text may take
        as long again.
        """
        page = fetch(url, limits, self._network, refusal=self._robots.refusal)
        if not isinstance(page, Fetched):
            return page
        return self._source(page, limits)

    def _source(self, page: Fetched, limits: SearchLimits) -> SearchAnswer:
        if page.status in _GONE:
            return Empty()
        if page.status != 200:
            return Failed(f"HTTP {page.status}", is_retryable=False)
        text = page_text(page.content, page.headers.get("content-type", ""), timeout_s=limits.timeout_s)
        if isinstance(text, Unreadable):
            return Failed(text.reason, is_retryable=False)
        if not text.text.strip():
            return Empty()
        self._keep(page.content)
        source = Source(
            title=" ".join(text.title.split())[:300] or page.url,
            location=page.url,
            type=text.type,
            text=text.text[:MAX_CHARS],
            retrieved_at=self._network.now(),
            published=date_in(text.date),
            start=0,
            provider="page",
        )
        return Found((source,))

    def _keep(self, content: bytes) -> None:
        path = self._folder / hashlib.sha256(content).hexdigest()
        if not path.exists():
            write_private(path, content)
