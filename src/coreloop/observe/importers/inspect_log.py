"""Logs of Inspect (``.json`` and ``.eval``): one request per sample.

Its calls are read from its messages, as those of a chat, and its scores become the record's judgment.
"""

import zipfile
from collections.abc import Iterable, Iterator
from datetime import datetime
from typing import Any, BinaryIO, Final

from coreloop.base.records import RecordedJudgment
from coreloop.observe.importers import trace_values as values
from coreloop.observe.importers.agent_files import AgentFormat, Objects, Parts
from coreloop.observe.importers.files import read_documents
from coreloop.observe.importers.message_forms import error_in
from coreloop.observe.importers.openai_chat import question_in
from coreloop.observe.importers.traced_request import FOREIGN, TORN, UNDATED
from coreloop.observe.record_parts import stored_text

# Whether a grade is one of success; ``TRUE`` is true in JSON, too.
_PASSED: Final = {
    **dict.fromkeys(("C", "CORRECT", "YES", "TRUE", "1", "1.0"), True),
    **dict.fromkeys(("I", "INCORRECT", "N", "NOANSWER", "NO", "FALSE", "0", "0.0"), False),
}


def _samples(opened: BinaryIO) -> Iterator[Any]:
    """The samples of logs, each with what its log says; in an ``.eval`` file, each has a file of its own."""
    is_packed = opened.read(2) == b"PK"
    opened.seek(0)
    for log in _unpacked(opened) if is_packed else read_documents(opened):
        if not isinstance(log, dict) or not isinstance(log.get("eval"), dict):
            yield log if log is TORN else FOREIGN
        elif isinstance(log.get("samples"), Iterable):
            for sample in log["samples"]:
                yield {**sample, "eval": log["eval"]} if isinstance(sample, dict) else sample


def _unpacked(file: BinaryIO) -> Iterator[Any]:
    """Read a log with one file per sample; each is unpacked when the one before has been read."""
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


def _inspect(samples: Objects) -> Parts:
    """One request per sample."""
    for number, sample in enumerate(samples):
        task, passed_s = sample["eval"], sample.get("total_time")
        events = values.objects(sample.get("events"))
        stamps = [event.get(key) for event in events for key in ("timestamp", "completed")]
        told = max(filter(None, map(values.read_time, [*stamps, sample.get("completed_at")])), default=None)
        ended = told or values.read_time(task.get("created")) or UNDATED
        provider, _, model = (values.text(task.get("model")) or "").partition("/")
        run = values.first(task, "eval_id", "run_id", "task_id"), sample.get("id"), sample.get("epoch")
        fields = {
            "ids": (sample["uuid"],) if values.text(sample.get("uuid")) else tuple(map(str, run)),
            "question": question_in(sample.get("input")) or "",
            "ended": ended,
            "undated": told is None,
            "provider": provider if model else None,
            "duration_ms": round(1000 * passed_s, 3) if isinstance(passed_s, int | float) else None,
            "judgment": _judgment(sample.get("scores"), ended),
        }
        error = error_in(sample.get("error"), "message")
        about = {"error": error, "model": model or provider, "scores": sample.get("scores"), "fields": fields}
        yield number, about, list(map(_in_one_form, values.objects(sample.get("messages"))))


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


def _in_one_form(message: dict[str, Any]) -> dict[str, Any]:
    """A message whose error says no more than happened; a call that a person did not approve has none."""
    error = message.get("error")
    kind = error.get("type") if isinstance(error, dict) else None
    if kind == "approval":
        return {**message, "error": None, "status": "denied"}
    return {**message, "error": error_in(error, "message")} if kind == "unknown" else message


FORMATS: Final = (AgentFormat("inspect", "eval messages", _inspect, (".json", ".eval"), _samples),)
