"""Logs of Inspect (``.json`` and ``.eval``): one request per sample.

A sample's scores become the record's judgment.
"""

import sys
import zipfile
from collections.abc import Iterable, Iterator
from datetime import datetime
from typing import Any, Final

from coreloop.base.records import NO_RESULT, RecordedJudgment
from coreloop.observe.calls import milliseconds
from coreloop.observe.importers.files import TraceFile, UnusableFile, decode_trace, read_documents, read_each
from coreloop.observe.importers.trace_values import (
    answer_in,
    arguments,
    body_text,
    first,
    listed,
    question_in,
    read_time,
    seconds_as_ms,
    size_bytes,
    text,
)
from coreloop.observe.importers.traced_request import (
    FOREIGN,
    NO_TIME,
    TORN,
    SkippedTrace,
    TracedRequest,
)
from coreloop.observe.record_parts import TracedCall, stored_text
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
            if isinstance(document, SkippedTrace):
                yield document
            elif isinstance(document, dict) and isinstance(document.get("eval"), dict):
                for sample in listed(document.get("samples")):
                    yield _request(sample, document["eval"])
            else:
                yield FOREIGN


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
    attachments = sample.get("attachments")
    attachments = attachments if isinstance(attachments, dict) else {}
    events = [event for event in listed(sample.get("events")) if isinstance(event, dict)]
    times = [read_time(event.get(key)) for event in events for key in ("timestamp", "completed")]
    times = [*filter(None, times)] or [read_time(first(sample, "completed_at", "started_at"))]
    ended = max(filter(None, times), default=None) or read_time(task.get("created"))
    if ended is None:
        return NO_TIME
    events = list(_answering(events))
    error = sample.get("error")
    provider, _, model = (text(task.get("model")) or "").partition("/")
    answer = _attached(_answer(sample), attachments)
    run = str(first(task, "eval_id", "run_id", "task_id")), str(sample.get("id")), str(sample.get("epoch"))
    return TracedRequest(
        source=NAME,
        ids=(sample["uuid"],) if text(sample.get("uuid")) else run,
        question=_attached(question_in(sample.get("input")) or "", attachments),
        ended=ended,
        calls=tuple(_call(event, attachments) for event in events if event.get("event") == "tool"),
        answer_chars=None if answer is None else len(answer),
        error=_error(error, "message"),
        provider=provider if model else None,
        model=model or provider or None,
        rounds=sum(event.get("event") == "model" for event in events) or None,
        duration_ms=seconds_as_ms(sample.get("total_time")),
        judgment=_judgment(sample.get("scores"), ended),
        scores=scores_in(sample),
    )


def _answering(events: list[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    """The events without those of scorers, which may use models and tools too."""
    scoring: set[str] = set()
    for event in events:
        is_begin = event.get("event") == "span_begin"
        if str(event.get("parent_id" if is_begin else "span_id")) in scoring or (
            is_begin and str(event.get("type")).startswith("scorer")
        ):
            scoring |= {str(event.get("id"))} if is_begin else set()
        else:
            yield event


def _call(event: dict[str, Any], attachments: dict[str, Any]) -> TracedCall:
    args = arguments(event.get("arguments"))
    started, ended = read_time(event.get("timestamp")), read_time(event.get("completed"))
    result = _attached(event.get("result"), attachments)
    failed = "failed" if event.get("failed") is True else None
    return TracedCall(
        name=text(event.get("function")) or "?",
        args={key: _attached(value, attachments) for key, value in args.items()},
        error=_error(event.get("error"), "type", "message") or failed,
        duration_ms=milliseconds(started, ended) or seconds_as_ms(event.get("working_time")),
        result_size_bytes=size_bytes(result),
        result=... if result is None else result,
        unknown=NO_RESULT if event.get("pending") and result is None else None,
        asked=None if started is None else started.timestamp(),
        answered=None if ended is None else ended.timestamp(),
    )


def _error(error: Any, *keys: str) -> str | None:
    """A text, or those of an object that has ``keys``."""
    if not isinstance(error, dict):
        return text(error)
    return ": ".join(filter(None, (text(error.get(key)) for key in keys))) or "error"


def _answer(sample: dict[str, Any]) -> str | None:
    output, messages = sample.get("output"), listed(sample.get("messages"))
    answer = answer_in(output) if isinstance(output, dict) and listed(output.get("choices")) else None
    last = messages[-1] if messages and isinstance(messages[-1], dict) else {}
    return body_text(last.get("content")) if answer is None and last.get("role") == "assistant" else answer


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


def _attached(value: Any, attachments: dict[str, Any]) -> Any:
    """Replace the address of an attachment by its text."""
    if isinstance(value, str) and value.startswith(_ATTACHMENT):
        return attachments.get(value.removeprefix(_ATTACHMENT), value)
    return value
