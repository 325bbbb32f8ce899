"""A server that speaks S3's protocol on loopback, for one module of tests."""

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from urllib.request import Request, urlopen

_SERVER = """
import logging, sys
from moto.server import ThreadedMotoServer
logging.getLogger("werkzeug").setLevel(logging.ERROR)
server = ThreadedMotoServer("127.0.0.1", 0, verbose=False)
server.start()
print("http://{}:{}".format(*server.get_host_and_port()), flush=True)
sys.stdin.read()
"""


@dataclass(frozen=True)
class S3:
    """The server, and what is put there without asking s3fs."""

    url: str

    def environment(self) -> dict[str, str]:
        """What leads s3fs here, as it would lead it to any other provider."""
        return {
            "AWS_ENDPOINT_URL": self.url,
            "AWS_ACCESS_KEY_ID": "AKIAEXAMPLE",
            "AWS_SECRET_ACCESS_KEY": "secret/of@example",
            "AWS_DEFAULT_REGION": "us-east-1",
        }

    def put(self, name: str, content: bytes = b"") -> None:
        """Make a bucket, ``bucket``, or an object, ``bucket/name``."""
        self._send(name, content, "PUT")

    def remove(self, name: str) -> None:
        self._send(name, b"", "DELETE")

    @contextmanager
    def locked(self) -> Iterator[None]:
        """Nobody has the permission to do anything."""
        self._send("moto-api/reset-auth", b"0", "POST")
        try:
            yield
        finally:
            self._send("moto-api/reset-auth", b"inf", "POST")

    def _send(self, path: str, content: bytes, method: str) -> None:
        headers = {"Content-Type": "application/octet-stream", "Authorization": "AWS someone:0"}
        urlopen(Request(f"{self.url}/{path}", content, headers, method=method)).close()


@contextmanager
def running_s3() -> Iterator[S3]:
    """The server, in a process of its own that ends with its standard input."""
    pipe = subprocess.PIPE
    with subprocess.Popen([sys.executable, "-c", _SERVER], stdin=pipe, stdout=pipe, text=True) as server:
        assert server.stdout is not None
        yield S3(server.stdout.readline().strip())
