"""A slow, obvious miner to hold coreloop's against: written from DESIGN section 3, in dicts and loops.

It imports nothing of coreloop on purpose: what both get wrong, both must have been told wrong.
"""

import hashlib
import json
import re
import unicodedata
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any

READ = Mapping[str, Callable[[Any], Any]]
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
    base_rate: float = 0.0
    sequence: str | None = None
    first: datetime | None = None
    last: datetime | None = None


@dataclass
class Mined:
    """Groups by category and sequence hash; how many lines were not mined, and records by unusable field."""

    groups: dict[tuple[str, str], Group] = field(default_factory=dict)
    n_skipped: int = 0
    absent: Counter[str] = field(default_factory=Counter)


def mine(
    paths: Sequence[Path],
    *,
    since: date,
    until: date,
    min_chunk_len: int | None = None,
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
            mined.absent.update(record["unusable"])
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
    """The record, or None for one that is torn, no object, without a time, a replay, or of a later version.

    Every field that mining reads is as it should be, or None; ``unusable`` names those that had to be None.
    """
    try:
        found = json.loads(text.decode("utf-8"), parse_constant=lambda _: None)
    except (ValueError, RecursionError):
        return None
    if not isinstance(found, dict):
        return None
    unusable: set[str] = set()
    record = usable(found, RECORD, unusable)
    if (record["schema_version"] or 1) > 2 or record["origin"] == "replay" or record["ts"] is None:
        return None
    record["tool_calls"] = calls_in(found.get("tool_calls"), unusable)
    record["override_calls"] = overrides_in(found.get("override_calls"), unusable)
    judgment = found.get("judgment")
    if isinstance(judgment, str):
        judgment = {"verdict": judgment}
    elif not isinstance(judgment, dict):
        unusable |= {"judgment"} if judgment not in (None, []) else set()
        judgment = {}
    record["judgment"] = usable(judgment, {"verdict": text_in}, unusable)
    return {**record, "unusable": unusable - {"ts"}}


def usable(found: Mapping[str, Any], fields: READ, unusable: set[str]) -> dict[str, Any]:
    values = {}
    for name, read in fields.items():
        value = found.get(name)
        if value is None or value in ([], {}) or (value == "" and read is not text_in):
            values[name] = None
        else:
            values[name] = read(value)
            if values[name] is None:
                unusable.add(name)
    return values


def calls_in(value: Any, unusable: set[str]) -> list[dict[str, Any]]:
    calls = []
    for one in listed(value, "tool_calls", unusable):
        odd: set[str] = set()
        call = usable(
            {"name": one} if isinstance(one, str) else one if isinstance(one, dict) else {}, CALL, odd
        )
        if call["name"] is None:
            unusable.add("tool_calls entry")
        else:
            unusable |= odd
            calls.append(call)
    return calls


def overrides_in(value: Any, unusable: set[str]) -> list[dict[str, Any]]:
    entries = listed(value, "override_calls", unusable)
    if not all(isinstance(one, dict) for one in entries):
        unusable.add("override_calls entry")
    made = [usable(one, OVERRIDE, unusable) for one in entries if isinstance(one, dict)]
    return [{"tool": one["tool"], "succeeded": one["succeeded"] is not False} for one in made]


def listed(value: Any, name: str, unusable: set[str]) -> list[Any]:
    if isinstance(value, list):
        return value
    if isinstance(value, str | dict):
        return [value] if value else []
    if value is not None:
        unusable.add(name)
    return []


def text_in(value: Any) -> str | None:
    if isinstance(value, str):
        return value
    if isinstance(value, int | float):
        return None if isinstance(value, bool) else str(value)
    parts = [
        one.get("text") if isinstance(one, dict) else one
        for one in (value if isinstance(value, list) else [value])
    ]
    texts = [one for one in parts if isinstance(one, str)]
    return "\n".join(texts) if texts else None


def number_in(value: Any) -> float | None:
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return None
    try:
        return float(value)
    except (ValueError, OverflowError):
        return None


def whole_in(value: Any) -> int | None:
    number = number_in(value)
    return int(number) if number is not None and number == int(number) else None


def truth_in(value: Any) -> bool | None:
    if isinstance(value, str):
        return {"true": True, "1": True, "yes": True, "false": False, "0": False, "no": False}.get(
            value.lower()
        )
    return bool(value) if isinstance(value, bool | int | float) and value in (0, 1) else None


def names_in(value: Any) -> list[Any] | None:
    if isinstance(value, dict):
        return list(value)
    if isinstance(value, list):
        return [one for one in value if one is not None and one is not False]
    if isinstance(value, bool):
        return [value] if value else []
    return [value] if isinstance(value, str) else None


def flags_in(value: Any) -> list[Any] | None:
    return (
        [name for name, raised in value.items() if raised not in (None, False)]
        if isinstance(value, dict)
        else names_in(value)
    )


def args_in(value: Any) -> Any:
    return None if isinstance(value, bool) else value


def time_in(value: Any) -> str | None:
    """The time as text, from what may be seconds or milliseconds since 1970."""
    text = str(value).strip()
    if isinstance(value, int | float | str) and re.fullmatch(r"[0-9]{9,13}(\.[0-9]+)?", text):
        seconds = float(text) / (1 if float(text) < 1e11 else 1000)
        return datetime.fromtimestamp(seconds, UTC).isoformat()
    return text if isinstance(value, str) and time_of(text) is not None else None


def as_it_is(value: Any) -> Any:
    return value


RECORD: READ = {
    "schema_version": number_in,
    "ts": time_in,
    "question": text_in,
    "question_hash": text_in,
    "category_hash": text_in,
    "provider": text_in,
    "tool_sequence_hash": text_in,
    "tool_calls_omitted": whole_in,
    "omitted_failure": truth_in,
    "omitted_error": text_in,
    "unknown": text_in,
    "chunk_len": number_in,
    "session_hash": text_in,
    "origin": text_in,
    "request_id": text_in,
    "error": as_it_is,
    "violation": as_it_is,
}
CALL: READ = {
    "name": text_in,
    "args": args_in,
    "ok": truth_in,
    "error": as_it_is,
    "unknown": text_in,
    "duration_ms": number_in,
    "overrides_used": names_in,
    "extreme_flags": flags_in,
}
OVERRIDE: READ = {"tool": text_in, "succeeded": truth_in}


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


def call_ok(one: Mapping[str, Any]) -> bool | None:
    """None if nobody knows."""
    if one.get("ok") is not None:
        return bool(one["ok"])
    return None if one.get("unknown") and not one.get("error") else not one.get("error")


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


def success(record: Mapping[str, Any], min_chunk_len: int | None) -> bool | None:
    """Whether a record succeeded; None when it counts neither way."""
    verdict = (record.get("judgment") or {}).get("verdict")
    if verdict in ("P", "T"):
        return True
    if verdict in ("V", "C"):
        return False
    if record.get("violation") or record.get("omitted_failure"):
        return False
    overrides = record.get("override_calls") or []
    calls = calls_of(record)
    was_cut = record.get("omitted_failure") is not None
    if not all(one.get("succeeded", True) for one in overrides):
        return False
    if not was_cut and flag_is_left(calls, overrides):
        return False
    troubles = []
    if record.get("error"):
        troubles.append(str(record["error"]))
    if record.get("tool_calls_omitted") and record.get("omitted_error") is not None:
        troubles.append(record["omitted_error"])
    if calls and not record.get("tool_calls_omitted") and call_ok(calls[-1]) is False:
        troubles.append(str(calls[-1].get("error")))
    if troubles:
        return None if all(is_transient(text) for text in troubles) else False
    return None if record.get("unknown") else by_length(record.get("chunk_len"), min_chunk_len)


def by_length(chunk_len: float | None, min_chunk_len: int | None) -> bool | None:
    if chunk_len is None:
        return True
    if min_chunk_len is None:
        return chunk_len > 0
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
