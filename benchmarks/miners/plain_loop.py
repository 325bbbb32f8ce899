"""The same findings with ``json.loads``, dicts and lists, like a plain script."""

import json
import re
import sys
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from contextlib import suppress
from datetime import UTC, datetime
from hashlib import sha256
from itertools import groupby
from operator import itemgetter
from pathlib import Path
from typing import Any

from miners import findings

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
CLASS_PATTERNS = [(name, re.compile(words)) for name, words in findings.CLASSES.items()]
VALUE_PATTERNS = [(re.compile(pattern), instead) for pattern, instead in findings.VALUES]


def find(logs: Path) -> dict[str, Any]:
    n_records = 0
    requests: defaultdict[tuple[str, str], list[Any]] = defaultdict(list)
    counted: defaultdict[str, list[bool]] = defaultdict(list)
    failed: defaultdict[tuple[findings.Shape, str, str], list[tuple[int, str, float]]] = defaultdict(list)
    calls = Counter[findings.Shape]()
    for record in records(logs):
        n_records += 1
        category, question = record["category_hash"], record["question"]
        passed = datetime.fromisoformat(record["ts"]) - EPOCH
        ts_us = (passed.days * 86_400 + passed.seconds) * 1_000_000 + passed.microseconds
        worked = []
        for call in record["tool_calls"]:
            shape = shape_of(call)
            calls[shape] += 1
            if call["ok"]:
                worked.append(shape)
            else:
                key = shape, error_class(call["error"]), template(call["error"])
                failed[key].append((ts_us, question, call["duration_ms"] or 0.0))
        signs = labels(record)
        is_success = success(record, signs)
        if is_success is None:
            continue
        counted[category].append(is_success)
        steps = [(name, next(shapes)) for name, shapes in groupby(worked, step_of)]
        if steps:
            key = category, ">".join(name for name, _ in steps)
            shapes = tuple(shape for _, shape in steps)
            figures = record["question_hash"], record.get("session_hash")
            requests[key].append((ts_us, question, *figures, is_success, shapes, signs))
    patterns = [pattern(*key, sorted(rows, key=itemgetter(0))) for key, rows in requests.items()]
    failing = [
        (*key, len(rows), sum(wasted_ms), times[0], times[-1], texts[0])
        for key, rows in failed.items()
        for times, texts, wasted_ms in [zip(*sorted(rows), strict=True)]
    ]
    rates = {category: sum(successes) / len(successes) for category, successes in counted.items()}
    return {"records": n_records, **findings.from_groups(patterns, rates, failing, calls)}


def records(logs: Path) -> Iterator[dict[str, Any]]:
    for path in sorted(logs.glob("*.jsonl")):
        with path.open("rb") as lines:
            for line in lines:
                with suppress(ValueError):
                    yield json.loads(line)


def shape_of(call: dict[str, Any]) -> findings.Shape:
    args = call["args"]
    selectors = tuple((key, args[key]) for key in ("axis", "sub") if key in args)
    return call["name"], selectors, tuple(sorted(args))


def step_of(shape: findings.Shape) -> str:
    return f"{shape[0]}({','.join(f'{key}={value}' for key, value in shape[1])})"


def pattern(category: str, sequence: str, requests: Sequence[Any]) -> findings.Pattern:
    """Sum the requests of a category and a sequence, earliest first."""
    times, texts, hashes, sessions, successes, steps, signs = zip(*requests, strict=True)
    rows = zip(successes, times, texts, signs, strict=True)
    failed = [row for is_success, *row in rows if not is_success]
    questions: dict[str, str] = {}
    for hashed, text in zip(hashes, texts, strict=True):
        questions.setdefault(hashed, text)
    first_us = dict(zip(reversed(steps), reversed(times), strict=True))
    return findings.Pattern(
        *(category, f"seq:{sha256(sequence.encode()).hexdigest()[:16]}", len(requests), sum(successes)),
        *(len({*sessions} - {None}), len(questions), times[0], times[-1]),
        list(questions.values())[: findings.MAX_QUESTIONS],
        {shapes: (n, first_us[shapes]) for shapes, n in Counter(steps).items()},
        (failed[0][0], failed[-1][0]) if failed else (None, None),
        [text for _, text, _ in failed],
        frozenset().union(*(of_request for _, _, of_request in failed)),
    )


def error_class(text: str) -> str:
    lower = text.lower()
    return next((name for name, words in CLASS_PATTERNS if words.search(lower)), "other")


def template(text: str) -> str:
    for values, instead in VALUE_PATTERNS:
        text = values.sub(instead, text)
    return text


def success(record: dict[str, Any], signs: set[str]) -> bool | None:
    if record["judgment"]["verdict"]:
        return record["judgment"]["verdict"] in "PT"
    if signs & {"violation", "override_failed", "extreme_flags"}:
        return False
    errors = [part["error"] for part in (*record["tool_calls"][-1:], record) if part["error"] is not None]
    if errors:
        return None if all(error_class(error) in findings.TRANSIENT for error in errors) else False
    if record["chunk_len"] < findings.LOW_CHUNK_LEN:
        return False
    return True if record["chunk_len"] >= findings.MIN_CHUNK_LEN else None


def labels(record: dict[str, Any]) -> set[str]:
    """Return the failure labels of a record, and the classes of its errors."""
    calls = record["tool_calls"]
    given = {
        "chunk_len_low": record["chunk_len"] < findings.LOW_CHUNK_LEN,
        "violation": record["violation"] is not None,
        "error": record["error"] is not None,
        "override_failed": any(not override["succeeded"] for override in record["override_calls"]),
        "extreme_flags": any(call["extreme_flags"] for call in calls),
        "tool_error": any(not call["ok"] for call in calls),
    }
    classes = {error_class(part["error"]) for part in (*calls, record) if part["error"] is not None}
    return classes.union(name for name, is_given in given.items() if is_given)


if __name__ == "__main__":
    print(json.dumps(find(Path(sys.argv[1]))))
