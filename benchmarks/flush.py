"""`flush` of a one-call record against open-append-close with `json.dumps` of the same record.

    uv run python benchmarks/flush.py

Both write to files in the same temporary folder, in turns, so that both see the same machine. A round's
figure is the median of its calls; the ratio is that of the best rounds.
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
    print(f"open, json.dumps, append, close: {min(plain):6.2f} us")
    print(f"flush:                           {min(flushes):6.2f} us")
    print(f"collector, one call, flush:      {min(requests):6.2f} us")
    print(f"flush is {min(plain) / min(flushes):.1f} times faster (goal: 5)")


if __name__ == "__main__":
    main()
