"""Services for tests: real processes of ``serve`` on this machine, and a search that a test holds back."""

import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from types import MappingProxyType
from typing import Any
from urllib.parse import parse_qs, urlsplit

import httpx2

from researching import project

QUESTION = "How long is the Han river?"
_START_S = 120.0
_WITH_CONSTANTS = """
import json, sys
from importlib import import_module
for name, value in json.loads(sys.argv.pop(1)).items():
    setattr(import_module(name.rpartition(".")[0]), name.rpartition(".")[2], value)
import coreloop.__main__
"""
"""The same program with other bounds."""
REQUESTS, RUNS = "coreloop.web.service.REQUESTS_PER_MINUTE", "coreloop.web.service.RUNS_PER_MINUTE"
UNBOUNDED = {REQUESTS: 1_000_000, RUNS: 1_000_000, "coreloop.web.api.MAX_QUEUED": 100_000}


def until(is_met: Callable[[], Any], seconds: float = 20.0) -> Any:
    """Wait for a condition; returns its first true value."""
    give_up_at = time.monotonic() + seconds
    while not (value := is_met()):
        assert time.monotonic() < give_up_at, "the condition was not met in time"
        time.sleep(0.01)
    return value


@dataclass
class Served:
    """A process of ``serve``."""

    process: subprocess.Popen[bytes]
    log: Path
    folder: Path
    port: int = 0

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    @property
    def lines(self) -> list[dict[str, Any]]:
        """What it has logged."""
        return [json.loads(line) for line in self.log.read_text().splitlines() if line.startswith("{")]

    def client(self, **more: Any) -> httpx2.Client:
        return httpx2.Client(base_url=self.url, timeout=30, trust_env=False, **more)

    def end(self, sig: int = signal.SIGTERM) -> int:
        """Send a signal and wait for the end; returns the exit code."""
        self.process.send_signal(sig)
        return self.process.wait(30)


@contextmanager
def served(
    folder: Path,
    *options: str,
    command: str = "serve",
    settings: str = "",
    environ: dict[str, str] | None = None,
    lease_s: float | None = None,
    bounds: Mapping[str, float] = MappingProxyType({}),
):
    """Serve a project, or receive spans for it; the process ends with the block.

    With a lease, jobs are free so many seconds after its end instead of half a minute.
    """
    if not (folder / "docs").exists():
        project(folder)
    if settings:
        (folder / "coreloop.yaml").write_text(settings)
    process_log = folder / f"serve-{time.monotonic_ns()}.log"
    constants = {**bounds, **({} if lease_s is None else {"coreloop.runs.jobs.queue.LEASE_S": lease_s})}
    program = ["-c", _WITH_CONSTANTS, json.dumps(constants)] if constants else ["-m", "coreloop"]
    with process_log.open("wb") as log:
        process = subprocess.Popen(
            [sys.executable, *program, command, "--port", "0", *options],
            cwd=folder,
            stdout=subprocess.DEVNULL,
            stderr=log,
            env={**os.environ, **(environ or {})},
        )
    service = Served(process, process_log, folder)
    try:
        service.port = until(lambda: _port(service), _START_S)
        yield service
    finally:
        process.kill()
        process.wait(30)


def _port(service: Served) -> int:
    assert service.process.poll() is None, service.log.read_text()
    return next((line["port"] for line in service.lines if line["event"] == "listening"), 0)


@dataclass(frozen=True)
class Sent:
    """A server-sent event."""

    id: int
    name: str
    data: Any


def events_in(lines: Iterator[str]) -> Iterator[Sent]:
    """Read server-sent events as a browser does."""
    fields: dict[str, str] = {}
    for line in lines:
        if line and not line.startswith(":"):
            name, _, value = line.partition(": ")
            fields[name] = value
        elif not line and fields:
            yield Sent(int(fields.get("id", 0)), fields["event"], json.loads(fields["data"]))
            fields = {}


@dataclass
class HeldSearch:
    """A SearXNG whose answers wait until a test releases them."""

    url: str = ""
    queries: list[str] = field(default_factory=list)
    is_released: threading.Event = field(default_factory=threading.Event)

    @property
    def settings(self) -> str:
        return f"search: {{providers: [searxng], searxng_url: {self.url}}}\n"


class _Handler(BaseHTTPRequestHandler):
    search: HeldSearch

    def do_GET(self) -> None:
        query = parse_qs(urlsplit(self.path).query).get("q", [""])[0]
        self.search.queries.append(query)
        self.search.is_released.wait()
        found = {"title": "Han", "url": "http://127.0.0.1:9/han", "content": "The Han river is 494 km long."}
        body = json.dumps({"results": [found]}).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.end_headers()
        with suppress(OSError):  # the process that asked has ended
            self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        pass


@contextmanager
def held_search() -> Iterator[HeldSearch]:
    """Run the server."""
    search = HeldSearch()
    server = ThreadingHTTPServer(("127.0.0.1", 0), type("Handler", (_Handler,), {"search": search}))
    server.daemon_threads = True
    search.url = f"http://127.0.0.1:{server.server_address[1]}"
    threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
    try:
        yield search
    finally:
        search.is_released.set()
        server.shutdown()
        server.server_close()


def asked(client: httpx2.Client, path: str = "/run", headers: Sequence[tuple[str, str]] = (), **body: Any):
    """Ask the question, or another one."""
    return client.post(path, json={"task": QUESTION, **body}, headers=dict(headers))
