"""The same findings with ``json.loads`` and dicts, like a plain script."""

import json
import sys
from bisect import insort
from collections import Counter, defaultdict
from dataclasses import dataclass, field
from datetime import datetime
from hashlib import sha256
from pathlib import Path
from typing import Any

from findings import EPOCH, MAX_EXAMPLES, MAX_QUESTIONS, Failing, Pattern, Shape, from_groups

from coreloop.observe.reading import error_texts, outcome

error_class = outcome.error_class.__wrapped__  # a script has no cache
SELECTORS = ("axis", "sub")


def template(text: str) -> str:
    """`coreloop.observe.reading.error_texts.template` without its cache."""
    return error_texts._repeat_until_stable.__wrapped__(error_texts._without_values(text))


@dataclass(slots=True)
class Group:
    """The sums of a category and a sequence."""

    n: int = 0
    n_success: int = 0
    chunk_len: int = 0
    first_us: int | None = None
    last_us: int | None = None
    questions: dict[str, tuple[int, str]] = field(default_factory=dict)
    sessions: set[str] = field(default_factory=set)
    shapes: dict[tuple[Shape, ...], list[int]] = field(default_factory=dict)
    failed: list[tuple[int, str]] = field(default_factory=list)
    failed_last_us: int | None = None
    labels: set[str] = field(default_factory=set)


@dataclass(slots=True)
class Failed:
    """The sums of the failed calls of a shape, class and template."""

    n: int = 0
    wasted_ms: float = 0.0
    first: tuple[int, str] | None = None
    last_us: int | None = None


class Loop:
    def __init__(self) -> None:
        self.groups: defaultdict[tuple[str, str], Group] = defaultdict(Group)
        self.base: defaultdict[str, list[int]] = defaultdict(lambda: [0, 0])
        self.failed: defaultdict[tuple[Shape, str, str], Failed] = defaultdict(Failed)
        self.calls: Counter[Shape] = Counter()
        self.n_records = 0

    def read(self, path: Path) -> None:
        with path.open("rb") as lines:
            for line in lines:
                try:
                    record = json.loads(line)
                except ValueError:
                    continue
                self.n_records += 1
                self.count(record)

    def count(self, record: dict[str, Any]) -> None:
        passed = datetime.fromisoformat(record["ts"]) - EPOCH
        ts_us = (passed.days * 86_400 + passed.seconds) * 1_000_000 + passed.microseconds
        steps: list[str] = []
        shapes: list[Shape] = []
        for call in record["tool_calls"]:
            args = call["args"]
            selectors = tuple((key, args[key]) for key in SELECTORS if key in args)
            shape = (call["name"], selectors, tuple(sorted(args)))
            self.calls[shape] += 1
            if call["ok"]:
                step = f"{call['name']}({','.join(f'{key}={value}' for key, value in selectors)})"
                if not steps or steps[-1] != step:
                    steps.append(step)
                    shapes.append(shape)
            else:
                self.count_failed(shape, call, record, ts_us)
        verdict = success(record)
        if verdict is None:
            return
        base = self.base[record["category_hash"]]
        base[0] += verdict
        base[1] += 1
        if steps:
            group = self.groups[record["category_hash"], ">".join(steps)]
            self.count_pattern(group, record, tuple(shapes), verdict, ts_us)

    def count_pattern(
        self, group: Group, record: dict[str, Any], shapes: tuple[Shape, ...], verdict: bool, ts_us: int
    ) -> None:
        group.n += 1
        group.n_success += verdict
        group.chunk_len += record["chunk_len"]
        earliest = group.questions.get(record["question_hash"])
        if earliest is None or ts_us < earliest[0]:
            group.questions[record["question_hash"]] = (ts_us, record["question"])
        group.sessions.add(record["session_hash"])
        if group.first_us is None or ts_us < group.first_us:
            group.first_us = ts_us
        if group.last_us is None or ts_us > group.last_us:
            group.last_us = ts_us
        shape = group.shapes.setdefault(shapes, [0, ts_us])
        shape[0] += 1
        shape[1] = min(shape[1], ts_us)
        if not verdict:
            group.labels |= labels(record)
            if group.failed_last_us is None or ts_us > group.failed_last_us:
                group.failed_last_us = ts_us
            if len(group.failed) < MAX_EXAMPLES or ts_us < group.failed[-1][0]:
                insort(group.failed, (ts_us, record["question"]))
                del group.failed[MAX_EXAMPLES:]

    def count_failed(self, shape: Shape, call: dict[str, Any], record: dict[str, Any], ts_us: int) -> None:
        group = self.failed[shape, error_class(call["error"]), template(call["error"])]
        group.n += 1
        group.wasted_ms += call["duration_ms"]
        if group.first is None or ts_us < group.first[0]:
            group.first = (ts_us, record["question"])
        if group.last_us is None or ts_us > group.last_us:
            group.last_us = ts_us

    def patterns(self) -> list[Pattern]:
        patterns = []
        for (category, sequence), group in self.groups.items():
            questions = sorted(group.questions.values())[:MAX_QUESTIONS]
            patterns.append(
                Pattern(
                    category=category,
                    sequence=f"seq:{sha256(sequence.encode()).hexdigest()[:16]}",
                    n=group.n,
                    n_success=group.n_success,
                    n_sessions=len(group.sessions),
                    n_questions=len(group.questions),
                    chunk_len=group.chunk_len,
                    first_us=group.first_us or 0,
                    last_us=group.last_us or 0,
                    questions=[text for _, text in questions],
                    shapes={shape: (n, first_us) for shape, (n, first_us) in group.shapes.items()},
                    failed_at=(group.failed[0][0] if group.failed else None, group.failed_last_us),
                    failed_questions=[text for _, text in group.failed],
                    labels=frozenset(group.labels),
                )
            )
        return patterns

    def failing(self) -> list[Failing]:
        return [
            Failing(*key, group.n, group.wasted_ms, group.first[0], group.last_us, group.first[1])
            for key, group in self.failed.items()
            if group.first is not None and group.last_us is not None
        ]


def success(record: dict[str, Any]) -> bool | None:
    verdict = record["judgment"]["verdict"]
    if verdict:
        return verdict in "PT"
    if record["violation"] is not None or any(
        not override["succeeded"] for override in record["override_calls"]
    ):
        return False
    if any(call["extreme_flags"] for call in record["tool_calls"]):
        return False
    errors = [record["error"]] if record["error"] is not None else []
    if record["tool_calls"] and not record["tool_calls"][-1]["ok"]:
        errors.append(record["tool_calls"][-1]["error"])
    if errors:
        transient = all(error_class(error) in {"transient_network", "rate_limit"} for error in errors)
        return None if transient else False
    if record["chunk_len"] < 200:
        return False
    return True if record["chunk_len"] >= 400 else None


def labels(record: dict[str, Any]) -> set[str]:
    """Return the failure labels of a record."""
    names = {"chunk_len_low"} if record["chunk_len"] < 200 else set()
    if record["violation"] is not None:
        names.add("violation")
    if record["error"] is not None:
        names |= {"error", error_class(record["error"])}
    if any(not override["succeeded"] for override in record["override_calls"]):
        names.add("override_failed")
    for call in record["tool_calls"]:
        if call["extreme_flags"]:
            names.add("extreme_flags")
        if not call["ok"]:
            names |= {"tool_error", error_class(call["error"])}
    return names


def main(logs: Path) -> None:
    loop = Loop()
    for path in sorted(logs.glob("*.jsonl")):
        loop.read(path)
    rates = {category: good / n for category, (good, n) in loop.base.items()}
    findings = from_groups(loop.patterns(), rates, loop.failing(), loop.calls)
    print(json.dumps({"records": loop.n_records, **findings}))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
