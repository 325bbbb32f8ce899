"""Records as a test needs them: one sound request, and what the test changes about it."""

import json
from collections.abc import Iterable
from datetime import datetime, timedelta
from hashlib import sha256
from pathlib import Path
from typing import Any

GOOD_ANSWER = 1000


def call(name: str = "analysis", args: Any = None, **changes: Any) -> dict[str, Any]:
    """A tool call that was ok."""
    sound = {"name": name, "args": args or {}, "ok": True, "error": None, "overrides_used": None}
    return {**sound, "extreme_flags": [], **changes}


def failed(name: str = "analysis", args: Any = None, error: str | None = "ValueError: no") -> dict[str, Any]:
    """A tool call that was not ok."""
    return call(name, args, ok=False, error=error)


def override(tool: str = "analysis", *, succeeded: bool = True) -> dict[str, Any]:
    """A correction of a tool's assumption."""
    return {"tool": tool, "override_keys": ["wacc"], "trigger": "flag", "succeeded": succeeded}


def record(**changes: Any) -> dict[str, Any]:
    """A request that succeeded: one call, a long answer."""
    sound = {
        "schema_version": 2,
        "ts": "2026-04-25T09:30:00.000000+00:00",
        "request_id": "req-1",
        "question": "삼성전자 수익성 분석해줘",
        "category_hash": "FIN-profitability-KR",
        "provider": "openai",
        "model": "m",
        "tool_calls": [call("analysis", {"axis": "수익성"})],
        "override_calls": [],
        "chunk_len": GOOD_ANSWER,
        "error": None,
        "violation": None,
        "judgment": {"verdict": None, "judged_at": None, "judged_by": None, "pr_url": None},
    }
    return {**sound, **changes}


def repeated(count: int, **changes: Any) -> list[dict[str, Any]]:
    """The same work for questions that share no word."""
    return [record(question=f"질문 {word(index)} 회사{word(index)}", **changes) for index in range(count)]


def rest(count: int = 20, **changes: Any) -> list[dict[str, Any]]:
    """Other requests of the category, which fail: what succeeds beside them says more than its category."""
    error = "ValueError: no"
    return [
        record(
            question=f"다른 {word(index)} 질문{word(index)}",
            tool_calls=[call("guess")],
            error=error,
            **changes,
        )
        for index in range(count)
    ]


def on_days(records: Iterable[dict[str, Any]], days: int = 9) -> list[dict[str, Any]]:
    """The records by turns on so many days, one after the other."""
    return [
        {**one, "ts": f"2026-04-{index % days + 1:02}T09:30:00.{index:06}+00:00"}
        for index, one in enumerate(records)
    ]


def one_by_one(request: dict[str, Any], *, step_s: float = 1) -> list[dict[str, Any]]:
    """A request's calls as a server of tools records them: each alone, in a session, of unknown purpose."""
    begun = datetime.fromisoformat(request["ts"])
    session = f"session:{sha256(request['request_id'].encode()).hexdigest()[:16]}"
    unknown = {"question": "", "category_hash": None, "model": None, "provider": None, "chunk_len": None}
    return [
        {
            **request,
            **unknown,
            "session_hash": session,
            "request_id": f"{request['request_id']}-{number}",
            "ts": (begun + timedelta(seconds=number * step_s)).isoformat(timespec="microseconds"),
            "tool_calls": [one],
        }
        for number, one in enumerate(request["tool_calls"])
    ]


def word(number: int) -> str:
    """A word of its own for each number; questions that differ in numbers only are one question."""
    return chr(0xAC00 + number % 10_000) + "가" * (number // 10_000)


def line(one: dict[str, Any]) -> bytes:
    """A record as its line."""
    return json.dumps(one, ensure_ascii=False).encode() + b"\n"


def write_log(path: Path, records: Iterable[dict[str, Any]]) -> Path:
    """Write a day file, and the folders above it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(b"".join(map(line, records)))
    return path


def records_in(folder: Path) -> list[dict[str, Any]]:
    """The records of a project, by day."""
    paths = sorted((folder / "data" / "audit" / "ai-ask").glob("*.jsonl"))
    return [json.loads(line) for path in paths for line in path.read_text(encoding="utf-8").splitlines()]
