"""Lines that logs speak for: of planted causes, of logs without a cause, and of real episodes.

uv run python benchmarks/statements.py causes --seeds 20
uv run python benchmarks/statements.py false --seeds 100
uv run python benchmarks/statements.py exchanged --data ../shared/data --seeds 80
uv run python benchmarks/statements.py real --data ../shared/data
"""

import argparse
import lzma
import re
import tempfile
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import replace
from datetime import date
from pathlib import Path
from random import Random
from typing import Any, Final

import false_lines
import orjson
import planted_causes

from coreloop.base.date_range import Days
from coreloop.base.project.settings import Settings
from coreloop.base.project.tools import resolve_tools
from coreloop.base.project.workspace import Workspace
from coreloop.learn.facts.read_lines import MineSettings
from coreloop.learn.mine.folder import read_folder
from coreloop.learn.mine.window import merge
from coreloop.learn.proposals.allowed_lines import Vocabulary
from coreloop.learn.statements.findings import to_statements
from coreloop.learn.statements.logged_calls import CaseLog, read_log
from coreloop.learn.statements.search import ToolSearch, search_tools

ALWAYS: Final = Days(date(2000, 1, 1), date(2100, 1, 1))
_LISTS: Final = ("tau_retail_trajectories", "tau_retail_repeated")
_STATES: Final = (
    "pending", "delivered", "cancelled", "processed", "exchange requested", "return requested",
)  # fmt: skip
"""What the tools of the real episodes compare an order's status with; their source is not in the data."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("what", choices=("causes", "false", "exchanged", "real"))
    parser.add_argument("--data", type=Path)
    parser.add_argument("--seeds", type=int, default=20)
    options = parser.parse_args()
    {"causes": _causes, "false": _false, "exchanged": _exchanged, "real": _real}[options.what](options)


def log_of(records: Iterable[dict[str, Any]]) -> CaseLog:
    """Records as a log, by way of a file and its facts."""
    with tempfile.TemporaryDirectory() as folder:
        lines = sorted(records, key=lambda record: record["ts"])
        text = b"\n".join(map(orjson.dumps, lines)) + b"\n"
        (Path(folder) / "2026-03-01.jsonl").write_bytes(text)
        return read_log(merge(read_folder(Path(folder), MineSettings()), ALWAYS), {})


def words_of(source: str, tools: Iterable[str]) -> Vocabulary:
    """The vocabulary of a project with one file."""
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "tools.py").write_text(source)
        return Vocabulary(resolve_tools(set(tools), Workspace(Path(folder), Settings())), Settings())


def _lines(searches: Iterable[ToolSearch]) -> list[tuple[str, str]]:
    return [(search.tool, str(found.line)) for search in searches for found in search.said]


def _causes(options: argparse.Namespace) -> None:
    words = words_of(planted_causes.SOURCE, ("act", "lookup", "verify_customer", "show_order"))
    n_exact = 0
    for cause in planted_causes.CAUSES:
        logs = (log_of(planted_causes.records(cause, seed)) for seed in range(1, options.seeds + 1))
        said = [_lines(search_tools(log, words)) for log in logs]
        exact = sum(lines == ([("act", cause.line)] if cause.line else []) for lines in said)
        n_exact += exact == options.seeds
        others = Counter(line for lines in said for _, line in lines if line != cause.line)
        print(f"{cause.name}: exact in {exact} of {options.seeds}; others {others.most_common(3)}")
    print(f"{n_exact} of {len(planted_causes.CAUSES)} causes exact for every seed")


def _false(options: argparse.Namespace) -> None:
    words = words_of(planted_causes.SOURCE, ("act",))
    simulations = {
        **false_lines.SIMULATIONS,
        "one template, true": false_lines.one_template,
        **false_lines.CANNOT_TELL,
    }
    for name, simulate in simulations.items():
        logs = (log_of(simulate(Random(seed))) for seed in range(1, options.seeds + 1))
        said = [_lines(search_tools(log, words)) for log in logs]
        lines = Counter(line for of_log in said for _, line in of_log)
        print(f"{name}: {sum(map(bool, said))} of {options.seeds} say anything; {lines.most_common(3)}")


def _exchanged(options: argparse.Namespace) -> None:
    n_said = 0
    for name in _LISTS:
        log, words = _episodes(options.data, name)
        said = [_lines(search_tools(_exchange(log, Random(seed)), words)) for seed in range(options.seeds)]
        n_said += sum(map(bool, said))
        print(f"{name}: {sum(map(bool, said))} of {options.seeds}")
    print(f"{n_said} of {2 * options.seeds} logs with exchanged outcomes say anything")


def _exchange(log: CaseLog, rng: Random) -> CaseLog:
    """Exchange the outcomes of each tool's calls between cases: calls of a case take those of another."""
    outcomes: defaultdict[str, defaultdict[int, list[tuple[str, int]]]] = defaultdict(
        lambda: defaultdict(list)
    )
    for request in log.requests:
        for call in request.calls:
            outcomes[call.tool][request.case].append((call.error_class, call.template))
    of_case = {
        (tool, case): cases[other]
        for tool, cases in outcomes.items()
        for case, other in zip(cases, rng.sample(list(cases), len(cases)), strict=True)
    }
    used = Counter[tuple[str, int]]()
    requests = []
    for request in log.requests:
        calls, failed = [], set[str]()
        for call in request.calls:
            key = call.tool, request.case
            error_class, template = of_case[key][used[key] % len(of_case[key])]
            used[key] += 1
            calls.append(replace(call, error_class=error_class, template=template, retry=call.tool in failed))
            if error_class:
                failed.add(call.tool)
        requests.append(replace(request, calls=tuple(calls)))
    return replace(log, requests=tuple(requests))


def _real(options: argparse.Namespace) -> None:
    for name in _LISTS:
        log, words = _episodes(options.data, name)
        cases = len({request.case for request in log.requests})
        print(f"{name}: {len(log.requests)} episodes, {cases} cases ({log.case_kind})")
        for entry, _ in to_statements(search_tools(log, words), log):
            sides = entry.sides
            print(f"  {entry.tool}: {entry.line.removeprefix('- ')}")
            print(
                f"    follows: {sides.n_ok} of {sides.n} calls, {sides.cases} cases; does not: "
                f"{sides.other_ok} of {sides.other_n}, {sides.other_cases} cases; q {entry.q_value:.4f}; "
                f"wasted {entry.wasted:.1f}, lost {entry.lost[0]:.1f} to {entry.lost[1]:.1f} per 1,000"
            )


def _episodes(data: Path, name: str) -> tuple[CaseLog, Vocabulary]:
    """Real episodes as a log, and their tools as their authors describe them."""
    records = {}
    for line in (data / "tau_retail_gpt4o_gpt41.jsonl").read_bytes().splitlines():
        record = orjson.loads(line)
        records[record["request_id"]] = record["ts"]
    with lzma.open(data / f"{name}.jsonl.xz") as lines:
        log = log_of(_record(orjson.loads(line), records) for line in lines)
    described = {tool["name"]: tool for tool in _tools(data)}
    source = "\n\n".join(map(_stub, described.values()))
    return log, words_of(f"STATES = {_STATES!r}\n\n\n{source}", log.tools)


def _tools(data: Path) -> list[dict[str, Any]]:
    return list(orjson.loads((data / "tau2_retail_tools.json").read_bytes())["tools"])


def _stub(tool: dict[str, Any]) -> str:
    names = ", ".join(parameter["name"] for parameter in tool["parameters"])
    literals = set(tool["literals"]) or None
    return f"def {tool['name']}({names}):\n    {tool['docstring']!r}\n    return {literals!r}"


def _record(episode: dict[str, Any], times: dict[str, str]) -> dict[str, Any]:
    calls: list[dict[str, Any]] = []
    by_id, states = {}, dict[str, str | None]()
    for message in episode["messages"]:
        for asked in message.get("tool_calls") or ():
            call = _call(asked["function"], states)
            calls.append(call)
            by_id[asked["id"]] = call
        if message["role"] == "tool" and message["tool_call_id"] in by_id:
            text = message["content"] or ""
            call = by_id[message["tool_call_id"]]
            call["ok"] = not text.lower().startswith("error")
            call["error"] = None if call["ok"] else text[:200]
            states.update(_states(text))
    question = next((message["content"] for message in episode["messages"] if message["role"] == "user"), "")
    return {
        "schema_version": 2,
        "ts": episode.get("ts") or times[episode["request_id"]],
        "request_id": episode["request_id"],
        "question": question,
        "model": episode.get("model"),
        "tool_calls": calls,
        "error": None if episode["reward"] == 1 else "reward below 1",
        "chunk_len": 100,
    }


def _call(asked: dict[str, Any], states: dict[str, str | None]) -> dict[str, Any]:
    try:
        args = orjson.loads(asked["arguments"])
    except orjson.JSONDecodeError:
        args = {}
    saw = {
        name: {"status": states[value]}
        for name, value in args.items()
        if isinstance(value, str) and value in states
    }
    return {"name": asked["name"], "args": args, "saw": saw, "ok": False, "error": "no result"}


def _states(text: str) -> Iterator[tuple[str, str | None]]:
    """The status of an order in a result, if it is one that the tools compare with."""
    shown = re.search(r'"order_id": "([^"]+)"', text), re.search(r'"status": "([^"]+)"', text)
    if shown[0] and shown[1]:
        yield shown[0][1], shown[1][1] if shown[1][1] in _STATES else None


if __name__ == "__main__":
    main()
