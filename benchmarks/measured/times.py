"""What checking and exporting cost, as multiples of ``json.loads`` on the same lines."""

import json
import random
import time
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from multiprocessing import get_context

from benchmarks.measured.exports import COUNTRIES, HAS_COUNTRIES, as_lines, check, export, project
from benchmarks.planted import make_samples, names_file
from benchmarks.sanitize import record

from coreloop.base.project.workspace import Workspace

ROUNDS = 3
N_ORDINARY = 20_000


def ordinary_lines() -> list[str]:
    chance = random.Random(7)
    return [json.dumps(record(n, chance), ensure_ascii=False) + "\n" for n in range(N_ORDINARY)]


def report(seed: int, values: int) -> Iterator[str]:
    """Rows of records, countries and multiples; every run in a new process, so that no cache is warm."""
    yield "| records | countries | json.loads | --check | mask | hash |"
    yield "|---|---|---|---|---|---|"
    others = as_lines(make_samples(seed + 1, values=values))
    records = {"planted": as_lines(make_samples(seed, values=values)), "ordinary": ordinary_lines()}
    for name, lines in records.items():
        names = names_file() if name == "planted" else None
        for countries in (COUNTRIES, ("kr",)) if HAS_COUNTRIES else (COUNTRIES,):
            shown = ", ".join(countries) if HAS_COUNTRIES else "no such setting yet"
            _in_parent(others, countries)
            loop, *times = _best(lines, countries, names=names)
            multiples = " | ".join(f"{seconds / loop:.1f}" for seconds in times)
            yield f"| {len(lines):,} {name} | {shown} | {loop * 1e3:.0f} ms | {multiples} |"


def _in_parent(others: list[str], countries: Sequence[str]) -> None:
    """Import everything and compile the patterns on other records, which is not what is measured."""
    with project(others, countries=countries, names=names_file()) as workspace:
        check(workspace)
        export(workspace, "mask")
        export(workspace, "hash", out="hash")


def _best(lines: list[str], countries: Sequence[str], *, names: str | None) -> list[float]:
    runs: tuple[Callable[[Workspace], object], ...] = (
        check,
        lambda workspace: export(workspace, "mask"),
        lambda workspace: export(workspace, "hash"),
    )
    work: list[Callable[[], float]] = [lambda: seconds_of_loads(lines)]
    work += [partial(_seconds_of, lines, countries, run, names=names) for run in runs]
    rounds = [[_in_new_process(run) for run in work] for _ in range(ROUNDS)]
    return [min(times) for times in zip(*rounds, strict=True)]


def seconds_of_loads(lines: list[str]) -> float:
    begun = time.process_time()
    for line in lines:
        json.loads(line)
    return time.process_time() - begun


def _seconds_of(
    lines: list[str], countries: Sequence[str], run: Callable[[Workspace], object], *, names: str | None
) -> float:
    with project(lines, countries=countries, names=names) as workspace:
        begun = time.process_time()
        run(workspace)
        return time.process_time() - begun


def _in_new_process(run: Callable[[], float]) -> float:
    context = get_context("fork")
    receiving, sending = context.Pipe(duplex=False)
    child = context.Process(target=lambda: sending.send(run()))
    child.start()
    seconds = receiving.recv()
    child.join()
    return float(seconds)
