"""Sanitizing records against a plain loop of ``json.loads`` over the same lines, in turns.

    uv run python benchmarks/sanitize.py [RECORDS]

Prints for the best round the records per second by the clock and the processor time as a multiple of the
loop's, including process start, of the records of `benchmarks.planted`, a tenth of which have private data.
"""

import json
import os
import random
import sys
import tempfile
import time
from collections.abc import Callable
from itertools import count
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from benchmarks.planted.records import ordinary_record

from coreloop.base.project.settings import Settings
from coreloop.base.project.workspace import Workspace
from coreloop.sanitize.export import Choices, check_dir, sanitize_dir
from coreloop.sanitize.vocabulary import learn

ROUNDS, JOBS = 3, 2


def write(path: Path, n_records: int) -> None:
    chance = random.Random(7)
    path.parent.mkdir()
    with path.open("w", encoding="utf-8") as file:
        for n in range(n_records):
            record = ordinary_record(chance)
            if n % 10 == 0:
                record["question"] += f" 결과는 user{n}@example.com 으로"
            file.write(json.dumps(record, ensure_ascii=False) + "\n")


def seconds(work: Callable[[], object]) -> tuple[float, float]:
    """Return processor time and the clock's."""
    begun, used = time.perf_counter(), sum(os.times()[:4])
    work()
    return sum(os.times()[:4]) - used, time.perf_counter() - begun


def loop(path: Path) -> None:
    with path.open("rb") as lines:
        for line in lines:
            json.loads(line)


def main() -> None:
    n_records = int(sys.argv[1]) if len(sys.argv) > 1 else 50_000
    with tempfile.TemporaryDirectory() as name:
        folder, runs = Path(name), count()
        path = folder / "in" / "a.jsonl"
        write(path, n_records)
        hashing = Choices(mode="hash", vocabulary=learn([path], Workspace(folder, Settings())))
        work: dict[str, Callable[[], object]] = {
            "json.loads": lambda: loop(path),
            "--check": lambda: check_dir(path, jobs=JOBS),
            "mask": lambda: sanitize_dir(path, folder / str(next(runs)), Choices(mode="mask"), jobs=JOBS),
            "hash": lambda: sanitize_dir(path, folder / str(next(runs)), hashing, jobs=JOBS),
        }
        rounds = [{label: seconds(run) for label, run in work.items()} for _ in range(ROUNDS)]
    print(f"{n_records:,} records, {JOBS} processes, load {os.getloadavg()[0]:.1f}")
    best = {label: min(times[label] for times in rounds) for label in work}
    plain = best["json.loads"][0]
    for label, (used, clock) in best.items():
        print(f"{label:10} {n_records / clock:9,.0f} records/s; {used / plain:5.1f} x json.loads")


if __name__ == "__main__":
    main()
