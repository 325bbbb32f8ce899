"""The knowledge database: cleanup, its dry run and a look-up, with 100,000 executions like dartlab's.

    uv run python benchmarks/knowledge.py [--executions 100000]

Whole processes, including start-up; wall-clock and processor time, the best of three runs on fresh copies.
"""

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

sys.path.append(str(Path(__file__).parents[1] / "tests"))

from old_knowledge import bullet, execution, insight, make_old, rows_of

RUNS = 3
COMMAND = str(Path(sys.executable).with_name("dartlab-coreloop"))
ANSWER = "영업이익률은 업종 중앙값보다 높고 현금흐름이 순이익을 따라온다. " * 5


def build(path: Path, executions: int) -> None:
    """Make two months of requests about a thousand companies, with insights and bullets."""
    now = time.time()
    step = 60 * 86_400 / executions
    make_old(
        path,
        executions=(
            execution(n, at=now - n * step, stock_code=f"99{n % 1000:04d}", result_summary=ANSWER)
            for n in range(executions)
        ),
        insights=(
            insight(n, at=now, source=("live", "audit", "blog")[n % 3], narrative=ANSWER)
            for n in range(executions // 50)
        ),
        playbook=(
            bullet(n, at=now, successes=n % 9, failures=n % 4, intent=f"topic{n % 12}")
            for n in range(executions // 200)
        ),
    )


def seconds(source: Path, *arguments: str) -> tuple[float, float]:
    """Return wall-clock and processor time of a command on a fresh copy of the database."""
    with tempfile.TemporaryDirectory() as name:
        database = Path(name, "data", "ai", "knowledge", "dartlab_knowledge.db")
        database.parent.mkdir(parents=True)
        shutil.copy(source, database)
        begun, before = time.perf_counter(), os.times()
        subprocess.run([COMMAND, *arguments], cwd=name, check=True, capture_output=True)
        elapsed, after = time.perf_counter() - begun, os.times()
        if "--confirm" in arguments:
            assert rows_of(database, "unscrubbed") == []
            assert b"QUESTION" not in database.read_bytes()
        used = after.children_user + after.children_system - before.children_user - before.children_system
        return elapsed, used


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--executions", type=int, default=100_000)
    executions = parser.parse_args().executions
    with tempfile.TemporaryDirectory() as name:
        source = Path(name, "old.db")
        build(source, executions)
        print(f"{executions:,} executions, {source.stat().st_size / 1e6:.0f} MB")
        for arguments in (
            ["knowledge", "cleanup", "--confirm"],
            ["knowledge", "cleanup"],
            ["knowledge", "show", "990001"],
        ):
            walls, used = zip(*(seconds(source, *arguments) for _ in range(RUNS)), strict=True)
            print(f"{' '.join(arguments):32} {min(walls):5.2f} s, {min(used):5.2f} s of a processor")


if __name__ == "__main__":
    main()
