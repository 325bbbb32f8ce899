"""Mining P and F against a plain ``json.loads`` loop and DuckDB that do the same work.

    uv run --group benchmarks python benchmarks/mining.py --megabytes 1000 --days 30

Each runs in its own process, in turns. Prints seconds, the speed relative to the loop of the same round
(median, minimum and maximum) and the memory of the largest process. Fails unless all find exactly the same
candidates and counterexamples, including figures and examples.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from statistics import median

from logs import write_logs

HERE = Path(__file__).parent


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--megabytes", type=int, default=1000)
    parser.add_argument("--days", type=int, default=30)
    parser.add_argument("--logs", type=Path, help="logs of an earlier run; generated if absent")
    parser.add_argument("--rounds", type=int, default=1)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        logs = options.logs or Path(scratch) / "logs"
        if not logs.is_dir():
            write_logs(logs, days=options.days, bytes_a_day=options.megabytes * 1_000_000 // options.days)
        _compare(logs, options.rounds)


def _compare(logs: Path, rounds: int) -> None:
    contenders = ("ours.py", "plain_loop.py", "duckdb_query.py")
    findings: dict[str, object] = {}
    seconds: dict[str, list[float]] = {name: [] for name in contenders}
    memory = dict.fromkeys(contenders, 0)
    for _ in range(rounds):
        for name in contenders:
            elapsed, megabytes, findings[name] = _run(HERE / "miners" / name, logs)
            seconds[name].append(elapsed)
            memory[name] = max(memory[name], megabytes)
    for name in contenders:
        ratios = [loop / own for loop, own in zip(seconds["plain_loop.py"], seconds[name], strict=True)]
        times = (
            f"{median(seconds[name]):7.2f} s {median(ratios):6.1f} x ({min(ratios):.1f}-{max(ratios):.1f})"
        )
        print(f"{name:<16} {times} {memory[name]:6} MB  {findings[name]}")
    if len({json.dumps(counts, sort_keys=True) for counts in findings.values()}) != 1:
        sys.exit("the findings differ")


def _run(script: Path, logs: Path) -> tuple[float, int, object]:
    """Return the seconds, the peak memory of the largest process in MB, and the counts."""
    start = time.perf_counter()
    process = subprocess.Popen([sys.executable, script, logs], stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    out = process.stdout.read()
    _, status, usage = os.wait4(process.pid, 0)
    seconds = time.perf_counter() - start
    if status:
        sys.exit(f"{script.name} failed")
    *_, facts = out.splitlines()
    counts = json.loads(facts)
    return seconds, max(usage.ru_maxrss // 1024, counts.pop("children_mb", 0)), counts


if __name__ == "__main__":
    main()
