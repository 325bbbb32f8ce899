"""What robots.txt says, as RFC 9309 has it; and what a site can do to its reader with it: nothing."""

import sys
from collections.abc import Iterator
from itertools import count
from typing import Any

import pytest

from coreloop.answer.search.page import Network, PageReader, _with_few_groups
from coreloop.answer.search.provider import Failed, Found, SearchLimits
from fault_server import HOST, FaultServer, fault_server, reader_of, replies

EVERYONE = "User-agent: *\n"


@pytest.fixture
def server() -> Iterator[FaultServer]:
    with fault_server() as server:
        server.paths["*"] = replies(200, "text", content_type="text/plain")
        yield server


def may_read(server: FaultServer, robots: str | bytes, path: str) -> bool:
    server.paths["/robots.txt"] = replies(200, robots)
    answer: Any = reader_of(server.port).read(f"http://page.example:{server.port}{path}", SearchLimits())
    assert isinstance(answer, Found) or answer == Failed("robots.txt does not allow it", is_retryable=False)
    return isinstance(answer, Found)


@pytest.mark.parametrize(
    ("robots", "path", "may"),
    [
        (EVERYONE + "Disallow: /*.pdf$", "/a/report.pdf", False),
        (EVERYONE + "Disallow: /*.pdf$", "/a/report.pdf?page=2", True),
        (EVERYONE + "Disallow: /\nAllow: /public/", "/public/a", True),  # the longest match counts
        (EVERYONE + "Disallow: /한강", "/%ED%95%9C%EA%B0%95", False),
        ("User-agent: other\nDisallow: /", "/a", True),
        ("User-agent: other\nUser-agent: *\nDisallow: /", "/a", False),
        ("USER-AGENT: DartLab-Coreloop/1.0\nDisallow: /\n\nUser-agent: *\nAllow: /", "/a", False),
        ("User-agent: *\nDisallow: /\n\nUser-agent: dartlab-coreloop\nAllow: /", "/a", True),
        ("User-agent: dartlab\nDisallow: /", "/a", True),  # another product
        ("<html>nothing to read</html>", "/a", True),
        ("\ufeff" + EVERYONE + "Disallow: /a", "/a", False),
        (b"User-agent: *\r\nDisallow: /a\r\n\xff\xfe", "/a", False),
        ("User-agent: *\rDisallow: /a", "/a", False),
    ],
)
def test_rules_are_read_as_the_standard_says(
    server: FaultServer, robots: str | bytes, path: str, may: bool
) -> None:
    assert may_read(server, robots, path) is may


@pytest.mark.parametrize(
    "field", ["User-agent: ", "user agent ", "user  agent:", "USER-AGENT\t:\t", " useragent "]
)
def test_the_number_of_groups_is_bounded_however_they_are_written(field: str) -> None:
    numbers = count()
    lines = [*(f"{field}bot{next(numbers)}" for _ in range(20_000)), "Disallow: /x"]
    assert set(_with_few_groups("\n".join(lines)).splitlines()) == {"User-agent: other", "Disallow: /x"}


@pytest.mark.slow
@pytest.mark.parametrize("path", ["/a", "/" + "a" * 1_900])
def test_rules_for_everybody_else_do_not_fill_the_memory(server: FaultServer, path: str) -> None:
    agents = "".join(f"user-agent: {number}\n" for number in range(12_000))
    rules = "".join(f"disallow:/{number}*a*b\n" for number in range(12_000))
    assert may_read(server, (agents + "user-agent: *\n" + rules)[:500_000], path)


def test_without_the_extra_no_page_is_read_and_the_answer_installs_it(
    server: FaultServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "protego", None)
    network = Network(resolve=lambda _: [HOST], allows=lambda _: True, ports=frozenset({server.port}))
    answer: Any = PageReader(network=network).read(f"http://page.example:{server.port}/a", SearchLimits())
    assert isinstance(answer, Failed)
    assert answer.reason.startswith("robots.txt: reading it needs an extra; install it: ")
    assert server.requests == []
