"""`flush` of a one-call record against open, append, close with `json.dumps`; and large arguments.

    uv run python benchmarks/flush.py

Both write to files in the same temporary folder, in turns, so that both see the same machine. A round's
figure is the median of its calls; the ratio is that of the best rounds. Arguments of 10,000 rows, and of a
list with 2^26 paths to one value, are compared with a `json.dumps` of the rows.
"""

import json
import statistics
import tempfile
import time
from pathlib import Path

from coreloop.observe import AuditCollector, dropped

ROUNDS, CALLS = 15, 2000
QUESTION = "삼성전자 수익성 분석해줘"
ARGS = {"axis": "수익성", "stockCode": "005930"}
ROWS = {
    "rows": [{"id": f"W{n:07}", "name": f"item {n}", "price": n * 1.25, "open": True} for n in range(10_000)]
}
N_DOUBLINGS = 26


def open_collector(folder: Path) -> AuditCollector:
    audit = AuditCollector(
        QUESTION, stockCode_hint="005930", provider="oauth-codex", model="gpt-5-codex", data_dir=folder
    )
    audit.observe_tool_call("analysis", ARGS, ok=True, duration_ms=1823, result_size_bytes=4012)
    return audit


def flush_round(folder: Path) -> tuple[float, float]:
    """Return the median microseconds of a flush, and of all recording of a request."""
    flushes, requests = [], []
    for _ in range(CALLS):
        begun = time.perf_counter_ns()
        audit = open_collector(folder)
        ready = time.perf_counter_ns()
        audit.flush(chunk_len=1823)
        done = time.perf_counter_ns()
        flushes.append(done - ready)
        requests.append(done - begun)
    return statistics.median(flushes) / 1e3, statistics.median(requests) / 1e3


def plain_round(path: Path, record: dict[str, object]) -> float:
    times_ns = []
    for _ in range(CALLS):
        begun = time.perf_counter_ns()
        with path.open("a", encoding="utf-8") as file:
            file.write(json.dumps(record, ensure_ascii=False) + "\n")
        times_ns.append(time.perf_counter_ns() - begun)
    return statistics.median(times_ns) / 1e3


def doubled() -> dict[str, object]:
    value: list[object] = ["a"]
    for _ in range(N_DOUBLINGS):
        value = [value, value]
    return {"value": value}


def large_round(folder: Path, args: dict[str, object]) -> float:
    audit = AuditCollector(QUESTION, data_dir=folder)
    begun = time.perf_counter_ns()
    audit.observe_tool_call("analysis", args)
    return (time.perf_counter_ns() - begun) / 1e6


def dumps_round() -> float:
    begun = time.perf_counter_ns()
    json.dumps(ROWS)
    return (time.perf_counter_ns() - begun) / 1e6


def print_large(folder: Path) -> None:
    rounds = [
        (dumps_round(), large_round(folder, ROWS), large_round(folder, doubled())) for _ in range(ROUNDS)
    ]
    dumps, rows, paths = map(min, zip(*rounds, strict=True))
    print(f"json.dumps of 10,000 rows:       {dumps:6.2f} ms")
    print(f"a call with them as arguments:   {rows:6.2f} ms, {rows / dumps:.2f} of it (goal: 1)")
    print(f"a call with 2^26 paths:          {paths:6.2f} ms, {paths / dumps:.2f} of it (goal: 1)")


def main() -> None:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        open_collector(folder).flush(chunk_len=1823)
        day_file = next((folder / "audit" / "ai-ask").glob("*.jsonl"))
        record = json.loads(day_file.read_text(encoding="utf-8").splitlines()[0])
        plain, flushes, requests = [], [], []
        for _ in range(ROUNDS):
            plain.append(plain_round(folder / "plain.jsonl", record))
            flush, request = flush_round(folder)
            flushes.append(flush)
            requests.append(request)
        assert not dropped()
        print_large(folder)
    print(f"open, json.dumps, append, close: {min(plain):6.2f} us")
    print(f"flush:                           {min(flushes):6.2f} us")
    print(f"collector, one call, flush:      {min(requests):6.2f} us")
    print(f"flush is {min(plain) / min(flushes):.1f} times faster (goal: 5)")


if __name__ == "__main__":
    main()
