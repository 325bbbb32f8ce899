"""What the tests of document 003 share: its commands, a log, names that it prescribes."""

import hashlib
import json
import runpy
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from acceptance.walk import SCRIPTS, Done, command
from coreloop import AuditCollector
from logs import write_log
from promoting import (
    ID,
)

V2_FIELDS = {
    *("schema_version", "ts", "request_id", "question", "question_hash", "category_hash", "stockCode_hint"),
    *(
        "provider",
        "model",
        "tool_calls",
        "tool_sequence_hash",
        "override_calls",
        "rounds",
        "chunk_len",
        "error",
    ),
    *("violation", "skill_used", "duration_total_ms", "judgment"),
}
CALL = {
    "name": "analysis",
    "args": {"axis": "수익성"},
    "ok": True,
    "error": None,
    "duration_ms": 1823,
    "result_size_bytes": 4012,
    "overrides_used": None,
    "extreme_flags": [],
}
PATTERN = "pattern --since 30d --min-repeat 3 --min-unique-questions 3 --min-chunk-len 400"
REFINE = "refine --since 30d --min-failures 2"
EXCLUDE = "--exclude-types transient_network,rate_limit"
PROMOTE = f"promote --candidate data/audit/candidates/2026-04-25-candidates.json --id {ID} --confirm"
VERIFY = f"verify --candidate data/audit/candidates/2026-04-25-candidates.json --id {ID}"
GATES = "--min-phase-r-merges 3 --min-phase-f-caveats 2 --min-age-days 30"
AXIS = f"propose-axis --engine analysis --axis 수익성 {GATES}"
BACKFILL = "backfill-blog --blog-root blog/ --confirm"
KNOWLEDGE = "data/ai/knowledge/dartlab_knowledge.db"
NOTES = "data/dart/auditAnalysis"
QUESTION = "삼성전자 수익성 분석해줘"
POST = "---\nstockCode: '005930'\nai:\n  verdict: 제품 구성이 마진을 올렸다.\n---\n\n본문\n"
ERROR = "ValueError: no"
NETWORK = "ConnectionError: connection reset by peer"
LIMITED = "HTTP 429 Too Many Requests"
SECTIONS = (
    "Summary",
    "Description",
    "Parameters",
    "Returns",
    "Raises",
    "Examples",
    "Notes",
    "Guide",
    "See Also",
)


def only(folder: Path, pattern: str) -> Path:
    """The one file of a pattern."""
    (path,) = folder.glob(pattern)
    return path


def dated(records: list[dict[str, Any]], days: int = 9) -> list[dict[str, Any]]:
    """The records on the days before today, by turns."""
    now = datetime.now(UTC)
    moments = (now - timedelta(days=1 + index % days) for index in range(len(records)))
    return [{**entry, "ts": moment.isoformat()} for entry, moment in zip(records, moments, strict=True)]


def script_module(name: str) -> dict[str, Any]:
    """The names of a script that is imported rather than run."""
    return runpy.run_path(str(SCRIPTS / name))


def log_in(folder: Path, records: list[dict[str, Any]]) -> Path:
    return write_log(folder / "data/audit/ai-ask/2026-04-25.jsonl", dated(records))


def hashes(folder: Path) -> dict[str, str]:
    """Every file below a folder, with a hash of its bytes."""
    files = (path for path in sorted(folder.rglob("*")) if path.is_file())
    return {str(path): hashlib.sha256(path.read_bytes()).hexdigest() for path in files}


def observed(folder: Path, **fields: Any) -> dict[str, Any]:
    """The one record that a collector with the specification's example writes."""
    with AuditCollector(
        question=QUESTION,
        provider="oauth-codex",
        model="gpt-5-codex",
        stockCode_hint="005930",
        request_id="req-abc123",
        data_dir=folder / "data",
    ) as audit:
        audit.set_category_hash("FIN-profitability-KR-tech")
        audit.observe_tool_call(
            "analysis",
            fields.get("args", {"axis": "수익성"}),
            ok=True,
            duration_ms=1823,
            result_size_bytes=4012,
        )
        audit.observe_override("analysis", ["wacc"], trigger="detectExtremeFlags:wacc>0.25", succeeded=True)
        audit.flush(chunk_len=1823, rounds=2)
    (line,) = only(folder, "data/audit/ai-ask/*.jsonl").read_bytes().splitlines()
    return json.loads(line)


@dataclass(frozen=True)
class Mined:
    """A project after ``pattern``."""

    root: Path
    done: Done
    day: str

    @property
    def document(self) -> dict[str, Any]:
        return json.loads((self.root / f"data/audit/candidates/{self.day}-candidates.json").read_text())

    @property
    def draft(self) -> str:
        return (self.root / f"data/audit/candidates/{self.day}-draft.md").read_text()

    @property
    def tools(self) -> list[str]:
        return [entry["tool_pattern"][0]["name"] for entry in self.document["candidates"]]


def mine(folder: Path, words: str = PATTERN) -> Mined:
    done = command(folder, *words.split()).assert_code()
    files = (folder / "data/audit/candidates").glob("*-candidates.json")
    return Mined(folder, done, max(path.name[:10] for path in files))


def post(folder: Path, name: str = "one", text: str = POST) -> Path:
    path = folder / "blog" / name / "index.md"
    path.parent.mkdir(parents=True)
    path.write_text(text, encoding="utf-8")
    return path


PRIVATE = "삼성전자 담당자 hong@example.com 에게 https://example.com/a?b=1 를 보내줘"
