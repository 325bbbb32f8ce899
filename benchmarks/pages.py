"""The pages of a service over many records: milliseconds and bytes of every page, the server on one core.

    uv run python benchmarks/pages.py

Makes `--records` records of 30 days with their proposals, serves them, and opens each page and up to ten
items of each section, `--rounds` times: with an unchanged log, then with a record more before each page.
"""

import argparse
import os
import re
import statistics
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from datetime import UTC, datetime
from http.client import HTTPConnection
from pathlib import Path

sys.path.append(str(Path(__file__).parents[1] / "tests"))  # after this folder, which has logs.py, too

from logs import write_logs
from serving import QUESTION, Served, served

SECTIONS = ("review", "health", "runs", "tools", "work")
BYTES_A_RECORD = 1_216
TOOLS = ("analysis", "scan", "show", "compare", "trend", "quant", "macro", "industry", "gather", "credit")
TOOL = '''

def {name}(company: str, axis: str = "", topic: str = "", years: int = 1, peers: list[str] = ()) -> str:
    """Ratios of a company.

    Parameters
    ----------
    axis : str
        Which.
    """
'''
MOST_ITEMS = 10
UNBOUNDED = "service: {requests_per_minute: 1000000, runs_per_minute: 1000000}\n"


def make(folder: Path, n_records: int) -> Path:
    """Write records and tools, and propose; gives the newest file of records."""
    today = datetime.now(UTC).date()
    records = folder / "data" / "audit" / "ai-ask"
    write_logs(records, days=30, bytes_a_day=n_records * BYTES_A_RECORD // 30, last=today)
    (folder / "tools.py").write_text('"""Tools."""' + "".join(TOOL.format(name=name) for name in TOOLS))
    for command in ("pattern", "refine"):
        subprocess.run(
            [sys.executable, "-m", "coreloop", command], cwd=folder, check=True, capture_output=True
        )
    return records / f"{today}.jsonl"


@contextmanager
def on_core(core: int) -> Iterator[None]:
    """Processes that start here run on one core only."""
    cores = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {sorted(cores)[core % len(cores)]})
    try:
        yield
    finally:
        os.sched_setaffinity(0, cores)


def addresses(connection: HTTPConnection) -> dict[str, list[str]]:
    """Each section's page, and its items' under ``SECTION item``."""
    found: dict[str, list[str]] = {}
    for section in SECTIONS:
        found[section] = [f"/ui/{section}"]
        items = dict.fromkeys(re.findall(rf'href="(/ui/{section}/[^"]+)"', get(connection, f"/ui/{section}")))
        if items:
            found[f"{section} item"] = list(items)[:MOST_ITEMS]
    return found


def get(connection: HTTPConnection, address: str) -> str:
    connection.request("GET", address)
    response = connection.getresponse()
    body = response.read().decode()
    assert response.status == 200, (address, response.status, body)
    return body


def measure(
    connection: HTTPConnection, pages: dict[str, list[str]], rounds: int, before: Callable[[], None]
) -> dict[str, list[tuple[float, int]]]:
    """Milliseconds and bytes of each request, by kind of page."""
    took = defaultdict(list)
    for _ in range(rounds):
        for kind, items in pages.items():
            for address in items:
                before()
                begun = time.perf_counter()
                size = len(get(connection, address).encode())
                took[kind].append(((time.perf_counter() - begun) * 1000, size))
    return took


def show(title: str, took: dict[str, list[tuple[float, int]]]) -> None:
    print(f"{title}: requests, p50 and p95 in ms, most KB")
    for kind, pages in took.items():
        times, sizes = zip(*pages, strict=True)
        p95 = statistics.quantiles(times, n=20)[-1]
        print(
            f"  {kind:12} {len(times):5} {statistics.median(times):8.1f} {p95:8.1f} {max(sizes) / 1000:8.1f}"
        )


def measure_service(service: Served, newest: Path, rounds: int) -> None:
    connection = HTTPConnection("127.0.0.1", service.port)
    connection.request("POST", "/run", f'{{"task": "{QUESTION}"}}', {"Content-Type": "application/json"})
    connection.getresponse().read()
    begun = time.perf_counter()
    pages = addresses(connection)
    print(f"first reading of all sections: {time.perf_counter() - begun:.1f} s")
    show("unchanged log", measure(connection, pages, rounds, lambda: None))
    line = newest.read_bytes().splitlines(keepends=True)[0]

    def grow() -> None:
        with newest.open("ab") as file:
            file.write(line)

    show("a record more before each page", measure(connection, pages, rounds, grow))


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--records", type=int, default=100_000)
    parser.add_argument("--rounds", type=int, default=20)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name, ExitStack() as stack:
        newest = make(Path(name), options.records)
        with on_core(0):
            service = stack.enter_context(served(Path(name), settings=UNBOUNDED))
        with on_core(1):
            measure_service(service, newest, options.rounds)


if __name__ == "__main__":
    main()
