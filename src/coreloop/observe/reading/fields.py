"""The fields of a record and of its calls that mining reads, as msgspec decodes a well-formed line."""

from collections.abc import Sequence
from datetime import datetime
from typing import Annotated, Any, Final, Literal

import msgspec

# Of a tool or an argument: clients allow 64, and a longer one would fill screens; the rest is cut.
MAX_NAME_CHARS: Final = 200
# Of a tool, which costs nothing to check; on an argument's it would take a third of the time.
Name = Annotated[str, msgspec.Meta(max_length=MAX_NAME_CHARS)]
Timestamp = Annotated[datetime, msgspec.Meta(tz=True)]


class CallFields(msgspec.Struct, gc=False):
    """A tool call; of the argument values, only selectors are decoded, on demand."""

    name: Name
    args: dict[str, msgspec.Raw] | list[msgspec.Raw] | str | int | float | None = None
    ok: bool | None = None
    error: Any = None
    duration_ms: float | None = None
    result_size_bytes: float | None = None
    overrides_used: list[str] | None = None
    extreme_flags: Sequence[str] | None = None
    args_from: msgspec.Raw = msgspec.Raw()
    saw: msgspec.Raw = msgspec.Raw()
    unknown: str | None = None

    def selected(self, selectors: Sequence[str]) -> dict[str, Any]:
        """The values of the selector arguments that the call has."""
        args = self.args if isinstance(self.args, dict) else {}
        return {key: _selector(args[key]) for key in selectors if key in args}


class OverrideFields(msgspec.Struct, gc=False):
    """An override of a tool's assumption."""

    tool: str
    succeeded: bool = True


class JudgmentFields(msgspec.Struct, gc=False):
    """A verdict in the record itself."""

    verdict: str | None = None


class CountedFields(msgspec.Struct, gc=False, kw_only=True):
    """Fields of a record of version 1 or 2, in the order of the file, which is faster to decode.

    All but the time may be absent.
    """

    schema_version: int = 1
    ts: str | datetime
    request_id: str | None = None
    question: str | None = None
    question_hash: str | None = None
    category_hash: str | None = None
    provider: str | None = None
    model: Any = None
    tool_calls: Sequence[CallFields | Name] | None = None
    tool_sequence_hash: str | None = None
    override_calls: Sequence[OverrideFields] | None = None
    rounds: float | None = None
    chunk_len: float | None = None
    error: Any = None
    violation: Any = None
    duration_total_ms: float | None = None
    judgment: JudgmentFields | None = None
    session_hash: str | None = None
    part: int | None = None
    tool_calls_omitted: int | None = None
    omitted_failure: bool | None = None
    omitted_error: str | None = None
    unknown: str | None = None
    undated: bool | None = None
    origin: str | None = None
    tools_version: str | None = None
    descriptions: str | None = None
    input_tokens: float | None = None
    output_tokens: float | None = None
    cost_usd: float | None = None
    case: Sequence[str] | None = None


class RecordFields(CountedFields, gc=False, kw_only=True):
    """Any record; see `CountedFields`. Its model may be any JSON."""

    ts: str
    model: msgspec.Raw = msgspec.Raw()
    tool_calls: list[CallFields | Name] | None = None


class _PlainCall(CallFields, gc=False):
    args: dict[str, msgspec.Raw] | None = None
    error: str | None = None
    extreme_flags: tuple[()] | None = None


class _NoVerdict(JudgmentFields, gc=False):
    verdict: None = None


class PlainRecord(CountedFields, gc=False, kw_only=True):
    """The usual record: its outcome depends only on its error, its calls and the length of its answer.

    Fewer types decode in half the time. `decode_line` reads the same fields from the same line.
    """

    schema_version: Literal[1, 2] = 1
    ts: Timestamp
    model: str | None = None
    tool_calls: list[_PlainCall] | None = None
    override_calls: tuple[()] | None = None
    error: str | None = None
    violation: None = None
    judgment: _NoVerdict | None = None
    part: None = None
    tool_calls_omitted: None = None
    omitted_failure: None = None
    omitted_error: None = None
    unknown: None = None
    origin: None = None


def cut_name(name: str) -> str:
    """A name of at most `MAX_NAME_CHARS` letters."""
    return name if len(name) <= MAX_NAME_CHARS else f"{name[: MAX_NAME_CHARS - 1]}…"


def _selector(raw: msgspec.Raw) -> Any:
    try:
        return msgspec.json.decode(raw)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):  # a number beyond all bounds, bytes
        return ()
