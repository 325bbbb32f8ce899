"""What a site's robots.txt allows (RFC 9309), by protego."""

import re
from collections.abc import Iterable, Iterator
from dataclasses import replace
from threading import Lock
from typing import TYPE_CHECKING, Final
from urllib.parse import urlsplit

from coreloop.answer.search.exchange import USER_AGENT
from coreloop.answer.search.extract.decode import clean_text
from coreloop.answer.search.page.fetch import Fetched, Network, fetch
from coreloop.answer.search.provider import Blocked, Failed, SearchLimits
from coreloop.base.extras import DISTRIBUTION

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
