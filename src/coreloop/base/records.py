"""The v2 record: its fields, vocabulary and hashes, which all other modules use.

Imports only the standard library, because the guard does; `coreloop.base.record_lines` writes its lines.
"""

import re
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from hashlib import sha256
from itertools import groupby
from json.encoder import encode_basestring
from typing import Any, Final, NotRequired, TypedDict

SCHEMA_VERSION: Final = 2
UNSPECIFIED: Final = "UNSPECIFIED"
NO_RESULT: Final = "no result in the trace"
REFUSED: Final = "refused by a person"
FINAL: Final = "a final call"
NO_ANSWER: Final = "no answer in the trace"
"""Why it is not known whether a call, or a request, worked: the values of ``unknown``."""
READS_FAILED: Final = "reads like a failure"
"""``unknown`` of a failed call that nothing flags as failed."""
WHY_UNKNOWN: Final = frozenset({NO_RESULT, REFUSED, FINAL, READS_FAILED})
"""The values of a call's ``unknown``."""
DEFAULT_SELECTORS: Final = ("axis", "sub")
OTHER: Final = "<other: a list, an object or a text of over 80 characters, which names no sub-function>"
"""Stored for a selector's value that is not a name; longer than any name, so that they cannot be confused."""
_SELECTOR_CHARS = 80
_LABEL = re.compile(r"[A-Za-z0-9]{1,32}(-[A-Za-z0-9]{1,32}){0,3}")
_NOT_WORD = re.compile(r"[^\w\s]|_")
_STEP_SYNTAX = re.compile(r'[()=,<>"\\\x00-\x1f]')


class ToolCall(TypedDict):
    """One call of a tool; ``args_hash`` covers the arguments before strings are cut.

    ``ok`` is None if it is not known whether the call worked; ``unknown`` then says why.
    """

    name: str
    args: Any
    args_hash: str
    ok: bool | None
    error: str | None
    duration_ms: float | None
    result_size_bytes: int | None
    overrides_used: Sequence[str] | None
    extreme_flags: Sequence[str]
    args_from: NotRequired[dict[str, list[str]]]
    """Argument -> where its value occurred before the call: fields of earlier results, or ``question``; empty
    if it did not occur."""
    saw: NotRequired[dict[str, dict[str, str | bool | None]]]
    """Argument -> fields of the object that it names, as an earlier result last showed them: booleans, keyed
    hashes of words, None for another text. Older records have words of the tool's own source."""
    unknown: NotRequired[str]
    """Without ``ok`` and ``error``: `NO_RESULT`, `REFUSED` or `FINAL`. With them: `READS_FAILED`."""


class OverrideCall(TypedDict):
    """A caller's correction of a tool's assumption, and whether it worked."""

    tool: str
    override_keys: Sequence[str]
    trigger: str | None
    succeeded: bool


class RecordedJudgment(TypedDict):
    """A human verdict: P pass, T tolerable, C caution, V violation."""

    verdict: str | None
    judged_at: str | None
    judged_by: str | None
    pr_url: str | None


class Record(TypedDict):
    """One request, one or several lines of ``data/audit/ai-ask/YYYY-MM-DD.jsonl``."""

    schema_version: int
    ts: str
    request_id: str
    question: str
    question_hash: str
    category_hash: str
    stockCode_hint: str | None
    provider: str | None
    model: str | None
    tool_calls: list[ToolCall]
    tool_sequence_hash: str
    override_calls: list[OverrideCall]
    rounds: int | None
    chunk_len: int | None
    error: str | None
    violation: str | None
    skill_used: str | None
    duration_total_ms: float | None
    judgment: RecordedJudgment
    session_hash: NotRequired[str]
    case: NotRequired[list[str]]
    """Keyed hashes of identifiers in the calls' arguments, see `coreloop.observe.case_keys`."""
    tool_calls_omitted: NotRequired[int]
    """Calls that are not on this line, but on the following ones."""
    part: NotRequired[int]
    """Of each line of a request that stands on several, the first of which is 0."""
    omitted_failure: NotRequired[bool]
    omitted_error: NotRequired[str]
    """Of older logs, in which long requests lost their last calls: whether a flag or an override among them
    failed, and the error of the last."""
    unknown: NotRequired[str]
    """Why it is not known whether the request worked: `NO_ANSWER`."""
    undated: NotRequired[bool]
    """Whether the trace has no time, so that ``ts`` is that of its file."""
    origin: NotRequired[str]
    tools_version: NotRequired[str]
    """Version of the docstrings that the model saw: a commit, or a name chosen by the caller."""
    descriptions: NotRequired[str]
    """``desc:`` and the name of a file in ``data/audit/descriptions/``: the tools as the model got them."""
    parent_request_id: NotRequired[str]
    """The request whose agent made this one."""
    input_tokens: NotRequired[int]
    output_tokens: NotRequired[int]
    cost_usd: NotRequired[float]


def is_category(label: str) -> bool:
    """Whether ``label`` may appear in a docstring: one to four parts of ASCII letters and digits."""
    return _LABEL.fullmatch(label) is not None


def normalize_question(question: str) -> str:
    """Normalize a question: NFKC, lower case, only letters, digits and single spaces."""
    folded = _NOT_WORD.sub("", unicodedata.normalize("NFKC", question).lower())
    return " ".join(folded.split())


def hash_question(question: str) -> str:
    """Return ``"sha256:"`` and 16 hex digits of SHA-256 of the normalised question."""
    return f"sha256:{digest(normalize_question(question).encode('utf-8', 'replace'))}"


def step(name: str, args: Mapping[str, object], selectors: Iterable[str] = DEFAULT_SELECTORS) -> str:
    """Format one call as a step of the sequence: the tool and the chosen sub-function.

    Parameters
    ----------
    name : str
        Tool name.
    args : mapping
        The call's arguments; all but the selectors are ignored.
    selectors : iterable of str
        Arguments that choose a sub-function, in output order.

    Returns
    -------
    str
        ``analysis(axis=수익성)``, ``show()``. A value that could be mistaken for syntax is written as a
        JSON string; a value that is not a name (over 80 characters, a list, an object) as ``<other>``; null
        counts as absent.
    """
    chosen = [f"{key}={_selector_text(args[key])}" for key in selectors if args.get(key) is not None]
    return f"{_quoted(name)}({','.join(chosen)})"


def selector_value(value: object) -> str:
    """Normalize a selector's value (NFC, trimmed), so that an axis has a single spelling.

    Returns
    -------
    str
        At most 80 characters; `OTHER` if it is not a name. `step` treats it like ``value``.
    """
    if isinstance(value, str):
        text = unicodedata.normalize("NFC", value).strip()
        return text if len(text) <= _SELECTOR_CHARS else OTHER
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(value) if isinstance(value, int | float) and abs(value) < 1e15 else OTHER


def _selector_text(value: object) -> str:
    """A selector's value in a step, quoted if it looks like syntax."""
    text = selector_value(value)
    return "<other>" if text == OTHER else _quoted(text)


def join_steps(steps: Iterable[str]) -> str:
    """Join the steps of the successful calls to the sequence; immediate repeats count once."""
    return ">".join(unique_step for unique_step, _ in groupby(steps))


@lru_cache(maxsize=1024)  # a server repeats a few sequences all day
def hash_sequence(sequence: str) -> str:
    """Return ``"seq:"`` and 16 hex digits of SHA-256 of the sequence's text."""
    return f"seq:{digest(sequence.encode('utf-8', 'replace'))}"


def encodable(text: str) -> str:
    """Replace lone surrogates, which UTF-8 cannot encode, by ``?``."""
    return text.encode("utf-8", "replace").decode("utf-8")


def _quoted(text: str) -> str:
    return encode_basestring(encodable(text)) if _STEP_SYNTAX.search(text) else text


def digest64(text: str) -> int:
    """Return the first 64 bits of a text's SHA-256, which `hash_sequence` and the others write in hex."""
    return int.from_bytes(sha256(text.encode("utf-8", "replace")).digest()[:8], "big")


def digest(data: bytes) -> str:
    """Return 16 hex digits of SHA-256."""
    return sha256(data).hexdigest()[:16]
