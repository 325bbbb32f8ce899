"""The same counts by ``json.loads`` and dicts, as a script would."""

import hashlib
import json
import sys
from collections import defaultdict
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from coreloop.mine import outcome, signals

error_class = outcome.error_class.__wrapped__  # a script remembers no text


def template(text: str) -> str:
    """`coreloop.mine.signals.template`, from anew."""
    return signals._settled.__wrapped__(signals._without_values(text))


def main(logs: Path) -> None:
    groups: dict[Any, dict[str, Any]] = {}
    base: dict[str, list[int]] = defaultdict(lambda: [0, 0])
    calls: dict[Any, list[float]] = defaultdict(lambda: [0, 0.0])
    shapes: dict[Any, list[int]] = defaultdict(lambda: [0, 0])
    n_records = 0
    for path in sorted(logs.glob("*.jsonl")):
        with path.open("rb") as lines:
            for line in lines:
                try:
                    record = json.loads(line)
                except ValueError:
                    continue
                n_records += 1
                count_calls(record, calls, shapes)
                count_pattern(record, groups, base)
    counted = [group for group in groups.values() if group["n"]]
    print(
        json.dumps(
            {
                "records": n_records,
                "patterns": len(counted),
                "successes": sum(group["successes"] for group in counted),
                "perfect": sum(group["successes"] == group["n"] >= 3 for group in counted),
                "failing": len(calls),
                "failures": sum(n for n, _ in calls.values()),
            }
        )
    )


def count_pattern(
    record: dict[str, Any], groups: dict[Any, dict[str, Any]], base: dict[str, list[int]]
) -> None:
    steps: list[str] = []
    for call in record["tool_calls"]:
        if call["ok"]:
            selectors = [f"{key}={call['args'][key]}" for key in ("axis", "sub") if key in call["args"]]
            step = f"{call['name']}({','.join(selectors)})"
            if not steps or steps[-1] != step:
                steps.append(step)
    sequence = hashlib.sha256(">".join(steps).encode()).hexdigest()[:16]
    verdict = success(record)
    if verdict is not None:
        base[record["category_hash"]][0] += verdict
        base[record["category_hash"]][1] += 1
    if not steps:
        return
    key = (record["category_hash"], sequence)
    group = groups.get(key)
    if group is None:
        group = groups[key] = {
            "n": 0,
            "successes": 0,
            "chunk_len": 0,
            "questions": {},
            "sessions": set(),
            "first": None,
            "last": None,
            "providers": defaultdict(int),
        }
    if verdict is None:
        return
    moment = datetime.fromisoformat(record["ts"]).astimezone(UTC)
    group["n"] += 1
    group["successes"] += verdict
    group["chunk_len"] += record["chunk_len"]
    group["questions"].setdefault(record["question_hash"], record["question"])
    group["sessions"].add(record["session_hash"])
    group["providers"][record["provider"]] += 1
    if group["first"] is None or moment < group["first"]:
        group["first"] = moment
    if group["last"] is None or moment > group["last"]:
        group["last"] = moment


def success(record: dict[str, Any]) -> bool | None:
    verdict = record["judgment"]["verdict"]
    if verdict:
        return verdict in "PT"
    if record["violation"] is not None or any(not one["succeeded"] for one in record["override_calls"]):
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


def count_calls(record: dict[str, Any], calls: dict[Any, list[float]], shapes: dict[Any, list[int]]) -> None:
    for call in record["tool_calls"]:
        selectors = tuple((key, call["args"][key]) for key in ("axis", "sub") if key in call["args"])
        shape = (call["name"], selectors, tuple(sorted(call["args"])))
        shapes[shape][0] += 1
        if not call["ok"]:
            shapes[shape][1] += 1
            group = calls[(*shape, error_class(call["error"]), template(call["error"]))]
            group[0] += 1
            group[1] += call["duration_ms"]


if __name__ == "__main__":
    main(Path(sys.argv[1]))
