"""What a site's robots.txt allows (RFC 9309)."""

from dataclasses import replace
from threading import Lock
from typing import Final
from urllib.parse import urlsplit
from urllib.robotparser import RobotFileParser

from coreloop.search.exchange import USER_AGENT
from coreloop.search.extract.decode import clean_text
from coreloop.search.page.fetch import Fetched, Network, fetch
from coreloop.search.provider import Blocked, Failed, SearchLimits

_MAX_BYTES: Final = 500 << 10


class Robots:
    """The rules of the sites of one research; each site is asked once. Threads may share it."""

    def __init__(self, network: Network) -> None:
        self._network = network
        self._rules: dict[str, RobotFileParser | Blocked | Failed] = {}
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
        if not isinstance(rules, RobotFileParser):
            return replace(rules, reason=f"robots.txt: {rules.reason}")
        if rules.can_fetch(USER_AGENT, url):
            return None
        return Failed("robots.txt does not allow it", is_retryable=False)

    def _read(self, site: str, limits: SearchLimits) -> RobotFileParser | Blocked | Failed:
        answer = fetch(f"{site}/robots.txt", replace(limits, max_bytes=_MAX_BYTES), self._network)
        if not isinstance(answer, Fetched):
            return answer
        rules = RobotFileParser()
        lines = answer.content.decode("utf-8", "replace") if answer.status < 400 else ""
        rules.parse(clean_text(lines).splitlines())
        return rules
