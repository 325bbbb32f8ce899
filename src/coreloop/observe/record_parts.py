"""Builds the parts of a record from the values of a caller or of an imported trace.

`drop` is called with the reason for every value that cannot be stored; only that value is lost. Records hold
no results: what a model had read up to each call is kept beside them if coreloop.yaml asks for it, ``measure:
{contexts: true}`` (`conversation_line`). Imports only what the collector does: it runs in users' servers.
"""

from collections.abc import Callable, Iterable, Mapping
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, Final, NamedTuple, TypeAlias

import orjson

from coreloop.base import records
from coreloop.base.categories import Categories
from coreloop.base.record_lines import MAX_STRING_CHARS, text_of, to_plain

if TYPE_CHECKING:
    from datetime import datetime


Drop: TypeAlias = Callable[[str], None]
# Beside the folder of the records; day files, whose lines have the records' ids.
CONTEXTS: Final = "contexts"
# Of a question, a result or a user's message: some 2,000 tokens, which every question to a model repeats.
MAX_KEPT_CHARS: Final = 8_000
_UNJUDGED: records.RecordedJudgment = {"verdict": None, "judged_at": None, "judged_by": None, "pr_url": None}
_NUMBER_LIMIT: Final = 2**53  # from here on a float skips whole numbers


def open_record(
    question: str,
    *,
    request_id: str,
    categories: Categories,
    stock_code_hint: str | None = None,
    provider: str | None = None,
    model: str | None = None,
    session_id: str | None = None,
) -> records.Record:
    """Create the record of a new request: without calls, time and sequence."""
    text = stored_text(question)
    record: records.Record = {
        "schema_version": records.SCHEMA_VERSION,
        "ts": "",
        "request_id": request_id,
        "question": text,
        "question_hash": records.hash_question(text),
        "category_hash": categories.label(text) if categories.rules else records.UNSPECIFIED,
        "stockCode_hint": short_text(stock_code_hint),
        "provider": short_text(provider),
        "model": short_text(model),
        "tool_calls": [],
        "tool_sequence_hash": "",
        "override_calls": [],
        "rounds": None,
        "chunk_len": None,
        "error": None,
        "violation": None,
        "skill_used": None,
        "duration_total_ms": None,
        "judgment": _UNJUDGED,
    }
    if session_id is not None:
        record["session_hash"] = f"session:{records.digest(text_of(session_id).encode('utf-8', 'replace'))}"
    return record


class TracedCall(SimpleNamespace):  # no dataclass: importing that module takes 10 ms
    """One tool call.

    Attributes
    ----------
    args : dict
        By name; arguments without names are stored under ``value``.
    error : str, exception or None
        None if the call was ok.
    result_size_bytes : int or None
        Size of the result that the model received.
    result : object
        The result that the model received; ``...`` if it is not known.
    asked, answered : float or None
        When the model requested the call and received its result, in seconds or in answers so far.
        Overlapping calls did not have each other's result. None: after all earlier calls.
    ok : bool or None
        By default, whether there is no error and the result does not say that it failed.
    overrides_used : iterable of str, optional
        Keys of the tool's assumptions that the caller replaced.
    extreme_flags : iterable of str
        Names of implausible values that the tool reported.
    user_texts : tuple of str
        The user's messages since the previous call.
    unknown : str or None
        Without an error: why it is not known whether the call was ok.
    began : datetime or None
        With a zone.
    """

    name: str
    args: Mapping[str, Any]
    error: str | BaseException | None = None
    duration_ms: float | None = None
    result_size_bytes: int | None = None
    result: Any = ...
    asked: float | None = None
    answered: float | None = None
    user_texts: tuple[str, ...] = ()
    unknown: str | None = None
    began: "datetime | None" = None
    ok: bool | None = None
    overrides_used: Iterable[str] | None = None
    extreme_flags: Iterable[str] = ()


class RecordedCall(NamedTuple):
    """A call as it was traced and as it is recorded.

    With its step if it was ok, its complete arguments as plain JSON values, and the texts in each.
    """

    traced: TracedCall
    call: records.ToolCall
    step: str | None
    args: dict[str, Any]
    texts: dict[str, list[str]]


def error_without_values(error: str, args: Mapping[str, Any]) -> str:
    """Return an error in which the words of its call's arguments are ``<name>``: before these are cut."""
    from coreloop.observe.reading.error_texts import named, without_own_values  # when it is needed

    masked = without_own_values(error, args)
    return named(masked.filled(masked.text))


def stored_text(value: object, limit: int | None = None) -> str:
    """Return a value as encodable text of up to ``limit`` characters."""
    text = text_of(value)
    text = text if limit is None else text[:limit]
    return text if text.isascii() else records.encodable(text)


def short_text(value: object) -> str | None:
    """Return a name of up to 100 characters, or None."""
    return None if value is None else stored_text(value, 100)


def texts(values: Iterable[object] | None, *, drop: Drop) -> list[str]:
    """Return names of up to 100 characters; a single string counts as one name."""
    if values is None or isinstance(values, str):
        return [stored_text(values, 100)] if values else []
    if not isinstance(values, Iterable):
        drop("unserialisable")  # only the field: without its record the call would seem not to have happened
        return []
    return [stored_text(value, 100) for value in values]


def error_text(error: object) -> str | None:
    """Return the error's text; None, ``""`` and False mean that there is no error."""
    if error is None or error is False or error == "":
        return None
    if isinstance(error, BaseException):
        kind, message = type(error).__name__, text_of(error)
        return stored_text(kind if message == f"<{kind}>" else f"{kind}: {message}", MAX_STRING_CHARS)
    text = stored_text(error, 8 * MAX_STRING_CHARS)
    if len(text) > MAX_STRING_CHARS:
        from coreloop.observe.reading.error_texts import unwrapped  # Vercel's AI SDK puts all arguments first

        text = unwrapped(text)
    return text[:MAX_STRING_CHARS]


def number(value: Any, *, drop: Drop) -> Any:
    """Return an int or float that JSON can represent, else None; other values are counted as dropped."""
    if type(value) in (int, float) and -_NUMBER_LIMIT < value < _NUMBER_LIMIT:
        return value
    if value is not None:
        drop("unserialisable")
    return None


def kept_call(
    name: str,
    args: Mapping[str, Any],
    result: object,
    error: object = None,
    *,
    user_texts: Iterable[str] = (),
) -> dict[str, Any]:
    """A call as a conversation keeps it.

    Parameters
    ----------
    args : mapping
        Plain values.
    result : object
        What the model received; ``...`` if that is not known.
    error : object
        Received instead, if the call failed.
    user_texts : iterable of str
        What the user said before it, since the call before.
    """
    said = error_text(error) if result is ... else result
    return {
        "name": name,
        "args": args,
        "result": None if said is None and result is ... else _cut(said),
        "said": [_cut(text) for text in user_texts],
    }


def conversation_line(record: Mapping[str, Any], calls: Iterable[Mapping[str, Any]]) -> bytes:
    """The conversation of a record, as a line of the file of its day in `CONTEXTS`."""
    line = {"request_id": record["request_id"], "question": _cut(record["question"]), "calls": list(calls)}
    return orjson.dumps(line, option=orjson.OPT_APPEND_NEWLINE)


def _cut(value: object) -> str:
    if isinstance(value, str):
        return records.encodable(value[:MAX_KEPT_CHARS])
    try:
        return orjson.dumps(to_plain(value)).decode()[:MAX_KEPT_CHARS]
    except (TypeError, ValueError, RecursionError):
        return text_of(value)[:MAX_KEPT_CHARS]
