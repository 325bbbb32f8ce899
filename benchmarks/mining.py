"""Mining P and F, cold and warm, against DuckDB, which finds the same.

    uv run --group benchmarks python benchmarks/mining.py [ROW…] [--rounds 3]

A process each, in turns: processor and wall seconds, memory of the largest process and of all together, and
the speed of the first's by processor time (median, least, most of the rounds). Then `refine` on logs that are
hard for it, and memory with long arguments. Exits 1 if findings differ.
"""

import argparse
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import partial
from itertools import count
from pathlib import Path
from random import Random
from statistics import median
from tempfile import TemporaryDirectory, TemporaryFile
from typing import Any, NamedTuple

import psutil

from logs import Change, write_logs

HERE = Path(__file__).parent
COMMAND = str(Path(sys.executable).with_name("dartlab-coreloop"))
# Megabytes and files; the goals as a multiple of DuckDB's speed, cold and warm.
LOGS = {
    "1": (1, 1, "1.1 and 1.5"),
    "25/3": (25, 3, "0.9 and 1.5"),
    "25/365": (25, 365, "0.75 and 1.5"),
    "250": (250, 30, "0.7 and 3"),
    "1000": (1000, 30, "0.7 and 4.5"),
}


class Used(NamedTuple):
    """What a process and its children took, and what it printed."""

    cpu_s: float
    wall_s: float
    largest_mb: int
    together_mb: int
    out: str


def main() -> None:
    rows = {name: partial(compare, *row) for name, row in LOGS.items()}
    rows |= {"refine": refine, "memory": memory}
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("rows", nargs="*", default=list(rows), metavar="ROW", help=f"of {', '.join(rows)}")
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()
    are_equal = []
    for name in options.rows:
        with TemporaryDirectory() as scratch:
            are_equal.append(rows[name](options, Path(scratch)))
    sys.exit(0 if all(are_equal) else "the findings differ")


def compare(megabytes: int, days: int, goals: str, options: Any, scratch: Path) -> bool:
    logs, cache = written(scratch, megabytes, days), scratch / "cache"

    def cold() -> Used:
        shutil.rmtree(cache, ignore_errors=True)
        return run_miner("ours", logs, cache)

    miners = {"DuckDB": partial(run_miner, "duckdb_query", logs), "cold": cold}
    miners["warm"] = partial(run_miner, "ours", logs, cache)
    found = in_turns(f"{megabytes} MB in {days} files; goals, cold and warm: {goals}", options.rounds, miners)
    print(*sorted(found), sep="\n")
    return len(found) == 1


def refine(options: Any, scratch: Path) -> bool:
    """Measure the command, after a first run, on a usual log and on two with much that occurs seldom."""

    def warm(logs: Path) -> Used:
        with TemporaryDirectory() as project:
            argv = [COMMAND, "refine", "--in-dir", str(logs), "--since", "2026-04-01"]
            run(argv, project)
            return run(argv, project)

    changes: dict[str, Change] = {
        "usual log": lambda record, number: None,
        "4,000 argument-name sets": partial(add_argument, count()),
        "8,000 error texts": partial(vary_error, count()),
    }
    runs = {name: partial(warm, written(scratch / name, 25, 3, change)) for name, change in changes.items()}
    in_turns("`refine`, warm, 25 MB in 3 files; goals: 1.5 s, speed 0.5", options.rounds, runs)
    return True


def add_argument(numbers: Iterator[int], record: dict[str, Any], _: int) -> None:
    record["tool_calls"][0]["args"][f"option_{next(numbers) % 4000}"] = True


def vary_error(numbers: Iterator[int], record: dict[str, Any], _: int) -> None:
    """Let the first call fail first, with a text of two odd words."""
    word = f"{next(numbers) % 8000:04}".translate(str.maketrans("0123456789", "bdfgklmnrt"))
    error = f"ValueError: the o{word[:2]}e is not an a{word[2:]}i"
    record["tool_calls"].insert(0, {**record["tool_calls"][0], "ok": False, "error": error})


def memory(options: Any, scratch: Path) -> bool:
    text = "".join(Random(1).choices("가나다라마바사 abcdefgh", k=60_000))

    def lengthen(record: dict[str, Any], number: int) -> None:
        for place, call in enumerate(record["tool_calls"], 97 * number):
            call["args"]["document"] = text[place % 40_000 :][:20_000]

    logs = {size: written(scratch / f"{size}", size, size // 8, lengthen) for size in (25, 250)}
    miners = {f"cold, {size} MB": partial(run_miner, "ours", logs[size], scratch / "cache") for size in logs}
    in_turns("Arguments of 20,000 characters; goal: 250 MB", 1, miners)
    return True


def written(folder: Path, megabytes: int, days: int, change: Change = lambda record, number: None) -> Path:
    logs = folder / "logs"
    write_logs(logs, days=days, bytes_a_day=megabytes * 1_000_000 // days, change=change)
    return logs


def in_turns(title: str, rounds: int, commands: Mapping[str, Callable[[], Used]]) -> set[str]:
    """Run commands in turns, and print what they took; return their different outputs."""
    used: dict[str, list[Used]] = {name: [] for name in commands}
    for _ in range(rounds):
        for name, command in commands.items():
            used[name].append(command())
    print(f"\n{title}")
    first = next(iter(used.values()))
    for name, runs in used.items():
        cpu_s, wall_s = median(run.cpu_s for run in runs), median(run.wall_s for run in runs)
        largest_mb, together_mb = max(run.largest_mb for run in runs), max(run.together_mb for run in runs)
        speeds = [one.cpu_s / own.cpu_s for one, own in zip(first, runs, strict=True)]
        print(
            f"{name:24} {cpu_s:6.2f} s, wall {wall_s:6.2f} s, {largest_mb:4} MB, together {together_mb:4} MB,"
            f" speed {median(speeds):5.2f} ({min(speeds):.2f} to {max(speeds):.2f})",
            flush=True,
        )
    return {run.out for runs in used.values() for run in runs}


def run_miner(module: str, *folders: Path) -> Used:
    return run([sys.executable, "-m", f"miners.{module}", *map(str, folders)], HERE)


def run(argv: Sequence[str], folder: Path | str) -> Used:
    begun, together = time.perf_counter(), 0
    with TemporaryFile("w+") as out:
        process = psutil.Popen(argv, stdout=out, stderr=subprocess.DEVNULL, cwd=folder)
        while not (ended := os.wait4(process.pid, os.WNOHANG))[0]:
            with suppress(psutil.Error):
                sharing = [process, *process.children(recursive=True)]
                together = max(together, sum(one.memory_full_info().pss for one in sharing))
            time.sleep(0.02)
        wall_s = time.perf_counter() - begun
        out.seek(0)
        text = out.read().strip()
    _, status, usage = ended
    if status:
        sys.exit(f"{' '.join(argv)} failed")
    largest_mb = usage.ru_maxrss // 1024
    return Used(usage.ru_utime + usage.ru_stime, wall_s, largest_mb, max(largest_mb, together >> 20), text)


if __name__ == "__main__":
    main()
