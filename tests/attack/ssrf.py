"""Pages that lead their reader to this machine or its network: by name, address, redirect or time."""

import socket
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from itertools import chain, repeat
from threading import Thread

from attack.case import Attack
from coreloop.answer.search.page import Network, PageReader
from coreloop.answer.search.provider import Failed, SearchLimits
from coreloop.base.http import is_public, resolve_host
from fault_server import HOST, FaultServer, replies

PRIVATE = (
    *("127.0.0.1", "127.0.0.3", "0.0.0.0", "10.0.0.1", "172.16.0.1", "192.168.0.1", "169.254.169.254"),
    *("100.64.0.1", "192.0.0.192", "168.63.129.16", "224.0.0.1", "255.255.255.255", "::", "::1"),
    *("fe80::1", "fc00::1", "fd00:ec2::254", "ff02::1", "::ffff:127.0.0.1", "::127.0.0.1"),
    *("64:ff9b::7f00:1", "2002:7f00:1::", "2001:0:1::1", "fec0::1"),
)
WRITTEN = {
    "a decimal number": "http://2130706433{port}/",
    "a hexadecimal number": "http://0x7f000001{port}/",
    "octal numbers": "http://0177.0.0.1{port}/",
    "a short address": "http://127.1{port}/",
    "zero": "http://0{port}/",
    "an IPv6 address": "http://[::1]{port}/",
    "a mapped address": "http://[::ffff:127.0.0.1]{port}/",
    "a scope": "http://[fe80::1%25lo]{port}/",
    "localhost": "http://localhost{port}/",
    "a final dot": "http://localhost.{port}/",
    "wide digits": "http://１２７.0.0.1{port}/",
    "a circled digit": "http://①27.0.0.1{port}/",
    "an ideographic dot": "http://127。0。0。1{port}/",
    "a name before": "http://public.example@127.0.0.1{port}/",
    "a name and password": "http://a:b@127.0.0.1{port}/",
    "a backslash": "http://public.example\\@127.0.0.1{port}/",
    "a fragment": "http://127.0.0.1{port}#@public.example/",
    "a newline": "http://127.0.0.1{port}/\r\nHost: public.example",
    "a file": "file:///etc/passwd",
    "gopher": "gopher://127.0.0.1{port}/_GET",
    "an FTP address": "ftp://127.0.0.1{port}/",
    "data": "data:text/html,hello",
    "no scheme": "//127.0.0.1{port}/",
    "another port": "http://public.example:22/",
}


@contextmanager
def canary(port: int) -> Iterator[list[object]]:
    """Listen on this machine's own address, where nobody may connect; yields who did."""
    caught: list[object] = []
    with socket.create_server(("127.0.0.1", port)) as listener:

        def accept() -> None:
            while True:
                try:
                    connection, peer = listener.accept()
                except OSError:
                    return
                caught.append(peer)
                connection.close()

        Thread(target=accept, daemon=True).start()
        yield caught
        listener.shutdown(socket.SHUT_RDWR)


def attacks(server: FaultServer, caught: list[object]) -> Iterator[Attack]:
    """Yield them; ``server`` stands for the public web and answers at `HOST`."""

    def reading(url: str, *answers: Sequence[str], after: str = "") -> str:
        server.paths["*"] = (
            replies(302, location=after) if after else replies(200, "x", content_type="text/plain")
        )
        server.paths["/robots.txt"] = replies(404)
        return _broken(server, caught, url, answers)

    public = f"http://public.example:{server.port}/a"
    port = f":{server.port}"
    for address in PRIVATE:
        yield Attack("SSRF", f"a name that means {address}", partial(reading, public, [address]))
        yield Attack("SSRF", f"a public address and {address}", partial(reading, public, [HOST, address]))
        changed = partial(reading, public, [HOST], [address])
        yield Attack("SSRF", f"a name that changes to {address} after robots.txt", changed)
    for name, written in WRITTEN.items():
        url = written.format(port=port)
        yield Attack("SSRF", f"written as {name}", partial(reading, url))
        if "\n" not in url:
            yield Attack("SSRF", f"a redirect to {name}", partial(reading, public, [HOST], after=url))
    inner = f"http://inner.example{port}/"
    inside = partial(reading, public, [HOST], [HOST], ["127.0.0.1"], after=inner)
    yield Attack("SSRF", "a redirect to a name inside", inside)
    yield Attack("SSRF", "a redirect to itself for ever", partial(reading, public, [HOST], after=public))


def _broken(server: FaultServer, caught: list[object], url: str, answers: Sequence[Sequence[str]]) -> str:
    """Read a page whose name means one answer after the other; without any, what this machine says."""
    told = iter(answers)
    last = repeat(answers[-1]) if answers else repeat(None)
    answer_of = chain(told, last)
    network = Network(
        resolve=lambda host: next(answer_of) or resolve_host(host),
        allows=lambda address: address == HOST or is_public(address),
        ports=frozenset({server.port, 80, 443}),
    )
    before = len(caught)
    answer = PageReader(network=network).read(url, SearchLimits(timeout_s=10))
    if len(caught) > before:
        return "it connected to this machine"
    return "" if isinstance(answer, Failed) and answer.reason else f"it was read: {answer}"
