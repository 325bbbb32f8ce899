"""The calls of a window as statements see them: no value, only what facts hold of it."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Any, Final

import msgspec
import polars as pl

from coreloop.learn.facts.schema import DAY_US, KEY
from coreloop.learn.mine.window import Window, draw_number
from coreloop.learn.statements.cases import CaseKind, RequestKeys, case_numbers, owners
from coreloop.observe.reading.outcome import RequestOutcome

MAX_REQUESTS: Final = 10_000
"""Enough for evidence from hundreds of cases, and searched in seconds; of more, a fixed draw is read."""
_MAX_CALLS: Final = 100


@dataclass(frozen=True, slots=True)
class Value:
    """What facts hold of an argument's value, see `coreloop.learn.facts.schema.ARGUMENTS`.

    Attributes
    ----------
    sources : tuple of str or None
        Earlier places of the same value; None if not recorded.
    saw : mapping of str to (str or None)
        Fields of the object that an earlier result last showed for the value; None for another literal.
    """

    kind: str
    value: int | None = None
    number: float | None = None
    shape: str | None = None
    letters: str | None = None
    length: int | None = None
    prefix: int | None = None
    sources: tuple[str, ...] | None = None
    saw: Mapping[str, str | None] = field(default_factory=dict, hash=False)


@dataclass(frozen=True, slots=True)
class LoggedCall:
    """A call; ``error_class`` is empty if it succeeded, ``template`` is the hash of its error's text.

    A ``retry`` comes after a failed call of the same tool in its request: it is no evidence. A failed call is
    ``recovered`` if a later one worked.
    """

    tool: str
    values: Mapping[str, Value]
    error_class: str = ""
    template: int = 0
    retry: bool = False
    recovered: bool = False

    @property
    def ok(self) -> bool:
        """Whether it succeeded."""
        return not self.error_class


@dataclass(frozen=True, slots=True)
class LoggedRequest:
    """A request with its calls in order; ``template``, ``owner``: 0 without a question or identifiers."""

    ts_us: int
    file: int
    offset: int
    model: str
    outcome: int
    question: int
    template: int
    calls: tuple[LoggedCall, ...]
    case: int = 0
    owner: int = 0
    undated: bool | None = None

    @property
    def day(self) -> int:
        """Days since 1970, UTC."""
        return self.ts_us // DAY_US

    @property
    def lost(self) -> bool:
        """Whether it failed."""
        return self.outcome == RequestOutcome.FAILURE


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
    def tools(self) -> frozenset[str]:
        """Names of all called tools."""
        return frozenset(call.tool for request in self.requests for call in request.calls)

    def places(self, tool: str) -> Iterator[CallPlace]:
        """The calls of a tool that are evidence: all but retries."""
        for request in self.requests:
            for index, call in enumerate(request.calls):
                if call.tool == tool and not call.retry:
                    yield CallPlace(request, index)


def called_tools(window: Window) -> frozenset[str]:
    """Names of all called tools, as logged."""
    return frozenset(window.all_calls().select(pl.col("tool").unique()).collect()["tool"])


def read_log(window: Window, names: Mapping[str, str]) -> CaseLog:
    """Read the requests of a window; ``names`` are the tools' names by those that clients log."""
    requests = window.all_requests()
    drawn = requests.select(*KEY, number=draw_number()).sort("number", *KEY).head(MAX_REQUESTS)
    places = drawn.select(KEY).collect().lazy()
    columns = (*KEY, "ts_us", "model", "outcome", "question", "template", "session", "case", "undated")
    rows = requests.join(places, on=KEY, how="semi").select(columns).sort("ts_us", *KEY).collect()
    calls = _calls(window, places, names)
    read = [
        (row, tuple(calls.get((row["file"], row["offset"]), ())[:_MAX_CALLS]))
        for row in rows.iter_rows(named=True)
    ]
    keys = [
        RequestKeys(row.pop("session"), tuple(row.pop("case") or ()), row["template"], _compared(of_row))
        for row, of_row in read
    ]
    numbers, kind = case_numbers(keys)
    templates = {call.template for _, of_row in read for call in of_row if call.template}
    return CaseLog(
        tuple(
            LoggedRequest(**row, calls=of_row, case=number, owner=owner)
            for (row, of_row), number, owner in zip(read, numbers, owners(keys), strict=True)
        ),
        kind,
        window.texts_of("template", templates),
    )


def read_places(
    window: Window, places: pl.LazyFrame, names: Mapping[str, str] = MappingProxyType({})
) -> dict[tuple[int, int, int], CallPlace]:
    """The calls of some requests by file, offset and number, each in its request."""
    found: dict[tuple[int, int, int], CallPlace] = {}
    for (file, offset), calls in _calls(window, places, names).items():
        request = LoggedRequest(0, file, offset, "", 0, 0, 0, tuple(calls))
        found |= {(file, offset, number): CallPlace(request, number) for number in range(len(calls))}
    return found


def _compared(calls: Iterable[LoggedCall]) -> tuple[Any, ...]:
    return tuple((call.tool, tuple(value.value for value in call.values.values())) for call in calls)


def _calls(
    window: Window, places: pl.LazyFrame, names: Mapping[str, str]
) -> dict[tuple[int, int], list[LoggedCall]]:
    """The calls of some requests, by place; those of one request may be in several files."""
    rows = window.with_causes(window.all_calls().join(places, on=KEY, how="semi"))
    columns = (*KEY, "call", "tool", "error_class", "template", "retry", "recovered")
    values = _values(window, places, names)
    calls: defaultdict[tuple[int, int], list[LoggedCall]] = defaultdict(list)
    for file, offset, number, tool, error_class, template, retry, recovered in (
        rows.select(columns).sort(columns[:3]).collect().iter_rows()
    ):
        of_call = values.get((file, offset, number), {})
        name = names.get(tool, tool)
        calls[file, offset].append(
            LoggedCall(name, of_call, error_class, template, bool(retry), bool(recovered))
        )
    return calls


def _values(
    window: Window, places: pl.LazyFrame, names: Mapping[str, str]
) -> dict[tuple[int, int, int], dict[str, Value]]:
    """The values of arguments by file, offset and number of the call; null counts as absent."""
    key = (*KEY, "call", "name")
    shown = window.facts.saw.join(places, on=KEY, how="semi").group_by(*KEY, "call", name="argument")
    saw = shown.agg(saw=pl.struct("field", "literal"))
    arguments = window.facts.arguments.join(places, on=KEY, how="semi", maintain_order="left")
    present = arguments.filter(pl.col("kind") != "null")
    rows = present.join(saw, on=key, how="left", maintain_order="left").collect()
    paths = {
        number: tuple(_renamed(path, names) for path in msgspec.json.decode(text, type=tuple[str, ...]))
        for number, text in window.texts_of("sources", rows["sources"].drop_nulls().unique()).items()
    }
    values: defaultdict[tuple[int, int, int], dict[str, Value]] = defaultdict(dict)
    alike: dict[tuple[Any, ...], Value] = {}  # most values of a log are like others, and each takes 200 bytes
    columns = ("kind", "value", "number", "shape", "letters", "length", "prefix", "sources", "saw")
    for file, offset, call, name, *rest, sources, fields in rows.select(*key, *columns).iter_rows():
        facts = (*rest, paths.get(sources))
        value = alike.get(facts) or alike.setdefault(facts, Value(*facts))
        seen = {one["field"]: one["literal"] for one in fields or ()}
        values[file, offset, call][name] = replace(value, saw=seen) if seen else value
    return values


def _renamed(path: str, names: Mapping[str, str]) -> str:
    """A path such as ``rooms.find.items[].id``, whose tool may contain dots: the longest name counts."""
    fitting = (name for name in names if f"{path}.".startswith((f"{name}.", f"{name}[")))
    logged = max(fitting, key=len, default="")
    return f"{names[logged]}{path[len(logged) :]}" if logged else path


def last_third(log: CaseLog) -> int:
    """The first day of the last third of the days with records."""
    days = log.days
    return days[-max(1, len(days) // 3)] if days else 0
