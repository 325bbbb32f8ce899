"""What the effects of 50 promotions cost: `status` of a cached year with them, and of the same year without.

    uv run python benchmarks/promotions.py

Prints the median processor seconds of some runs and the ratio: with an unchanged log, and after a new record.
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))  # before this folder, which has logs.py, too

import effects
from coreloop.admin.status import read_status as status
from coreloop.learn.effect.run import KnownEffects, run_effect
from coreloop.learn.mine.run import MiningOptions
from effects import Planted, make_shop, write_days
from logs import call, record

PROMOTIONS, DAYS = 50, 365


def seconds(work: Callable[[], object], runs: int, before: Callable[[], object] = int) -> float:
    taken = []
    for _ in range(runs):
        before()
        begun = sum(os.times()[:4])
        work()
        taken.append(sum(os.times()[:4]) - begun)
    return statistics.median(taken)


def compare(what: str, read: Callable[[], object], runs: int, before: Callable[[], object] = int) -> None:
    with_effects = seconds(read, runs, before)
    original = status.read_effects
    status.read_effects = lambda *_, **__: KnownEffects()  # type: ignore[assignment]
    without = seconds(read, runs, before)
    status.read_effects = original
    print(f"{what}: {with_effects:.2f} s with effects, {without:.2f} s without: {with_effects / without:.2f}")


def main() -> int:
    raw = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=raw)
    parser.add_argument("--calls", type=int, default=5, help="a day and tool")
    parser.add_argument("--runs", type=int, default=5)
    options = parser.parse_args()
    now = datetime.now(UTC)
    effects.FIRST_DAY = now.replace(hour=0, minute=0, second=0, microsecond=0) - timedelta(days=DAYS)
    planted = [Planted(f"tool_{n}", 0.3, (0.02, 0.3)[n % 2], 20 + 6 * n) for n in range(PROMOTIONS)]
    with tempfile.TemporaryDirectory() as folder:
        shop = make_shop(Path(folder), planted, settings="forge: {base: main}\n")
        subprocess.run(["git", "-C", str(shop.project.root), "remote", "remove", "origin"], check=False)
        write_days(shop, planted, range(DAYS), calls=options.calls)
        workspace = shop.workspace

        def read() -> None:
            status.read_status(workspace, now=now, environ={}, mining=MiningOptions())

        def append() -> None:
            with (workspace.records_dir / f"{now:%Y-%m-%d}.jsonl").open("a", encoding="utf-8") as log:
                log.write(json.dumps(record(ts=now.isoformat(), tool_calls=[call("tool_1")])) + "\n")

        print(f"effect at first: {seconds(lambda: run_effect(workspace, now=now), 1):.2f} s")
        read()
        compare("status, nothing new", read, options.runs)
        compare("status after a new record", read, options.runs, append)
    return 0


if __name__ == "__main__":
    sys.exit(main())
