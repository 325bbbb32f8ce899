"""Logs of Inspect (``.json`` and ``.eval``): one request per sample.

Its calls are read from its messages, as those of a chat, and its scores become the record's judgment.
"""

import zipfile
from collections.abc import Iterable, Iterator
from datetime import datetime
from typing import Any, BinaryIO, Final

from coreloop.base.records import RecordedJudgment
from coreloop.observe.importers import trace_values as values
from coreloop.observe.importers.files import TraceFile, UnusableFile, read_documents, read_each
from coreloop.observe.importers.message_forms import error_in
from coreloop.observe.importers.openai_chat import read_messages
from coreloop.observe.importers.traced_request import FOREIGN, TORN, UNDATED, SkippedTrace, TracedRequest
from coreloop.observe.record_parts import stored_text
from coreloop.observe.scores import scores_in

NAME: Final = "inspect"
SUFFIXES: Final = (".json", ".eval")
_ATTACHMENT: Final = "attachment://"
_GRADES: Final = {
    **dict.fromkeys(("C", "CORRECT", "YES", "TRUE"), True),
    **dict.fromkeys(("I", "INCORRECT", "N", "NOANSWER", "NO", "FALSE"), False),
}
_NO_MESSAGES: Final = SkippedTrace("sample without messages")
_PACKED: Final = SkippedTrace("log in zstandard, which needs Python 3.14, or inspect log convert --to json")


def read(files: Iterable[TraceFile]) -> Iterator[TracedRequest | SkippedTrace | UnusableFile]:
    """Read the samples of logs."""
    yield from read_each(files, _read_file)


def _read_file(file: TraceFile) -> Iterator[TracedRequest | SkippedTrace]:
    with file.open() as opened:
        for log, samples in _unpacked(opened) if file.path.suffix == ".eval" else _written(opened):
            task = log.get("eval") if isinstance(log, dict) else None
            if isinstance(task, dict):
                yield from (_request(sample, task) for sample in samples)
            else:
                yield log if isinstance(log, SkippedTrace) else FOREIGN


def _written(file: BinaryIO) -> Iterator[tuple[Any, Iterable[Any]]]:
    for log in read_documents(file):
        yield log, values.listed(log.get("samples")) if isinstance(log, dict) else ()


def _unpacked(file: BinaryIO) -> Iterator[tuple[Any, Iterable[Any]]]:
    """Read a log with one file per sample; only one sample is in memory at a time."""
    with zipfile.ZipFile(file) as log:
        names = sorted(log.namelist())
        samples = [name for name in names if name.startswith("samples/") and name.endswith(".json")]
        start = next((name for name in ("header.json", "_journal/start.json") if name in names), None)
        yield None if start is None else _member(log, start), (_member(log, name) for name in samples)


def _member(log: zipfile.ZipFile, name: str) -> Any:
    try:
        return values.decode_trace(log.read(name))
    except NotImplementedError:
        return _PACKED
    except ValueError:
        return TORN


def _request(sample: Any, task: dict[str, Any]) -> TracedRequest | SkippedTrace:
    if not isinstance(sample, dict):
        return sample if isinstance(sample, SkippedTrace) else FOREIGN
    attachments = sample.get("attachments")
    attachments = attachments if isinstance(attachments, dict) else {}
    asked, messages = _attached([sample.get("input"), values.listed(sample.get("messages"))], attachments)
    if not messages:
        return _NO_MESSAGES
    events = values.objects(sample.get("events"))
    stamps = [event.get(key) for event in events for key in ("timestamp", "completed")]
    told = max(filter(None, map(values.read_time, [*stamps, sample.get("completed_at")])), default=None)
    ended = told or values.read_time(task.get("created")) or UNDATED
    chat, passed_s = read_messages(messages), sample.get("total_time")
    provider, _, model = (values.text(task.get("model")) or "").partition("/")
    run = (
        str(values.first(task, "eval_id", "run_id", "task_id")),
        str(sample.get("id")),
        str(sample.get("epoch")),
    )
    return TracedRequest(
        source=NAME,
        ids=(sample["uuid"],) if values.text(sample.get("uuid")) else run,
        question=values.question_in(asked) or "",
        ended=ended,
        undated=told is None,
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
    return _GRADES.get(value.upper()) if isinstance(value, str) else None


def _attached(value: Any, attachments: dict[str, Any], depth: int = 20) -> Any:
    """Replace the addresses of attachments by their texts."""
    if isinstance(value, str) and value.startswith(_ATTACHMENT):
        return attachments.get(value.removeprefix(_ATTACHMENT), value)
    if isinstance(value, list) and depth:
        return [_attached(item, attachments, depth - 1) for item in value]
    if isinstance(value, dict) and depth:
        return {key: _attached(item, attachments, depth - 1) for key, item in value.items()}
    return value
