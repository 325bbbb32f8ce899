"""Logs of Inspect (``.json`` and ``.eval``): one request per sample.

Its calls are read from its messages, as those of a chat, and its scores become the record's judgment.
"""

import sys
import zipfile
from collections.abc import Iterable, Iterator
from datetime import datetime
from typing import Any, Final

from coreloop.base.records import RecordedJudgment
from coreloop.observe.importers.files import TraceFile, UnusableFile, read_documents, read_each
from coreloop.observe.importers.message_forms import error_in
from coreloop.observe.importers.openai_chat import read_messages
from coreloop.observe.importers.trace_values import (
    decode_trace,
    first,
    listed,
    message_objects,
    question_in,
    read_time,
    text,
)
from coreloop.observe.importers.traced_request import FOREIGN, NO_TIME, TORN, SkippedTrace, TracedRequest
from coreloop.observe.record_parts import stored_text
from coreloop.observe.scores import scores_in

NAME: Final = "inspect"
SUFFIXES: Final = (".json", ".eval")
_ATTACHMENT: Final = "attachment://"
_PASSED: Final = frozenset({"C", "CORRECT", "YES", "TRUE"})
_FAILED: Final = frozenset({"I", "INCORRECT", "N", "NOANSWER", "NO", "FALSE"})
_ZSTANDARD: Final = 93  # the method's number in a zip file


def read(files: Iterable[TraceFile]) -> Iterator[TracedRequest | SkippedTrace | UnusableFile]:
    """Read the samples of logs."""
    yield from read_each(files, _read_file)


def _read_file(file: TraceFile) -> Iterator[TracedRequest | SkippedTrace]:
    if file.path.suffix == ".eval":
        yield from _read_zip(file)
        return
    with file.open() as opened:
        for document in read_documents(opened):
            for log in document if isinstance(document, list) else [document]:
                if isinstance(log, dict) and isinstance(log.get("eval"), dict):
                    for sample in listed(log.get("samples")):
                        yield _request(sample, log["eval"])
                else:
                    yield log if isinstance(log, SkippedTrace) else FOREIGN


def _read_zip(file: TraceFile) -> Iterator[TracedRequest | SkippedTrace]:
    """Read a log with one file per sample; only one sample is in memory at a time."""
    with file.open() as opened, zipfile.ZipFile(opened) as log:
        if sys.version_info < (3, 14) and any(file.compress_type == _ZSTANDARD for file in log.infolist()):
            raise NotImplementedError("Python reads zstandard from 3.14 on; inspect log convert --to json")
        names = set(log.namelist())
        start = next((name for name in ("header.json", "_journal/start.json") if name in names), None)
        header = _member(log, start) if start is not None else TORN
        if not isinstance(header, dict) or not isinstance(header.get("eval"), dict):
            yield FOREIGN
            return
        for name in sorted(names):
            if name.startswith("samples/") and name.endswith(".json"):
                sample = _member(log, name)
                yield TORN if sample is TORN else _request(sample, header["eval"])


def _member(log: zipfile.ZipFile, name: str) -> Any:
    try:
        return decode_trace(log.read(name))
    except ValueError:
        return TORN


def _request(sample: Any, task: dict[str, Any]) -> TracedRequest | SkippedTrace:
    if not isinstance(sample, dict):
        return FOREIGN
    events = [event for event in listed(sample.get("events")) if isinstance(event, dict)]
    attachments = sample.get("attachments")
    attachments = attachments if isinstance(attachments, dict) else {}
    asked, messages = _attached([sample.get("input"), _messages(sample, events)], attachments)
    stamps = [event.get(key) for event in events for key in ("timestamp", "completed")]
    times = map(read_time, [*stamps, sample.get("completed_at"), task.get("created")])
    ended = max(filter(None, times), default=None)
    if ended is None:
        return NO_TIME
    chat, passed_s = read_messages(messages), sample.get("total_time")
    provider, _, model = (text(task.get("model")) or "").partition("/")
    run = str(first(task, "eval_id", "run_id", "task_id")), str(sample.get("id")), str(sample.get("epoch"))
    return TracedRequest(
        source=NAME,
        ids=(sample["uuid"],) if text(sample.get("uuid")) else run,
        question=question_in(asked) or "",
        ended=ended,
        calls=tuple(chat.calls.all),
        answer_chars=chat.answer_chars,
        error=error_in(sample.get("error"), "message"),
        provider=provider if model else None,
        model=model or provider or None,
        rounds=chat.rounds or None,
        duration_ms=round(1000 * passed_s, 3) if isinstance(passed_s, int | float) else None,
        judgment=_judgment(sample.get("scores"), ended),
        scores=scores_in(sample),
    )


def _messages(sample: dict[str, Any], events: list[dict[str, Any]]) -> list[Any]:
    """The messages of a sample; without them, the longest conversation of a model in its events."""
    data = sample.get("events_data")
    pool = listed(data.get("messages")) if isinstance(data, dict) else []
    told = [listed(sample.get("messages"))]
    for event in events if not told[0] else ():
        refs = [ref for ref in listed(event.get("input_refs")) if isinstance(ref, list)]
        ends = [ref for ref in refs if [type(end) for end in ref] == [int, int]]
        pooled = [message for start, end in ends for message in pool[start:end]]
        replies = list(message_objects(event.get("output")))[:1]
        told.append([*(listed(event.get("input")) or pooled), *replies])
    return max(told, key=len)


def _judgment(scores: Any, at: datetime) -> RecordedJudgment | None:
    """V if any score is incorrect, P if all are correct; None for partial credit and other scales."""
    scores = scores if isinstance(scores, dict) else {}
    verdicts = {
        name: _verdict(score.get("value")) for name, score in scores.items() if isinstance(score, dict)
    }
    failed = [name for name, passed in verdicts.items() if passed is False]
    if not failed and not (verdicts and all(verdicts.values())):
        return None
    return {
        "verdict": "V" if failed else "P",
        "judged_at": at.isoformat(),
        "judged_by": stored_text(f"inspect: {', '.join(failed or verdicts)}", 100),
        "pr_url": None,
    }


def _verdict(value: Any) -> bool | None:
    if isinstance(value, bool | int | float):
        return bool(value) if value in (0, 1) else None
    grade = value.upper() if isinstance(value, str) else None
    return True if grade in _PASSED else False if grade in _FAILED else None


def _attached(value: Any, attachments: dict[str, Any], depth: int = 20) -> Any:
    """Replace the addresses of attachments by their texts."""
    if isinstance(value, str) and value.startswith(_ATTACHMENT):
        return attachments.get(value.removeprefix(_ATTACHMENT), value)
    if isinstance(value, list) and depth:
        return [_attached(item, attachments, depth - 1) for item in value]
    if isinstance(value, dict) and depth:
        return {key: _attached(item, attachments, depth - 1) for key, item in value.items()}
    return value
