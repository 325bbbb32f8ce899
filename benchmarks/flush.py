"""`flush` of a one-call record against open, append, close with `json.dumps`; and whole requests.

    uv run python benchmarks/flush.py [--release]

Both write to files in the same temporary folder, in turns, so that both see the same machine. A round's
figure is the median of its requests; what is printed is that of the best round. With --release, requests are
recorded in turns by this code and by the last release (or the commit in CORELOOP_BASE), in processes of their
own; it exits 1 if this code takes over `MOST` times as long.
"""

import io
import json
import os
import statistics
import subprocess
import sys
import tarfile
import tempfile
import time
from pathlib import Path
from typing import Any

from coreloop.observe import AuditCollector, dropped

ROUNDS, REQUESTS, MOST = 15, 2000, 1.3
QUESTION = "삼성전자 수익성 분석해줘"
ROWS = [{"id": f"W{n:07}", "name": f"item {n}", "price": n * 1.25, "open": True} for n in range(30)]
RESULTS = [{"rows": ROWS[n : n + 10]} for n in (0, 10, 20)]
CALLS: dict[str, list[tuple[dict[str, str], Any]]] = {
    "no call": [],
    "one call": [({"axis": "수익성", "stockCode": "005930"}, ...)],
    "three calls with ten rows each": [({"id": f"W{n:07}"}, result) for n, result in enumerate(RESULTS, 1)],
}


def requests_round(folder: Path, calls: list[tuple[dict[str, str], Any]]) -> tuple[float, float]:
    """Return the median microseconds of a flush, and of all recording of a request."""
    flushes, requests = [], []
    for _ in range(REQUESTS):
        begun = time.perf_counter_ns()
        audit = AuditCollector(QUESTION, provider="oauth-codex", model="gpt-5-codex", data_dir=folder)
        for args, result in calls:
            audit.observe_tool_call("analysis", args, duration_ms=18, result_size_bytes=4012, result=result)
        ready = time.perf_counter_ns()
        audit.flush(chunk_len=1823)
        done = time.perf_counter_ns()
        flushes.append(done - ready)
        requests.append(done - begun)
    return statistics.median(flushes) / 1e3, statistics.median(requests) / 1e3


def plain_round(path: Path, record: dict[str, object]) -> float:
    times_ns = []
    for _ in range(REQUESTS):
        begun = time.perf_counter_ns()
        with path.open("a", encoding="utf-8") as file:
            file.write(json.dumps(record, ensure_ascii=False) + "\n")
        times_ns.append(time.perf_counter_ns() - begun)
    return statistics.median(times_ns) / 1e3


def recorded_by(source: Path) -> list[float]:
    """Microseconds of each kind of request in a process that imports the code in a folder."""
    command, environment = [sys.executable, __file__, "--round"], {**os.environ, "PYTHONPATH": str(source)}
    done = subprocess.run(command, env=environment, capture_output=True, check=True)
    return [float(text) for text in done.stdout.split()]


def compare(release: str, folder: Path) -> int:
    """Record in turns with this code and a release's; return 1 if this takes too long."""
    if not release:
        print("no release to compare with")
        return 0
    packed = subprocess.run(["git", "archive", release, "src"], capture_output=True, check=True).stdout
    with tarfile.open(fileobj=io.BytesIO(packed)) as archive:
        archive.extractall(folder, filter="data")
    rounds = [(recorded_by(Path("src").resolve()), recorded_by(folder / "src")) for _ in range(ROUNDS)]
    times = [[min(column) for column in zip(*side, strict=True)] for side in zip(*rounds, strict=True)]
    ratios = [today / before for today, before in zip(*times, strict=True)]
    for what, ratio in zip(CALLS, ratios, strict=True):
        print(f"{what}: {ratio:.2f} of the time of {release} (at most {MOST})")
    return int(max(ratios) > MOST)


def last_release() -> str:
    """Return the commit to compare with, or an empty text if there is no release."""
    command = ["git", "describe", "--tags", "--abbrev=0", "--match", "v*"]
    tag = subprocess.run(command, capture_output=True, text=True, check=False).stdout.strip()
    return os.environ.get("CORELOOP_BASE", tag)


def main() -> int:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        if "--round" in sys.argv:
            print(*(requests_round(folder, calls)[1] for calls in CALLS.values()))
            return 0
        if "--release" in sys.argv:
            return compare(last_release(), folder)
        requests_round(folder, CALLS["one call"])
        day_file = next((folder / "audit" / "ai-ask").glob("*.jsonl"))
        record = json.loads(day_file.read_text(encoding="utf-8").splitlines()[0])
        plain, rounds = [], []
        for _ in range(ROUNDS):
            plain.append(plain_round(folder / "plain.jsonl", record))
            rounds.append([requests_round(folder, calls) for calls in CALLS.values()])
        assert not dropped()
    print(f"open, json.dumps, append, close: {min(plain):6.2f} us")
    for what, times in zip(CALLS, zip(*rounds, strict=True), strict=True):
        flush, request = map(min, zip(*times, strict=True))
        print(f"{what}: flush {flush:.2f} us, the whole request {request:.2f} us")
    flush = min(times[1][0] for times in rounds)
    print(f"flush of one call is {min(plain) / flush:.1f} times faster (goal: 5)")
    return 0


if __name__ == "__main__":
    sys.exit(main())
