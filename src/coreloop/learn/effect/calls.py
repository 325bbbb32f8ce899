"""The calls of a log as `effect` needs them: the only place here that reads records."""

import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from functools import cached_property
from typing import Any, Final

import msgspec

from coreloop.base.categories import Categories
from coreloop.base.encoding import ELIDED
from coreloop.base.failures import MAX_ERROR_CHARS, error_class
from coreloop.base.project.workspace import Workspace
from coreloop.base.records import SCHEMA_VERSION, UNSPECIFIED, hash_question, is_category
from coreloop.learn.facts.counting import DAY_US
from coreloop.learn.facts.file import EPOCH_DAY
from coreloop.learn.mine.folder import day_files
from coreloop.observe.reading.decode import NOT_PLAIN, Skipped, decode_line, microseconds, raw_lines
from coreloop.observe.reading.fields import CallFields, RecordFields
from coreloop.observe.reading.loose import time_of
from coreloop.observe.reading.outcome import BY_VERDICT, RequestOutcome, by_length, decide, is_judged, is_ok
from coreloop.observe.verdicts import HumanVerdicts

_EMPTY: Final[tuple[Any, ...]] = ("", [], {})


class _CallLine(CallFields, gc=False):
    args_from: dict[str, tuple[str, ...]] | None = None  # type: ignore[assignment]  # decoded, not kept as JSON


class _RequestLine(RecordFields, gc=False, kw_only=True):
    tool_calls: list[_CallLine] | None = None  # type: ignore[assignment]  # narrower: other lines are read below
    model: str | None = None  # type: ignore[assignment]  # narrower, too
    duration_total_ms: float | None = None
    tools_version: str | None = None


_decode: Final = msgspec.json.Decoder(_RequestLine).decode


@dataclass(frozen=True)
class Call:
    """A call of a tool.

    Attributes
    ----------
    tool : str
        As recorded.
    error_class : str
        Empty if it succeeded.
    """

    tool: str
    error_class: str
    fields: CallFields
    sources: Mapping[str, tuple[str, ...]]

    @property
    def ok(self) -> bool:
        """Whether it succeeded."""
        return not self.error_class

    @cached_property
    def arguments(self) -> Mapping[str, Any]:
        """Values by name, without null, which counts as absent; unreadable values are `ELIDED`."""
        raws = self.fields.args if isinstance(self.fields.args, dict) else {}
        values = {name: _value(raw) for name, raw in raws.items()}
        return {name: value for name, value in values.items() if value is not None}

    def has(self, name: str) -> bool:
        """Whether an argument is given and not empty."""
        return name in self.arguments and self.arguments[name] not in _EMPTY

    def is_empty(self, name: str) -> bool:
        """Whether an argument is an empty text, list or object."""
        return name in self.arguments and self.arguments[name] in _EMPTY

    def text_of(self, name: str) -> str | None:
        """An argument's value as `comparable`; None if it is absent, empty or not recorded."""
        return comparable(self.arguments[name]) if self.has(name) else None


@dataclass(frozen=True, slots=True)
class Request:
    """A request with its calls in order.

    Attributes
    ----------
    day : int
        Days since 1970, UTC.
    ts_us : int
        Microseconds since 1970.
    case : str
        What requests of one piece of work share: the session, else the question, else the request's id.
    lost : bool or None
        Whether it failed; None if it counts neither as success nor as failure.
    seconds : float or None
        How long it took, if recorded.
    version : str
        Version of the descriptions that the model saw, if recorded, else empty.
    """

    day: int
    ts_us: int
    case: str
    model: str
    category: str
    lost: bool | None
    seconds: float | None
    version: str
    calls: Sequence[Call]


def read_requests(
    workspace: Workspace, judgments: HumanVerdicts, *, since: int | None = None
) -> Iterator[Request]:
    """Read the requests of a project's log, file by file.

    Parameters
    ----------
    workspace : Workspace
        Its settings decide what a failure is and which category a question has.
    judgments : HumanVerdicts
        Verdicts on requests.
    since : int, optional
        First day, since 1970; files named after earlier days are not opened.

    Raises
    ------
    WorkspaceError
        The folder or a file cannot be read.
    """
    reader = _Reader(workspace, judgments)
    for path in day_files(workspace.records_dir):
        if since is not None and _is_before(path.name, since):
            continue
        for offset, raw in raw_lines(path):
            request = reader.read(raw, offset)
            if request is not None and (since is None or request.day >= since):
                yield request


class _Name(msgspec.Struct, gc=False):
    name: str


class _Names(msgspec.Struct, gc=False):
    tool_calls: list[_Name] | None = None


def tool_names(workspace: Workspace, *, since: int | None = None) -> frozenset[str]:
    """The names of all called tools, as recorded; ``since`` as in `read_requests`."""
    decode = msgspec.json.Decoder(_Names).decode
    names = set[str]()
    for path in day_files(workspace.records_dir):
        if since is not None and _is_before(path.name, since):
            continue
        for offset, raw in raw_lines(path):
            try:
                names.update(call.name for call in decode(raw).tool_calls or ())
            except NOT_PLAIN:
                line = decode_line(raw, offset)
                if not isinstance(line, Skipped):
                    names.update(call.name for call in line.calls)
    return frozenset(names)


class _Reader:
    """Lines -> requests."""

    def __init__(self, workspace: Workspace, judgments: HumanVerdicts) -> None:
        settings = workspace.settings
        self._rules = Categories((rule.label, rule.any) for rule in settings.categories)
        self._handoff = frozenset(settings.handoff)
        self._min_chunk_len = settings.gates.min_chunk_len
        self._replayed = workspace.replayed()
        self._verdicts = judgments.of_requests()

    def read(self, raw: bytes, offset: int) -> Request | None:
        """A request; None for a replay and for a line that is not a record."""
        try:
            fields: RecordFields = _decode(raw)
            moment = time_of(fields.ts) if fields.schema_version <= SCHEMA_VERSION else None
            ts_us = None if moment is None else microseconds(moment)
            calls: Sequence[CallFields] = fields.tool_calls or ()  # type: ignore[assignment]
        except NOT_PLAIN:
            ts_us = None
        if ts_us is None:
            line = decode_line(raw, offset)
            if isinstance(line, Skipped):
                return None
            fields, calls, ts_us = line.fields, line.calls, line.ts_us
        if fields.origin == "replay" or fields.request_id in self._replayed:
            return None
        return self._request(fields, calls, ts_us)

    def _request(self, fields: RecordFields, calls: Sequence[CallFields], ts_us: int) -> Request:
        label = fields.category_hash
        if label is None or label == UNSPECIFIED or not is_category(label):
            label = self._rules.label(fields.question or "")
        question = fields.question_hash or (hash_question(fields.question) if fields.question else "")
        more = fields if isinstance(fields, _RequestLine) else None
        ms = more.duration_total_ms if more is not None else None
        return Request(
            day=ts_us // DAY_US,
            ts_us=ts_us,
            case=fields.session_hash or question or fields.request_id or f"{ts_us}",
            model=(more.model or "") if more is not None else "",
            category=label,
            lost=self._lost(fields, calls),
            seconds=ms / 1000 if ms is not None else None,
            version=(more.tools_version or "") if more is not None else "",
            calls=[_call(call) for call in calls],
        )

    def _lost(self, fields: RecordFields, calls: Sequence[CallFields]) -> bool | None:
        result = BY_VERDICT.get(self._verdicts.get(fields.request_id or "", ""))
        if result is None:
            handed_over = any(call.name in self._handoff for call in calls)
            if handed_over and not is_judged(fields):
                return None
            result = decide(fields, calls)
        if result is None:
            result = by_length(fields.chunk_len, self._min_chunk_len)
        return None if result == RequestOutcome.NEUTRAL else result == RequestOutcome.FAILURE


def comparable(value: object) -> str | None:
    """A value as text, equal for equal values however they are written; None if `ELIDED`."""
    if isinstance(value, str):
        return None if value == ELIDED else unicodedata.normalize("NFC", value).strip()
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return str(value) if isinstance(value, int | float) and not isinstance(value, bool) else _json(value)


def _json(value: object) -> str:
    return msgspec.json.encode(value, order="sorted").decode()


def _call(call: CallFields) -> Call:
    sources = (call.args_from if isinstance(call, _CallLine) else None) or {}
    return Call(
        call.name, "" if is_ok(call) else error_class(str(call.error)[:MAX_ERROR_CHARS]), call, sources
    )


def _value(raw: msgspec.Raw) -> Any:
    try:
        return msgspec.json.decode(raw)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return ELIDED


def _is_before(name: str, day: int) -> bool:
    """Whether a file is named after a day before the one before ``day``; clocks differ by hours."""
    try:
        return (date.fromisoformat(name[:10]) - EPOCH_DAY).days < day - 1
    except ValueError:
        return False
