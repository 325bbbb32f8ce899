"""The service: what it adds to a search, and what open event streams cost.

    uv run python benchmarks/service.py

Search: `--searches` requests, 50 a second, against the same searches without HTTP. Streams: `--streams` open
streams of a run that waits, and the memory of the process before and with them.
"""

import argparse
import json
import socket
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from contextlib import ExitStack, closing
from http.client import HTTPConnection
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))

from coreloop.answer.search.index.search_index import search_index
from coreloop.answer.search.provider import SearchLimits
from coreloop.base.project.workspace import open_workspace
from researching import project
from serving import QUESTION, Served, held_search, served, until

PER_S = 50
UNBOUNDED = "service: {runs_per_minute: 1000000, requests_per_minute: 1000000}\n"


def memory_mb(process_id: int) -> float:
    """Resident memory."""
    status = Path(f"/proc/{process_id}/status").read_text()
    line = next(line for line in status.splitlines() if line.startswith("VmRSS"))
    return int(line.split()[1]) / 1024


def bare_ms(folder: Path, number: int) -> list[float]:
    """The same searches in this process, at the same rate: a processor that sleeps is slow at first."""
    index = open_workspace(folder).index_file
    return paced_ms(lambda: search_index(index, QUESTION, SearchLimits()), number)


def paced_ms(search: Callable[[], object], number: int) -> list[float]:
    """How long each of so many searches takes, at a steady rate."""
    took = []
    for _ in range(number):
        begun = time.perf_counter()
        search()
        took.append((time.perf_counter() - begun) * 1000)
        time.sleep(max(0.0, begun + 1 / PER_S - time.perf_counter()))
    return took


def served_ms(service: Served, number: int) -> list[float]:
    """Searches at a steady rate, by the standard library's client, which costs the least."""
    connection = HTTPConnection("127.0.0.1", service.port)
    body, headers = json.dumps({"query": QUESTION}), {"Content-Type": "application/json"}

    def search() -> None:
        connection.request("POST", "/search", body, headers)
        response = connection.getresponse()
        response.read()
        assert response.status == 200

    with closing(connection):
        return paced_ms(search, number)


def measure_streams(service: Served, run_id: str, number: int) -> None:
    """Open streams, and read the beginning of each."""
    request = f"GET /runs/{run_id}/events HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n".encode()
    before = memory_mb(service.process.pid)
    with ExitStack() as connections:
        for _ in range(number):
            connection = socket.create_connection(("127.0.0.1", service.port))
            connections.enter_context(connection)
            connection.sendall(request)
            while b"event: " not in connection.recv(65_536):
                pass
        after = memory_mb(service.process.pid)
    print(f"{number} streams: {after:.0f} MB in all, {after - before:.0f} MB for them")


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--searches", type=int, default=500)
    parser.add_argument("--streams", type=int, default=500)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name, served(Path(name), settings=UNBOUNDED) as service:
        served_ms(service, 20)
        over = served_ms(service, options.searches)
        bare = bare_ms(service.folder, options.searches)
        p50 = statistics.median(over), statistics.median(bare)
        p95 = statistics.quantiles(over, n=20)[-1]
        print(f"search at {PER_S} a second: p50 {p50[0]:.2f} ms, bare {p50[1]:.2f} ms, p95 {p95:.2f} ms")
    with tempfile.TemporaryDirectory() as name, held_search() as search:
        project(Path(name))
        with served(Path(name), settings=UNBOUNDED + search.settings) as service, service.client() as client:
            run_id = client.post("/run", json={"task": QUESTION, "async": True}).json()["run_id"]
            until(lambda: search.queries)
            measure_streams(service, run_id, options.streams)


if __name__ == "__main__":
    main()
