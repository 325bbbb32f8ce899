"""Logs of Inspect (``.json`` and ``.eval``): one request per sample.

Its calls are read from its messages, as those of a chat, and its scores become the record's judgment.
"""

import zipfile
from collections.abc import Iterable, Iterator
from datetime import datetime
from typing import Any, BinaryIO, Final

from coreloop.base.records import RecordedJudgment
from coreloop.observe.importers import trace_values as values
from coreloop.observe.importers.files import TraceFile, TracePart, read_documents, read_each
from coreloop.observe.importers.message_forms import error_in
from coreloop.observe.importers.openai_chat import read_messages
from coreloop.observe.importers.traced_request import FOREIGN, TORN, UNDATED, SkippedTrace, TracedRequest
from coreloop.observe.record_parts import stored_text
from coreloop.observe.scores import scores_in

NAME: Final = "inspect"
SUFFIXES: Final = (".json", ".eval")
_NO_MESSAGES: Final = SkippedTrace("sample without messages")
# Whether a grade is one of success; ``TRUE`` is true in JSON, too.
_PASSED: Final = {
    **dict.fromkeys(("C", "CORRECT", "YES", "TRUE", "1", "1.0"), True),
    **dict.fromkeys(("I", "INCORRECT", "N", "NOANSWER", "NO", "FALSE", "0", "0.0"), False),
}


def read(files: Iterable[TraceFile]) -> Iterator[TracePart]:
    """Read the samples of logs."""
    yield from read_each(files, _read_file)


def _read_file(file: TraceFile) -> Iterator[TracedRequest | SkippedTrace]:
    with file.open() as opened:
        for log in _unpacked(opened) if file.path.suffix == ".eval" else read_documents(opened):
            task, samples = (log.get("eval"), log.get("samples")) if isinstance(log, dict) else (None, None)
            if not isinstance(task, dict):
                yield log if isinstance(log, SkippedTrace) else FOREIGN
            elif isinstance(samples, Iterable):
                yield from (_request(sample, task) for sample in samples)


def _unpacked(file: BinaryIO) -> Iterator[Any]:
    """Read a log with one file per sample; only one sample is in memory at a time."""
    with zipfile.ZipFile(file) as log:
        samples = (_member(log, name) for name in sorted(log.namelist()) if name.startswith("samples/"))
        header = _member(log, "header.json")
        yield {**header, "samples": samples} if isinstance(header, dict) else header


def _member(log: zipfile.ZipFile, name: str) -> Any:
    try:
        return values.decode_trace(log.read(name))
    except NotImplementedError as error:
        raise NotImplementedError("zstandard needs Python 3.14, or inspect log convert --to json") from error
    except (KeyError, ValueError):
        return TORN


def _request(sample: Any, task: dict[str, Any]) -> TracedRequest | SkippedTrace:
    if not isinstance(sample, dict):
        return sample if isinstance(sample, SkippedTrace) else FOREIGN
    if not (messages := values.listed(sample.get("messages"))):
        return _NO_MESSAGES
    events = values.objects(sample.get("events"))
    stamps = [event.get(key) for event in events for key in ("timestamp", "completed")]
    told = max(filter(None, map(values.read_time, [*stamps, sample.get("completed_at")])), default=None)
    ended = told or values.read_time(task.get("created")) or UNDATED
    chat, passed_s = read_messages([_in_one_form(message) for message in messages]), sample.get("total_time")
    provider, _, model = (values.text(task.get("model")) or "").partition("/")
    run = values.first(task, "eval_id", "run_id", "task_id"), sample.get("id"), sample.get("epoch")
    return TracedRequest(
        source=NAME,
        ids=(sample["uuid"],) if values.text(sample.get("uuid")) else tuple(map(str, run)),
        question=values.question_in(sample.get("input")) or "",
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
    scores = scores.items() if isinstance(scores, dict) else ()
    given = ((name, score.get("value")) for name, score in scores if isinstance(score, dict))
    grades = {name: grade if isinstance(grade, str | int | float) else None for name, grade in given}
    verdicts = {name: _PASSED.get(str(grade).upper()) for name, grade in grades.items()}
    failed = [name for name, passed in verdicts.items() if passed is False]
    if not failed and not (verdicts and all(verdicts.values())):
        return None
    return {
        "verdict": "V" if failed else "P",
        "judged_at": at.isoformat(),
        "judged_by": stored_text(f"inspect: {', '.join(failed or verdicts)}", 100),
        "pr_url": None,
    }


def _in_one_form(message: Any) -> Any:
    """A message whose error says no more than happened; a call that a person did not approve has none."""
    error = message.get("error") if isinstance(message, dict) else None
    kind = error.get("type") if isinstance(error, dict) else None
    if kind == "approval":
        return {**message, "error": None, "status": "denied"}
    return {**message, "error": error_in(error, "message")} if kind == "unknown" else message
