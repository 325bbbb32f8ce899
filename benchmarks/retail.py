"""Statements found in one half of real episodes, held against the other half, which other agents had.

    uv run python benchmarks/retail.py --data ../shared/data

Mines the episodes of tasks with even numbers and counts in those of odd ones what each statement says. The
data is no part of the project: `tau_retail_trajectories.jsonl.xz` holds message lists,
`tau_retail_gpt4o_gpt41.jsonl` their times.
"""

import argparse
import lzma
import re
import tempfile
from datetime import date
from pathlib import Path

import orjson

from coreloop.days import Days
from coreloop.mine.folder import roll_up_folder
from coreloop.mine.rollup import MineSettings
from coreloop.mine.sample import Sample, read_sample
from coreloop.mine.window import merge
from coreloop.observe.importers.run import ImportRequest, run_import
from coreloop.pattern.statements import find_statements
from coreloop.project.settings import Settings
from coreloop.proposals.advice import parse_advice, written_path
from coreloop.proposals.statements import Statement
from coreloop.proposals.vocabulary import Vocabulary
from coreloop.refine.conditions import find_conditions

ALWAYS = Days(date(2000, 1, 1), date(2100, 1, 1))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, required=True)
    data = parser.parse_args().data
    with tempfile.TemporaryDirectory() as scratch:
        even, odd = (_sample(data, Path(scratch), parity) for parity in (0, 1))
    print(f"{len(even.requests)} episodes of even tasks, {len(odd.requests)} of odd ones")
    said = find_statements(even)
    sources = [one for one in said.statements if one.kind == "source"]
    shares = [_share(one, odd) for one in sources]
    for statement, (stood, n) in zip(sources, shares, strict=True):
        print(f"  {statement.tool}: {statement.line}: {statement.sides}; odd {stood} of {n}")
    stay = sum(stood >= 0.7 * n for stood, n in shares)
    print(f"{len(sources)} sources, {stay} of them stay at 0.7 or more")
    _show("contrasts and choices", [one for one in said.statements if one.kind != "source"], odd)
    _show("conditions", find_conditions(even, Vocabulary({}, Settings())).statements, odd)


def _sample(data: Path, scratch: Path, parity: int) -> Sample:
    chats, folder = scratch / f"{parity}.jsonl", scratch / f"records-{parity}"
    with lzma.open(data / "tau_retail_trajectories.jsonl.xz") as lines, chats.open("wb") as kept:
        kept.writelines(line for line in lines if _task(line) % 2 == parity)
    times = data / "tau_retail_gpt4o_gpt41.jsonl"
    request = ImportRequest(source="openai-chat", paths=(chats,), folder=folder, times=times)
    run_import(request, Settings(), now_s=0.0)
    return read_sample(merge(roll_up_folder(folder, MineSettings()), ALWAYS))


def _task(line: bytes) -> int:
    found = re.search(r"-t(\d+)-", orjson.loads(line)["request_id"])
    assert found is not None
    return int(found[1])


def _share(statement: Statement, sample: Sample) -> tuple[int, int]:
    """How many values stood where a source says, of how many."""
    said = parse_advice(statement.line)
    assert said is not None
    slots = dict(said.slots)
    stood = n = 0
    for _, _, call in sample.calls():
        argument = call.arguments.get(slots["argument"][0])
        if call.tool == statement.tool and call.ok and argument is not None and argument.sources is not None:
            places = {written_path(path, sample.tools) for path in argument.sources}
            stood, n = stood + bool(places.intersection(slots["paths"])), n + 1
    return stood, n


def _show(what: str, found: list[Statement] | tuple[Statement, ...], odd: Sample) -> None:
    """Both sides, and those of the same statement where the odd half has it too."""
    print(f"{len(found)} {what}")
    others = {
        (one.tool, one.line): one.sides
        for one in (
            *find_statements(odd).statements,
            *find_conditions(odd, Vocabulary({}, Settings())).statements,
        )
    }
    for one in found:
        again = others.get((one.tool, one.line), "not said")
        print(f"  {one.tool}: {one.line}: {one.sides} (q {one.q_value:.1e}); odd {again}")


if __name__ == "__main__":
    main()
