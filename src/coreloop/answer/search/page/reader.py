"""An address -> the page behind it as a source, and its raw content on disk."""

import hashlib
from pathlib import Path
from typing import Final

from coreloop.answer.search.extract.document import MAX_CHARS, Unreadable
from coreloop.answer.search.page.fetch import Fetched, Network, fetch
from coreloop.answer.search.page.page_text import page_text
from coreloop.answer.search.page.robots import Robots
from coreloop.answer.search.provider import Empty, Failed, Found, SearchAnswer, SearchLimits
from coreloop.answer.search.source import Source
from coreloop.answer.search.web_results import date_in
from coreloop.base.files import write_private

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
