"""The calls of a window as statements see them: no value, only what facts hold of it."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain
from textwrap import wrap
from types import MappingProxyType
from typing import Any, Final, NamedTuple

import msgspec

from coreloop.base.error_classes import MAX_ERROR_CHARS
from coreloop.base.records import digest64
from coreloop.learn.facts.read_lines import DAY_US, NO_QUESTION, case_of, failure_of, question_template
from coreloop.learn.facts.schema import decoded
from coreloop.learn.mine.requests import Request
from coreloop.learn.mine.window import Window
from coreloop.learn.statements.cases import CaseKind, RequestKeys, case_numbers, owners
from coreloop.learn.statements.values import Value, read_value
from coreloop.observe.case_keys import MAX_IDENTIFIERS
from coreloop.observe.reading.decode import CallFields, RecordLine, cut_name
from coreloop.observe.reading.outcome import RequestOutcome, worked
from coreloop.observe.shown_states import HASHED

MAX_REQUESTS: Final = 10_000
"""Enough for evidence from hundreds of cases, and searched in seconds; of more, a fixed draw is read."""
_MAX_CALLS: Final = 100
_MAX_PATHS: Final = 4
"""Places of a value that are kept, the nearest first."""


@dataclass(frozen=True, slots=True)
class LoggedCall:
    """A call; ``error_class`` is empty if it succeeded, ``template`` is the hash of its error's text.

    A ``retry`` comes after a failed call of the same tool in its request: it is no evidence. A failed call is
    ``recovered`` if a later one worked. ``number`` is its place in its record; ``error`` its text, only to
    compare.
    """

    tool: str
    values: Mapping[str, Value]
    error_class: str = ""
    template: int = 0
    retry: bool = False
    recovered: bool = False
    number: int = 0
    error: str = ""

    @property
    def ok(self) -> bool:
        """Whether it succeeded."""
        return not self.error_class


@dataclass(frozen=True, slots=True)
class LoggedRequest:
    """A request with its calls in order; ``template``, ``owner``: 0 without a question or identifiers.

    It is not known how an ``unknown`` one went on; ``sent`` are the descriptions of its tools, ``desc:HASH``.
    """

    ts_us: int
    file: int
    offset: int
    model: str
    lost: bool
    question: int
    template: int
    calls: tuple[LoggedCall, ...]
    undated: bool = False
    case: int = 0
    owner: int = 0
    unknown: bool = False
    sent: str = ""

    @property
    def day(self) -> int:
        """Days since 1970, UTC."""
        return self.ts_us // DAY_US


@dataclass(frozen=True, slots=True)
class CallPlace:
    """A call in its request."""

    request: LoggedRequest
    index: int

    @property
    def call(self) -> LoggedCall:
        """The call."""
        return self.request.calls[self.index]

    @property
    def earlier(self) -> Iterator[LoggedCall]:
        """The calls before it that worked, without retries."""
        return (call for call in self.request.calls[: self.index] if call.ok and not call.retry)


@dataclass(frozen=True, slots=True)
class CaseLog:
    """Requests by time, what most of their cases are, and the error texts without values, by hash."""

    requests: tuple[LoggedRequest, ...]
    case_kind: CaseKind = "request"
    errors: Mapping[int, str] = field(default_factory=dict)

    @property
    def days(self) -> list[int]:
        """Days with records, ascending; what has no date of its own is of none."""
        return sorted({request.day for request in self.requests if not request.undated})

    @property
    def is_one_day(self) -> bool:
        """Whether there is no line yet, as the last third of the days has to agree with the others."""
        return len(self.days) < 2 and not any(request.undated for request in self.requests)

    @property
    def tools(self) -> frozenset[str]:
        """Names of all called tools."""
        return frozenset(call.tool for request in self.requests for call in request.calls)

    def passed(self, tool: str) -> frozenset[str]:
        """The arguments that calls of a tool passed which worked."""
        calls = (call for request in self.requests for call in request.calls if call.tool == tool)
        return frozenset(name for call in calls if call.ok for name in call.values)


def read_log(window: Window, names: Mapping[str, str]) -> CaseLog:
    """Read the requests of a window; ``names`` are the tools' names by those that clients log."""
    read = read_requests(window, window.drawn(window.requests, MAX_REQUESTS), names)
    read.sort(key=lambda pair: (pair[0].ts_us, pair[0].file, pair[0].offset))
    keys = [keys._replace(calls=_compared(request.calls)) for request, keys in read]
    numbers, kind = case_numbers(keys)
    requests = tuple(
        replace(request, calls=request.calls[:_MAX_CALLS], case=number, owner=owner)
        for (request, _), number, owner in zip(read, numbers, owners(keys), strict=True)
    )
    texts = {digest64(text): text for text in window.causes.values()}
    used = {call.template for request in requests for call in request.calls if call.template}
    return CaseLog(requests, kind, {template: texts.get(template, "") for template in used})


def read_requests(
    window: Window, drawn: Sequence[Request], names: Mapping[str, str] = MappingProxyType({})
) -> list[tuple[LoggedRequest, RequestKeys]]:
    """Read requests of a window again; one that is gone from the log has no calls."""
    reader = RecordReader(window.settings.case_key, window.causes, names, lambda: window.states)
    records = window.records(place for one in drawn for place in one.places)
    found = {place: reader.read(line) for place, line in records}
    return [_request(one, [found[place] for place in one.places if place in found]) for one in drawn]


class ReadRecord(NamedTuple):
    """What a record holds: its calls, the hashes of its identifiers, and the template of its question."""

    calls: tuple[LoggedCall, ...]
    identifiers: tuple[int, ...]
    template: int


@dataclass(frozen=True, slots=True)
class RecordReader:
    """Records -> their calls as statements see them.

    Parameters
    ----------
    case_key : bytes
        Of the identifiers' hashes.
    causes : mapping of (str, str) to str
        By tool and template, see `Window.causes`.
    names : mapping of str to str
        The tools' names by those that clients log.
    states : callable
        Returns the words of states by their hashes.
    """

    case_key: bytes
    causes: Mapping[tuple[str, str], str]
    names: Mapping[str, str]
    states: Callable[[], Mapping[str, str]] = dict
    _sources: dict[bytes, Mapping[str, tuple[str, ...]]] = field(default_factory=dict)
    _paths: dict[str, str] = field(default_factory=dict)
    _alike: dict[Value, Value] = field(default_factory=dict)

    def read(self, line: RecordLine) -> ReadRecord:
        """What a record holds."""
        case = case_of(line.fields, line.calls, self.case_key)
        identifiers = tuple(int(number, 16) for number in wrap(case, 8))
        calls = (self._call(at, call) for at, call in enumerate(line.calls) if worked(call) is not None)
        return ReadRecord(_in_order(calls), identifiers, question_template(line.fields.question))

    def _call(self, number: int, call: CallFields) -> LoggedCall:
        args = call.args if isinstance(call.args, dict) else {}
        name = self.names.get(call.name, call.name)
        values = {cut_name(key): value for key, value in self._values(call, args) if value.kind != "null"}
        if worked(call):
            return LoggedCall(name, values, number=number)
        error_class, template = failure_of(call, args)
        cause = self.causes.get((call.name, template), template)
        text = "" if call.error is None else str(call.error)[:MAX_ERROR_CHARS]
        return LoggedCall(name, values, error_class, digest64(cause), number=number, error=text)

    def _values(self, call: CallFields, args: Mapping[str, msgspec.Raw]) -> Iterator[tuple[str, Value]]:
        sources = self._read_sources(bytes(call.args_from)) if call.args_from else {}
        saw = self._read_saw(bytes(call.saw)) if call.saw else {}
        for name, raw in args.items():
            value = read_value(b"" + raw)
            if name in sources:
                value = replace(value, sources=sources[name])
                value = self._alike.setdefault(value, value)  # the search compares what is one object once
            yield name, replace(value, saw=saw[name]) if name in saw else value

    def _read_sources(self, raw: bytes) -> Mapping[str, tuple[str, ...]]:
        """The earlier places of each argument's value."""
        if raw not in self._sources:
            self._sources[raw] = {
                name: tuple(map(self._renamed, paths[:_MAX_PATHS]))
                for name, paths in _entries(raw, list[str])
            }
        return self._sources[raw]

    def _read_saw(self, raw: bytes) -> Mapping[str, Mapping[str, str | None]]:
        """The fields of the objects that arguments name, by argument."""
        return {
            argument: {field: self._state(state) for field, state in fields.items()}
            for argument, fields in _entries(raw, dict[str, str | int | float | bool | None])
        }

    def _state(self, value: str | float | bool | None) -> str | None:
        """A state as text; a word that the project does not have stays a hash."""
        if isinstance(value, str):
            return self.states().get(value, value) if value.startswith(HASHED) else value
        return value if value is None else msgspec.json.encode(value).decode()

    def _renamed(self, path: str) -> str:
        """A path such as ``rooms.find.items[].id``, whose tool may contain dots: the longest name counts."""
        if path not in self._paths:
            fitting = (name for name in self.names if f"{path}.".startswith((f"{name}.", f"{name}[")))
            logged = max(fitting, key=len, default="")
            self._paths[path] = f"{self.names[logged]}{path[len(logged) :]}" if logged else path
        return self._paths[path]


def _request(one: Request, records: Sequence[ReadRecord]) -> tuple[LoggedRequest, RequestKeys]:
    alike, (file, offset) = one.group.alike, one.places[0]
    calls, identifiers, template = records[0] if len(records) == 1 else _joined(records)
    lost, sent = one.outcome == RequestOutcome.FAILURE, alike.descriptions or ""
    # calls that were recorded one by one: without a session, nobody knows which others are of the request
    is_apart = (one.session, one.question) == (0, NO_QUESTION) and len(one.places) >= len(calls)
    is_unknown = one.outcome == RequestOutcome.UNKNOWN or alike.omitted > 0 or is_apart
    request = LoggedRequest(
        one.us, file, offset, alike.model, lost, one.question, template, calls, alike.is_undated
    )
    request = replace(request, unknown=is_unknown, sent=sent)
    return request, RequestKeys(one.session, identifiers, template)


def _joined(records: Sequence[ReadRecord]) -> ReadRecord:
    """What a request holds whose calls were recorded one by one; nothing if all of them are gone."""
    calls = _in_order(chain.from_iterable(record.calls for record in records))
    identifiers = sorted({number for record in records for number in record.identifiers})
    return ReadRecord(calls, tuple(identifiers[:MAX_IDENTIFIERS]), records[0].template if records else 0)


def _in_order(calls: Iterable[LoggedCall]) -> tuple[LoggedCall, ...]:
    """The calls of a request, with what each has to do with the others."""
    ordered = list(calls)
    if all(call.ok for call in ordered):
        return tuple(ordered)
    failed, last_ok = set[str](), {call.tool: place for place, call in enumerate(ordered) if call.ok}
    for place, call in enumerate(ordered):
        retry, recovered = call.tool in failed, not call.ok and last_ok.get(call.tool, -1) > place
        if retry or recovered:
            ordered[place] = replace(call, retry=retry, recovered=recovered)
        if not call.ok:
            failed.add(call.tool)
    return tuple(ordered)


def _compared(calls: Iterable[LoggedCall]) -> tuple[Any, ...]:
    return tuple((call.tool, tuple(value.value for value in call.values.values())) for call in calls)


def _entries(raw: bytes, kind: Any) -> Iterator[tuple[str, Any]]:
    """The entries of an object that have a type."""
    for name, value in (decoded(raw, dict[str, msgspec.Raw]) or {}).items():
        entry = decoded(value, kind)
        if entry is not None:
            yield name, entry


def last_third(log: CaseLog) -> int:
    """The first day of the last third of the days with records."""
    days = log.days
    return days[-max(1, len(days) // 3)] if days else 0
