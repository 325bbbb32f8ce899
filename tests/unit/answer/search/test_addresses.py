"""Only public addresses are connected to, and the address that was checked is the one that is used."""

from threading import Event

import pytest

from coreloop.answer.search.page import Network, PageReader
from coreloop.answer.search.provider import Failed, Found, SearchLimits
from coreloop.base.http import RefusedAddressError, checked_address, is_public
from fault_server import HOST, FaultServer, replies
from rows import each_row

NOT_PUBLIC = (
    *("127.0.0.1", "10.1.2.3", "172.16.0.1", "192.168.0.1", "169.254.169.254", "100.64.0.1", "0.0.0.0"),
    *("224.0.0.1", "255.255.255.255", "192.0.2.1", "198.18.0.1", "240.0.0.1"),
    *("::", "::1", "fe80::1", "fe80::1%eth0", "fc00::1", "ff02::1", "2001:db8::1"),
    *("::ffff:127.0.0.1", "::ffff:10.0.0.1", "64:ff9b::7f00:1", "64:ff9b::a00:1", "2002:7f00:1::"),
    *("::127.0.0.1", "::ffff:8.8.8.8", "64:ff9b:1::7f00:1", "fec0::1", "4000::1", "2001:0:1::1"),
    *("192.0.0.192", "168.63.129.16", "100.100.100.200", "fd00:ec2::254"),  # metadata of clouds
    *("", "localhost", "2130706433", "127.1"),
)


@each_row("address", NOT_PUBLIC)
def test_an_address_that_is_not_public_is_refused(address: str) -> None:
    assert not is_public(address)


@each_row("address", ["93.184.216.34", "8.8.8.8", "2606:2800:220:1::1946", "64:ff9b::808:808"])
def test_a_public_address_is_allowed(address: str) -> None:
    assert is_public(address)


def test_a_name_with_one_private_address_among_public_ones_is_refused() -> None:
    with pytest.raises(RefusedAddressError, match=r"a\.kr is not a public address"):
        checked_address("a.kr", resolve=lambda _: ["8.8.8.8", "10.0.0.1"], allows=is_public, timeout_s=1)


def test_a_name_that_is_not_resolved_in_time_is_refused() -> None:
    never = Event()
    with pytest.raises(RefusedAddressError, match=r"a\.kr cannot be resolved"):
        checked_address("a.kr", resolve=lambda _: [str(never.wait())], allows=is_public, timeout_s=0.05)


def test_a_name_is_resolved_once_per_connection(server: FaultServer) -> None:
    answers = iter([HOST, HOST, "127.0.0.1"])
    server.paths["*"] = replies(200, "배당은 300원이다", content_type="text/plain")
    network = Network(
        resolve=lambda _: [next(answers)],
        allows=lambda address: address == HOST,
        ports=frozenset({server.port}),
    )
    reader = PageReader(network=network)
    url = f"http://page.example:{server.port}/a"
    assert isinstance(reader.read(url, SearchLimits()), Found)  # robots.txt and the page
    assert reader.read(url, SearchLimits()) == Failed(
        "page.example is not a public address", is_retryable=False
    )


def test_the_server_sees_the_name_that_was_asked_for(server: FaultServer) -> None:
    server.paths["*"] = replies(200, "text", content_type="text/plain")
    network = Network(resolve=lambda _: [HOST], allows=lambda _: True, ports=frozenset({server.port}))
    PageReader(network=network).read(f"http://page.example:{server.port}/a#b", SearchLimits())
    assert f"Host: page.example:{server.port}".encode().lower() in server.requests[-1].lower()
    assert server.requests[-1].startswith(b"GET /a HTTP/1.1")


@pytest.mark.parametrize(
    ("url", "reason"),
    [
        ("ftp://a.kr/", "only http and https addresses are fetched"),
        ("http:///x", "only http and https addresses are fetched"),
        ("http://user:secret@a.kr/", "an address with a name or password is not fetched"),
        ("http://a.kr:8080/", "port 8080 is not fetched from"),
        ("http://a.kr:99999/", "not an address"),
        ("http://a.kr/\ud800", "not an address"),
        ("http://a.kr\x00/", "not an address"),
        ("http://a.kr/\u202ekr.b", "not an address"),
        ("http://a.kr/" + "x" * 2_000, "not an address"),
    ],
)
def test_an_address_that_is_not_fetched_says_why(url: str, reason: str) -> None:
    network = Network(resolve=lambda _: pytest.fail("resolved"))
    answer = PageReader(network=network).read(url, SearchLimits())
    assert answer == Failed(reason, is_retryable=False)
