"""Statements found in half of the real episodes, checked against the other half.

    uv run python benchmarks/retail.py --data ../shared/data

Mines the episodes of even-numbered tasks and counts each statement in the episodes of odd-numbered tasks. The
data is not part of the project: `tau_retail_trajectories.jsonl.xz` contains message lists,
`tau_retail_gpt4o_gpt41.jsonl` their times.
"""

import argparse
import lzma
import re
import tempfile
from datetime import date
from pathlib import Path

import orjson

from coreloop.base.date_range import Days
from coreloop.base.project.settings import Settings
from coreloop.learn.facts.counting import MineSettings
from coreloop.learn.mine.folder import read_folder
from coreloop.learn.mine.sample import Sample, read_sample
from coreloop.learn.mine.window import merge
from coreloop.learn.pattern.sources import find_sources
from coreloop.learn.proposals.advice import parse_advice, written_path
from coreloop.learn.proposals.statements import MIN_AVOIDED, Statement
from coreloop.learn.proposals.vocabulary import Vocabulary
from coreloop.learn.refine.conditions import find_conditions
from coreloop.observe.importers.run import ImportRequest, run_import

ALWAYS = Days(date(2000, 1, 1), date(2100, 1, 1))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, required=True)
    data = parser.parse_args().data
    with tempfile.TemporaryDirectory() as scratch:
        even, odd = (_sample(data, Path(scratch), parity) for parity in (0, 1))
    print(f"{len(even.requests)} episodes of even tasks, {len(odd.requests)} of odd tasks")
    sources = find_sources(even)
    shares = [_share(source, odd) for source in sources]
    for statement, (hits, n) in zip(sources, shares, strict=True):
        print(f"  {statement.tool}: {statement.line}: {statement.sides}; odd {hits} of {n}")
    n_stable = sum(hits >= 0.7 * n for hits, n in shares)
    n_idle = sum(source.avoided < MIN_AVOIDED for source in sources)
    print(f"{len(sources)} sources, {n_stable} stay at 0.7 or more; {n_idle} have nothing to avoid")
    _show("conditions", find_conditions(even, Vocabulary({}, Settings())).statements, odd)


def _sample(data: Path, scratch: Path, parity: int) -> Sample:
    chats, folder = scratch / f"{parity}.jsonl", scratch / f"records-{parity}"
    with lzma.open(data / "tau_retail_trajectories.jsonl.xz") as lines, chats.open("wb") as half:
        half.writelines(line for line in lines if _task(line) % 2 == parity)
    times = data / "tau_retail_gpt4o_gpt41.jsonl"
    request = ImportRequest(source="openai-chat", paths=(chats,), folder=folder, times=times)
    run_import(request, Settings(), now_s=0.0)
    return read_sample(merge(read_folder(folder, MineSettings()), ALWAYS))


def _task(line: bytes) -> int:
    match = re.search(r"-t(\d+)-", orjson.loads(line)["request_id"])
    assert match is not None
    return int(match[1])


def _share(statement: Statement, sample: Sample) -> tuple[int, int]:
    """Return how many values come from the stated source, and the number of values."""
    advice = parse_advice(statement.line)
    assert advice is not None
    slots = dict(advice.slots)
    hits = n = 0
    for _, _, call in sample.calls():
        argument = call.arguments.get(slots["argument"][0])
        if call.tool == statement.tool and call.ok and argument is not None and argument.sources is not None:
            places = {written_path(path, sample.tools) for path in argument.sources}
            hits, n = hits + bool(places.intersection(slots["paths"])), n + 1
    return hits, n


def _show(noun: str, statements: list[Statement] | tuple[Statement, ...], odd: Sample) -> None:
    """Print the sides of each statement in both halves."""
    print(f"{len(statements)} {noun}")
    in_odd = find_conditions(odd, Vocabulary({}, Settings())).statements
    odd_sides = {(statement.tool, statement.line): statement.sides for statement in in_odd}
    for statement in statements:
        sides = odd_sides.get((statement.tool, statement.line), "not stated")
        figures = f"{statement.sides} (q {statement.q_value:.1e}); odd {sides}"
        print(f"  {statement.tool}: {statement.line}: {figures}")


if __name__ == "__main__":
    main()
