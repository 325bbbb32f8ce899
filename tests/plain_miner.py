"""A slow, obvious miner to hold coreloop's against: written from DESIGN section 3, in dicts and loops.

It imports nothing of coreloop on purpose: what both get wrong, both must have been told wrong.
"""

import hashlib
import json
import re
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any

NONE = type(None)
TEXT = (str, NONE)
RECORD_TYPES: Mapping[str, tuple[type, ...]] = {
    "schema_version": (int,),
    "ts": (str,),
    "question": TEXT,
    "question_hash": TEXT,
    "category_hash": TEXT,
    "provider": TEXT,
    "tool_calls": (list, NONE),
    "tool_sequence_hash": TEXT,
    "tool_calls_omitted": (int, NONE),
    "omitted_failure": (bool, NONE),
    "omitted_error": (str, NONE),
    "override_calls": (list, NONE),
    "chunk_len": (int, float, NONE),
    "session_hash": TEXT,
    "origin": TEXT,
    "judgment": (dict, NONE),
}
CALL_TYPES: Mapping[str, tuple[type, ...]] = {
    "name": (str,),
    "args": (dict, list, str, int, float, NONE),
    "ok": (bool, NONE),
    "overrides_used": (list, NONE),
    "extreme_flags": (list, NONE),
}
LABEL = re.compile(r"[A-Za-z0-9]{1,32}(-[A-Za-z0-9]{1,32}){0,3}")
TRANSIENT = ("connection reset", "rate limit", "429", "service unavailable")


@dataclass
class Group:
    """One pattern: a category and a sequence."""

    n: int = 0
    successes: int = 0
    neutral: int = 0
    questions: int = 0
    sessions: int = 0
    chunk_len: float = 0.0
    base_rate: float = 0.0
    sequence: str | None = None
    first: datetime | None = None
    last: datetime | None = None


@dataclass
class Mined:
    """Groups by category and sequence hash; and how many lines were not mined."""

    groups: dict[tuple[str, str], Group] = field(default_factory=dict)
    n_skipped: int = 0


def mine(
    paths: Sequence[Path],
    *,
    since: date,
    until: date,
    min_chunk_len: int = 400,
    selectors: Mapping[str, Sequence[str]] | None = None,
) -> Mined:
    """Mine some files; the records of other days are read and left out."""
    mined = Mined()
    asked: dict[tuple[str, str], list[tuple[datetime, int, int, dict[str, Any]]]] = {}
    category_totals: dict[str, list[int]] = {}
    for number, path in enumerate(paths):
        for offset, text in nonblank_lines(path):
            record = readable(text)
            if record is None:
                mined.n_skipped += 1
                continue
            moment = time_of(record["ts"])
            if not since <= moment.date() <= until:
                continue
            category = category_of(record)
            sequence, hashed = sequence_of(record, selectors or {})
            verdict = success(record, min_chunk_len)
            if verdict is not None:
                totals = category_totals.setdefault(category, [0, 0])
                totals[0] += verdict
                totals[1] += 1
            if sequence == "" or hashed == hash_sequence(""):
                continue
            group = mined.groups.setdefault((category, hashed), Group())
            group.sequence = sequence if sequence is not None else group.sequence
            if verdict is None:
                group.neutral += 1
                continue
            group.n += 1
            group.successes += verdict
            asked.setdefault((category, hashed), []).append((moment, number, offset, record))
    for key, requests in asked.items():
        group = mined.groups[key]
        requests.sort(key=lambda one: one[:3])
        records = [one[3] for one in requests]
        group.first, group.last = requests[0][0], requests[-1][0]
        group.questions = distinct(records)
        group.sessions = len({one["session_hash"] for one in records if one.get("session_hash")})
        group.chunk_len = sum(int(one.get("chunk_len") or 0) for one in records) / len(records)
        good, counted = category_totals[key[0]]
        group.base_rate = good / counted
    return mined


def nonblank_lines(path: Path) -> Iterable[tuple[int, bytes]]:
    offset = 0
    for number, text in enumerate(path.read_bytes().split(b"\n")):
        content = text.removeprefix(b"\xef\xbb\xbf") if number == 0 else text
        if content.strip():
            yield offset, content
        offset += len(text) + 1


def readable(text: bytes) -> dict[str, Any] | None:
    """The record, or None for a line that is torn, foreign, a replay, or of a later version."""
    try:
        record = json.loads(text.decode("utf-8"), parse_constant=not_json)
    except (ValueError, RecursionError):
        return None
    if not isinstance(record, dict) or "ts" not in record or "tool_calls" not in record:
        return None
    if not has_types(record, RECORD_TYPES):
        return None
    if not all(is_call(one) for one in record["tool_calls"] or []):
        return None
    if not all(is_override(one) for one in record.get("override_calls") or []):
        return None
    judgment = record.get("judgment") or {}
    if not isinstance(judgment.get("verdict"), TEXT):
        return None
    if record.get("schema_version", 1) > 2 or record.get("origin") == "replay":
        return None
    return record if time_of(record["ts"]) is not None else None


def not_json(constant: str) -> None:
    raise ValueError(constant)


def has_types(holder: Mapping[str, Any], types: Mapping[str, tuple[type, ...]]) -> bool:
    return all(type(holder[key]) in allowed for key, allowed in types.items() if key in holder)


def is_call(one: Any) -> bool:
    if isinstance(one, str):
        return True
    if not isinstance(one, dict) or "name" not in one or not has_types(one, CALL_TYPES):
        return False
    names = [*(one.get("overrides_used") or []), *(one.get("extreme_flags") or [])]
    return all(isinstance(name, str) for name in names)


def is_override(one: Any) -> bool:
    return (
        isinstance(one, dict)
        and isinstance(one.get("tool"), str)
        and type(one.get("succeeded", True)) is bool
    )


def time_of(text: str) -> datetime | None:
    try:
        moment = datetime.fromisoformat(text)
        return moment.astimezone(UTC) if moment.tzinfo else moment.replace(tzinfo=UTC)
    except (ValueError, OverflowError):
        return None


def category_of(record: Mapping[str, Any]) -> str:
    label = record.get("category_hash")
    return label if label is not None and LABEL.fullmatch(label) else "UNSPECIFIED"


def calls_of(record: Mapping[str, Any]) -> list[dict[str, Any]]:
    return [{"name": one} if isinstance(one, str) else one for one in record["tool_calls"] or []]


def call_ok(one: Mapping[str, Any]) -> bool:
    ok = one.get("ok")
    return one.get("error") is None if ok is None else ok


def sequence_of(record: Mapping[str, Any], selectors: Mapping[str, Sequence[str]]) -> tuple[str | None, str]:
    """Text and hash; where calls were omitted, only the recorded hash of the whole is known."""
    if record.get("tool_calls_omitted") and record.get("tool_sequence_hash"):
        return None, record["tool_sequence_hash"]
    steps: list[str] = []
    for one in calls_of(record):
        if not call_ok(one):
            continue
        text = step_of(one, selectors.get(one["name"], ["axis", "sub"]))
        if not steps or steps[-1] != text:
            steps.append(text)
    text = ">".join(steps)
    return text, hash_sequence(text)


def hash_sequence(text: str) -> str:
    return "seq:" + hashlib.sha256(text.encode()).hexdigest()[:16]


def step_of(one: Mapping[str, Any], selectors: Sequence[str]) -> str:
    args = one.get("args")
    args = args if isinstance(args, dict) else {}
    chosen = [f"{key}={written(args[key])}" for key in selectors if args.get(key) is not None]
    return f"{quoted(one['name'])}({','.join(chosen)})"


def written(value: Any) -> str:
    """A selector's value: names and numbers as they are, what is no name as ``<other>``."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int | float):
        return str(value) if abs(value) < 1e15 else "<other>"
    if not isinstance(value, str):
        return "<other>"
    name = unicodedata.normalize("NFC", value).strip()
    return quoted(name) if len(name) <= 80 else "<other>"


def quoted(text: str) -> str:
    """What could be mistaken for the syntax of a sequence is a JSON string."""
    return json.dumps(text, ensure_ascii=False) if set(text) & set('()=,<>"\\\n\t') else text


def success(record: Mapping[str, Any], min_chunk_len: int) -> bool | None:
    """Whether a record succeeded; None when it counts neither way."""
    verdict = (record.get("judgment") or {}).get("verdict")
    if verdict in ("P", "T"):
        return True
    if verdict in ("V", "C"):
        return False
    if record.get("violation") is not None or record.get("omitted_failure"):
        return False
    overrides = record.get("override_calls") or []
    calls = calls_of(record)
    was_cut = record.get("omitted_failure") is not None
    if not all(one.get("succeeded", True) for one in overrides):
        return False
    if not was_cut and flag_is_left(calls, overrides):
        return False
    troubles = []
    if record.get("error") is not None:
        troubles.append(str(record["error"]))
    if record.get("tool_calls_omitted") and record.get("omitted_error") is not None:
        troubles.append(record["omitted_error"])
    if calls and not record.get("tool_calls_omitted") and not call_ok(calls[-1]):
        troubles.append(str(calls[-1].get("error")))
    if troubles:
        return None if all(is_transient(text) for text in troubles) else False
    chunk_len = record.get("chunk_len") or 0
    if chunk_len >= min_chunk_len:
        return True
    return False if chunk_len < min(200, min_chunk_len) else None


def is_transient(text: str) -> bool:
    return any(sign in text.lower() for sign in TRANSIENT)


def flag_is_left(calls: Sequence[Mapping[str, Any]], overrides: Sequence[Mapping[str, Any]]) -> bool:
    """Whether some call's flag was not cleared: by a later clean call with overrides, or a recorded one."""
    for place, one in enumerate(calls):
        if not one.get("extreme_flags"):
            continue
        by_call = any(
            later["name"] == one["name"]
            and later.get("overrides_used")
            and call_ok(later)
            and not later.get("extreme_flags")
            for later in calls[place + 1 :]
        )
        by_record = any(made["tool"] == one["name"] and made.get("succeeded", True) for made in overrides)
        if not by_call and not by_record:
            return True
    return False


def distinct(records: Sequence[Mapping[str, Any]]) -> int:
    """Questions that differ, the earlier one kept; those whose text is not recorded differ by their hash."""
    kept: list[set[str]] = []
    hashes = set()
    for record in records:
        if record.get("question") is None and record.get("question_hash"):
            hashes.add(record["question_hash"])
            continue
        words = words_of(record.get("question") or "")
        if not any(near(words, other) for other in kept):
            kept.append(words)
    return len(kept) + len(hashes)


def near(one: set[str], other: set[str]) -> bool:
    if not one and not other:
        return True
    return len(one & other) * 10 >= len(one | other) * 8


def words_of(question: str) -> set[str]:
    folded = unicodedata.normalize("NFKC", question).lower()
    plain = "".join(char for char in folded if char.isalnum() or char.isspace())
    return set(re.sub("[0-9a-z]*[0-9][0-9a-z]*", "0", plain).split())
