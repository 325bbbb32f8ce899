"""Whether a result says that its call failed, or that a person did not allow it, by failure_texts.tsv.

Exact types are tested: a subclass may have a `__len__`, `__class__` or `__eq__` that raises, and none of a
result's own code is run. Imports only what the collector does: it runs in users' servers.
"""

import re
import string
from collections.abc import Iterable, Mapping
from functools import cache
from pathlib import Path
from typing import Any, Final, NamedTuple, TypeAlias

import orjson

from coreloop.base.record_lines import MAX_CHARS
from coreloop.base.records import READS_FAILED, REFUSED

# Fields of a result, and their values in failed calls, as lower-case JSON text.
FailedResults: TypeAlias = Mapping[str, frozenset[str]]
FAILED_RESULTS: Final[FailedResults] = {
    "success": frozenset({"false", "0"}),
    **dict.fromkeys(("ok", "isSuccess"), frozenset({"false"})),
    **dict.fromkeys(("isError", "is_error", "error"), frozenset({"true"})),
    **dict.fromkeys(("result", "status"), frozenset({"error"})),
    "type": frozenset({"error-text", "error-json"}),  # AI SDK
}
_KINDS: Final = ("certain", "guess", "refused")
_DENIED: Final = ("execution-denied", "output-denied")  # AI SDK
_TEXTS: Final = ("text", "input_text", "output_text")  # types of a message's parts
_MAX_WRAPPINGS: Final = 4
_STATUS_WORDS: Final = {"failed", "fail", "failure", "denied", "invalid", "rejected", "not_found"}
NO_ERRORS: Final = {"", "none", "null", "nil", "no", "false", "0", "n/a", "-", "ok", "no error", "없음"}
# Matches "Process exited with code 0", whatever the output says.
_SUCCEEDED: Final = re.compile(r"(?:exit(?:ed with)?|return)[ _-]?code\W{0,10}0\b", re.IGNORECASE)
_BAD_CODE: Final = re.compile(
    "error|exception|not_?found|invalid|denied|fail|forbid|unauth|exceed|missing|expired"
)
_PLAIN: Final = orjson.OPT_PASSTHROUGH_SUBCLASS | orjson.OPT_PASSTHROUGH_DATACLASS | orjson.OPT_NON_STR_KEYS
# What is seen of a text, in characters: frameworks write at its beginning, shells also at its end.
_HEAD, _TAIL = 300, 150
_SIGN_HEAD, _SIGN_TAIL = 120, 60
_SPACES: Final = str.maketrans(dict.fromkeys(string.punctuation, " "))
_MARKUP: Final = " \t\r\n*_#>`\"'[(❌⚠\ufe0f🚫⛔❗✗✘✖🔴💥•│┃|"
_QUESTION: Final = re.compile(r"[^,.!\n]*\?(?:\s|\Z)")
_LABEL: Final = re.compile(
    r"(?:(?:(?:tool|function|command) )?(?:result|output|response|observation)|stderr\]?)\s?:?\s+", re.I
)
_TAGS: Final = re.compile(r"</?(?:tool_)?(?:use_)?error>")


_compiled: Final = cache(re.compile)  # that of `re` forgets, in a server that has more than 512 patterns


class Row(NamedTuple):
    """A line of failure_texts.tsv.

    Attributes
    ----------
    kind : str
        ``certain``: a fixed sentence; ``guess``: reads like a failure; ``refused``: by a person;
        ``fields``: of JSON objects.
    framework, writer : str
        The framework, or the group of fields; its class, function or constant.
    signs : str
        Without any of which the pattern cannot match: the first four letters of words, or their last five.
        Or names of fields.
    pattern : str
        Matches the beginning of the text, in any case.
    fails, works : str
        A result that says that its call failed, and one that looks similar and does not.
    """

    kind: str
    framework: str
    writer: str
    signs: str
    pattern: str
    fails: str
    works: str


class Verdict(NamedTuple):
    """The ``error`` and ``unknown`` of a call that did not work."""

    error: str | None
    unknown: str | None = None


@cache
def rows() -> tuple[Row, ...]:
    """The rows, of which the first that matches counts; they are read with the first result."""
    lines = Path(__file__).with_name("failure_texts.tsv").read_text("utf-8").splitlines()[1:]
    return tuple(Row(*line.split("\t")) for line in lines)


@cache
def _fields(*groups: str) -> dict[str, None]:
    """The names of the fields of some groups, in order."""
    named = [row.signs for row in rows() if row.kind == "fields" and row.framework in groups]
    return dict.fromkeys("|".join(named).split("|"))


@cache
def _signs() -> tuple[tuple[Row, set[str]], ...]:
    """The rows of texts with their signs."""
    return tuple((row, set(row.signs.split("|"))) for row in rows() if row.kind in _KINDS)


def judge(result: object, error: object, rule: FailedResults) -> Verdict | None:
    """Say why a call did not work; None if its result and error do not say more than is known.

    Parameters
    ----------
    result : object
        Text, JSON text, or a value of JSON; anything else says nothing.
    error : object
        That of the call, as its caller, framework or trace has it: only a person's refusal is none.
    rule : FailedResults
        The project's rule for fields, which replaces what is known of them; empty without one.
    """
    if error is not None:
        return of_text(error, ("refused",)) if type(error) is str else None
    try:
        value = _opened(result, rule)
        if type(value) is str:
            return of_text(value)
        return _of_fields(value, rule) if type(value) is dict else None
    except RuntimeError:  # another thread changed the result meanwhile
        return None


def of_text(text: str, kinds: Iterable[str] = _KINDS) -> Verdict | None:
    """Say why the call of a text did not work, by rows of some kinds."""
    seen = text[:MAX_CHARS].lstrip(_MARKUP)
    if _SUCCEEDED.search(seen[:_SIGN_HEAD]) or _SUCCEEDED.search(text[-_TAIL:]):
        return None
    if label := _LABEL.match(seen):
        seen = seen[label.end() :].lstrip(_MARKUP)
    if len(seen) > _HEAD + _TAIL:
        seen = f"{seen[:_HEAD]}\n…\n{text[-_TAIL:]}"
    ends = f"{seen[:_SIGN_HEAD]} {seen[_SIGN_HEAD:][-_SIGN_TAIL:]}".lower()
    parts = {part for word in ends.translate(_SPACES).split() for part in (word[:4], word[-5:])}
    if not ends.isascii():  # words may follow each other without spaces
        parts |= {sign for _, signs in _signs() for sign in signs if sign in ends}
    for row, signs in _signs():
        if row.kind not in kinds or parts.isdisjoint(signs):
            continue
        if _compiled(row.pattern, re.IGNORECASE).match(seen):
            is_question = row.kind == "guess" and _QUESTION.match(seen)  # a title, or an entry of a list
            return None if is_question else _verdict(row, text)
    return None


def _verdict(row: Row, text: str) -> Verdict:
    if row.kind == "refused":
        return Verdict(None, REFUSED)
    error = _TAGS.sub("", text).strip()
    if row.writer == "traceback.format_exc":
        error = error.rpartition("\n")[2].strip()
    return Verdict(error, READS_FAILED if row.kind == "guess" else None)


def _opened(result: object, rule: FailedResults) -> object:
    """The text or the fields inside JSON text, parts of a message, and objects that only wrap them."""
    for _ in range(_MAX_WRAPPINGS):
        inner: object = ...
        if type(result) is str:
            inner = parsed_json(result)
        elif type(result) is list and result and type(result[0]) is dict:
            is_text = len(result[0]) == 1 or _word(result[0].get("type")) in _TEXTS
            inner = result[0].get("text", ...) if is_text else ...
        elif type(result) is dict and not _is_flagged(result, rule or FAILED_RESULTS):
            inner = _wrapped(result)
        if type(inner) not in (str, list, dict):
            break
        result = inner
    return result


def parsed_json(text: str) -> object:
    """The object or list that a text is; ``...`` if it is another text, or too long."""
    if len(text) > MAX_CHARS or text.lstrip()[:1] not in ("{", "["):
        return ...
    try:
        return orjson.loads(text)
    except orjson.JSONDecodeError:
        return ...


def _wrapped(fields: dict[str, Any]) -> object:
    if _fields("data").keys().isdisjoint(fields):
        return ...
    beside = _fields("beside data")
    values = [value for key, value in fields.items() if type(key) is not str or key not in beside]
    return values[0] if len(values) == 1 else ...


def _is_flagged(fields: Mapping[str, Any], rule: FailedResults) -> bool:
    return any(_word(fields[name]) in rule[name] for name in rule.keys() & fields.keys())


def _word(value: object) -> str:
    if type(value) is str:
        return value.strip().lower()
    return str(value).lower() if type(value) is bool or type(value) is int else "…"


def _of_fields(fields: dict[str, Any], rule: FailedResults) -> Verdict | None:
    """Say by its fields why a call did not work."""
    if _is_flagged(fields, rule or FAILED_RESULTS):
        return _explained(fields)
    if _word(fields.get("type")) in _DENIED:
        return Verdict(None, REFUSED)
    told = _fields("exit codes", "codes", "error codes", "errors", "messages")
    if rule or fields.get("success") is True or fields.get("ok") is True or told.keys().isdisjoint(fields):
        return None
    parts = [part for part in (fields, fields.get("metadata")) if type(part) is dict]
    exits = [_number(part.get(name)) for part in parts for name in _fields("exit codes")]
    if codes := [code for code in exits if code is not None]:
        return _explained(fields) if any(codes) else None
    names = {key for key, value in fields.items() if type(key) is str and not _is_empty(value)}
    data = names.difference(told, _fields("about errors"))
    if _word(fields.get("name")).endswith(("error", "exception")):
        data -= {"name"}
    if _has_error(fields, names, data | names & {"id", "title"}):
        return _explained(fields)
    is_problem = names >= {"title", "detail", "status"}  # of RFC 9457, with fields of its own
    return _of_message(fields, names) if is_problem or not data else None


def _has_error(fields: Mapping[str, Any], names: set[str], data: set[str]) -> bool:
    """Whether an object has an error, and little else: a list's entry or a checker's report has more."""
    name = next((name for name in _fields("errors") if name in names), None)
    value = None if name is None else fields[name]
    if name == "errors" or type(value) is list:
        return type(value) in (list, dict) and not data
    if type(value) is str and value.strip().lower() not in NO_ERRORS:
        is_empty = any(_is_empty(fields[other]) for other in _fields("data") if other in fields)
        return len(data) <= (2 if is_empty or next(iter(fields)) == name else 1)
    return (type(value) is dict and len(data) <= 1) or (name == "error" and type(value) is int and not data)


def _of_message(fields: dict[str, Any], names: set[str]) -> Verdict | None:
    """Say why a call did not work whose result is only a code and a message."""
    codes = [_number(fields.get(name)) or 0 for name in _fields("codes")]
    if any(400 <= code < 600 or -33_000 < code < 0 for code in codes):
        return _explained(fields)
    detail = fields.get("detail")
    if type(detail) in (str, list) and detail and names <= {"detail", "type"}:
        return _explained(fields, READS_FAILED if type(detail) is str else None)
    told = [fields[name] for name in _fields("messages") if type(fields.get(name)) is str]
    words = [_word(fields.get(name)) for name in _fields("codes", "error codes")]
    is_error = any(
        _word(fields[name]).strip("0") not in NO_ERRORS for name in names & _fields("error codes").keys()
    )
    if told and (
        is_error or any(map(_BAD_CODE.search, words)) or _word(fields.get("status")) in _STATUS_WORDS
    ):
        return _explained(fields, READS_FAILED)
    return next((verdict for text in told if (verdict := of_text(text)) is not None), None)


def _number(value: object) -> int | None:
    if type(value) is str and len(value) <= 4 and value.removeprefix("-").isdecimal():
        return int(value)
    return value if type(value) is int else None


def _is_empty(value: object) -> bool:
    if type(value) is dict:
        return all(inner is None for inner in value.values())
    return value is None or (type(value) in (str, list) and not value)


def _explained(fields: dict[str, Any], unknown: str | None = None) -> Verdict:
    texts = map(_said, map(fields.get, _fields("errors", "messages", "data")))
    error = next(filter(None, texts), "") or _json(fields)
    return of_text(error, ("refused",)) or Verdict(error, unknown)


def _said(value: object) -> str:
    """The text of an error, of the first of a list, or of an object's message."""
    value = value[0] if type(value) is list and value else value
    if type(value) is dict:
        value = next((value[name] for name in ("message", "msg", "text") if type(value.get(name)) is str), "")
    return value if type(value) is str else ""


def _json(fields: dict[str, Any]) -> str:
    """The whole result; values that are no plain JSON are null."""
    try:
        return orjson.dumps(fields, default=lambda _: None, option=_PLAIN).decode()
    except orjson.JSONEncodeError:  # nested too deep, numbers too large, text that is no UTF-8
        return "the result says that it failed"
