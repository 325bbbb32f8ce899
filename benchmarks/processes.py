"""Eight processes write 20,000 records each into the same day file; then again, and one process is killed.

    uv run python benchmarks/processes.py

Counts torn, duplicate and lost records: every line must be a complete record, every record must occur once,
and only records that the killed process had not written yet may be absent.
"""

import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

PROCESSES, RECORDS = 8, 20_000
WRITER = """
import sys
from coreloop.observe import AuditCollector, dropped
folder, name, count = sys.argv[1], sys.argv[2], int(sys.argv[3])
TIME = 1_777_000_000 * 10**9
for number in range(count):
    audit = AuditCollector(f"질문 {name} {number}", model=name, data_dir=folder, clock_ns=lambda: TIME)
    audit.observe_tool_call("analysis", {"axis": "수익성", "text": "가" * (number % 300)})
    audit.flush(chunk_len=number)
assert not dropped(), dropped()
"""


def run(folder: Path, *, kill: bool) -> None:
    writers = [
        subprocess.Popen([sys.executable, "-c", WRITER, str(folder), f"writer-{index}", str(RECORDS)])
        for index in range(PROCESSES)
    ]
    day_file = folder / "audit" / "ai-ask" / "2026-04-24.jsonl"
    if kill:
        size = random.randrange(1_000_000, 20_000_000)
        while not day_file.exists() or day_file.stat().st_size < size:
            os.sched_yield()
        writers[0].send_signal(signal.SIGKILL)
    codes = [writer.wait() for writer in writers]
    assert all(code == 0 for code in codes[1:]), codes
    report(day_file, kill=kill)


def report(day_file: Path, *, kill: bool) -> None:
    seen: Counter[tuple[str, int]] = Counter()
    torn = 0
    with day_file.open("rb") as lines:
        for line in lines:
            try:
                record = json.loads(line)
                seen[record["model"], record["chunk_len"]] += 1
            except ValueError:
                torn += 1
    expected = {(f"writer-{index}", number) for index in range(PROCESSES) for number in range(RECORDS)}
    missing = expected - seen.keys()
    allowed = {pair for pair in missing if kill and pair[0] == "writer-0"}
    print(
        f"{'one killed' if kill else 'all finish'}: {sum(seen.values()):,} records, {torn} torn, "
        f"{sum(seen.values()) - len(seen)} twice, {len(missing - allowed)} lost, {len(allowed)} not written"
    )
    assert not torn
    assert len(seen) == sum(seen.values())
    assert not missing - allowed


def main() -> None:
    for kill in (False, True):
        with tempfile.TemporaryDirectory() as name:
            begun = time.perf_counter()
            run(Path(name), kill=kill)
            print(f"            {time.perf_counter() - begun:.1f} s")


if __name__ == "__main__":
    main()
