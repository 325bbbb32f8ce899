"""Generate realistic audit logs of any size: Korean questions, failures, torn lines; reproducible by seed."""

from collections.abc import Callable, Iterator
from datetime import UTC, date, datetime, timedelta
from hashlib import sha256
from pathlib import Path
from random import Random
from typing import Any, NamedTuple

import orjson

from coreloop.base.records import hash_question, hash_sequence, join_steps, step

_AXES = (
    *("수익성", "성장성", "안정성", "현금흐름", "배당"),
    *("가치평가", "지배구조", "효율성", "비용구조", "자본배분"),
)
_TOPICS = {"수익성": "profitability", "배당": "dividend", "현금흐름": "cashflow", "안정성": "stability"}
_ASKS = (
    *("분석해줘", "어때?", "최근 3년 추세 알려줘", "동종업계와 비교해줘"),
    *("왜 나빠졌어?", "전망은?", "리스크 요약"),
)
_SYLLABLES = "가나다라마바사아자차카타파하한미래산신대동서남북성진현우정보금강전기화학건설제약바이오"
_ERRORS = (
    "ValueError: axis '{word}' is not valid for {code}",
    "TimeoutError: timed out after {n} seconds while reading /data/{code}/{n}.parquet",
    "KeyError: '{word}'",
    "HTTP 429 Too Many Requests, retry after {n}",
    "LookupError: no such company '{word}' ({code})",
)
_PROVIDERS = ("openai", "anthropic", "google", "openai", "openai")
TORN_EVERY = 10_000
LAST = date(2026, 4, 25)
Change = Callable[[dict[str, Any], int], object]


class _Workflow(NamedTuple):
    """A recurring sequence of tools with their selectors, and its failure rate."""

    category: str
    tools: tuple[tuple[str, str | None], ...]
    failing: float


def _workflows(random: Random, count: int) -> list[_Workflow]:
    tools = ["analysis", "scan", "show", "compare", "trend", "quant", "macro", "industry", "gather", "credit"]
    workflows = []
    for _ in range(count):
        axis = random.choice(_AXES)
        category = f"FIN-{_TOPICS.get(axis, 'general')}-KR"
        steps = [
            (random.choice(tools), random.choice(_AXES) if random.random() < 0.5 else None)
            for _ in range(random.choice((0, 1, 1, 2, 3)))
        ]
        steps.insert(random.randint(0, len(steps)), ("analysis", axis))
        workflows.append(_Workflow(category, tuple(steps), random.choice((0.0, 0.0, 0.02, 0.1, 0.3, 0.9))))
    return workflows


def write_logs(
    folder: Path, *, days: int, bytes_a_day: int, seed: int = 7, change: Change = lambda record, number: None
) -> None:
    """Write ``days`` files of about ``bytes_a_day`` each; ``change`` is given each record and its number."""
    folder.mkdir(parents=True, exist_ok=True)
    random = Random(seed)
    workflows = _workflows(random, 400)
    companies = ["".join(random.choices(_SYLLABLES, k=random.randint(2, 4))) for _ in range(2500)]
    for back in range(days - 1, -1, -1):
        day = LAST - timedelta(days=back)
        with (folder / f"{day}.jsonl").open("wb") as file:
            file.writelines(_day(random, day, bytes_a_day, workflows, companies, change))


def _day(
    random: Random, day: date, size: int, workflows: list[_Workflow], companies: list[str], change: Change
) -> Iterator[bytes]:
    written, number, session = 0, 0, 0
    begin = datetime(day.year, day.month, day.day, tzinfo=UTC)
    weights = [1 / (rank + 5) for rank in range(len(workflows))]
    picked: list[_Workflow] = []
    while written < size:
        picked = picked or random.choices(workflows, weights, k=4096)
        number += 1
        session += random.random() < 0.4
        moment = begin + timedelta(microseconds=written * 86_000_000_000 // size)
        record = _record(random, picked.pop(), moment, f"{day}-{number}", f"{day}-{session}", companies)
        change(record, number)
        line = orjson.dumps(record, option=orjson.OPT_APPEND_NEWLINE)
        if number % TORN_EVERY == 0:
            line = line[: len(line) // 2] + b"\n"
        written += len(line)
        yield line


def _record(
    random: Random, workflow: _Workflow, moment: datetime, number: str, session: str, companies: list[str]
) -> dict[str, Any]:
    company, code = random.choice(companies), f"{random.randint(1, 999_999):06d}"
    axis = next(value for name, value in workflow.tools if name == "analysis" and value)
    question = f"{company} {axis} {random.choice(_ASKS)}"
    if random.random() < 0.7:
        question += f" {random.choice(companies)} {random.randint(2015, 2026)}년"
    failing = random.random() < workflow.failing
    calls = []
    for place, (name, value) in enumerate(workflow.tools):
        broken = random.random() < 0.05 or (failing and place == len(workflow.tools) - 1)
        args = {"company": company, "topic": random.choice(_ASKS), "years": random.randint(1, 10)}
        if value:
            args["axis"] = value
        if name == "compare":
            args["peers"] = random.sample(companies, 3)
        error = None
        if broken:
            error = random.choice(_ERRORS).format(word=company, code=code, n=random.randint(1, 600))
        calls.append(_call(random, name, args, error))
        if broken and not failing:
            calls.append(_call(random, name, args, None))
    steps = [step(call["name"], call["args"]) for call in calls if call["ok"]]
    return {
        "schema_version": 2,
        "ts": moment.isoformat(timespec="microseconds"),
        "request_id": f"req-{sha256(number.encode()).hexdigest()[:16]}",
        "question": question,
        "question_hash": hash_question(question),
        "category_hash": workflow.category,
        "stockCode_hint": code,
        "provider": random.choice(_PROVIDERS),
        "model": "model-2026-03",
        "tool_calls": calls,
        "tool_sequence_hash": hash_sequence(join_steps(steps)),
        "override_calls": [],
        "rounds": len(calls) + 1,
        "chunk_len": random.choice((80, 300, *[random.randint(400, 4000)] * 30)),
        "error": None,
        "violation": None,
        "skill_used": None,
        "duration_total_ms": round(random.uniform(500, 30_000), 1),
        "judgment": {"verdict": None, "judged_at": None, "judged_by": None, "pr_url": None},
        "session_hash": f"session:{sha256(session.encode()).hexdigest()[:16]}",
    }


def _call(random: Random, name: str, args: dict[str, object], error: str | None) -> dict[str, object]:
    return {
        "name": name,
        "args": args,
        "args_hash": f"{random.getrandbits(64):016x}",
        "ok": error is None,
        "error": error,
        "duration_ms": round(random.uniform(5, 900), 2),
        "result_size_bytes": random.randint(100, 20_000),
        "overrides_used": None,
        "extreme_flags": [],
    }
