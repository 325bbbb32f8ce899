"""The requests of a window call by call in the order of time, with the last days held out; at most 10,000."""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Final

import msgspec
import polars as pl
from msgspec import structs

from coreloop.learn.facts.counting import DAY_US
from coreloop.learn.facts.values import bucket_of
from coreloop.learn.mine.window import Window, draw_number
from coreloop.observe.reading.outcome import RequestOutcome

MAX_REQUESTS: Final = 10_000
"""Enough for a difference of a few points, and searched in a second."""
HELD_SHARE: Final = 0.3
"""Share of the days with records, the last ones, that are held out of a search to confirm its findings."""
MIN_DAYS: Final = 2
"""Days with records that a statement needs: one to search, and one to confirm."""
_MAX_CALLS: Final = 100
_MAX_ARGUMENTS: Final = 100
_MAX_NAME_CHARS: Final = 64
"""Longest argument name that can be written in a docstring."""
_Place = tuple[int, int]


class SampledArgument(msgspec.Struct, array_like=True, gc=False, frozen=True):
    """An argument of a call.

    Attributes
    ----------
    value : int
        Hash to compare by; 0 if the value was too long to be recorded.
    bucket : int or None
        Bucket of a number, see `coreloop.learn.facts.values.EDGES`.
    sources : tuple of str or None
        Earlier places of the same value, up to four; None if not recorded.
    """

    value: int
    bucket: int | None = None
    sources: tuple[str, ...] | None = None


class SampledCall(msgspec.Struct, array_like=True, gc=False, frozen=True):
    """A call; ``error_class`` is empty if it succeeded.

    ``empty`` names arguments that are an empty text, list or object; null counts as absent.
    """

    tool: str
    error_class: str
    arguments: dict[str, SampledArgument]
    empty: tuple[str, ...] = ()

    @property
    def ok(self) -> bool:
        """Whether it succeeded."""
        return not self.error_class


@dataclass(frozen=True, slots=True)
class SampledRequest:
    """A request, call by call.

    Attributes
    ----------
    question : int
        64-bit hash of the question.
    """

    ts_us: int
    file: int
    offset: int
    category: str
    model: str
    provider: str
    outcome: int
    question: int
    calls: tuple[SampledCall, ...]

    @property
    def succeeded(self) -> bool:
        """Whether it succeeded."""
        return self.outcome == RequestOutcome.SUCCESS

    @property
    def counts(self) -> bool:
        """Whether it is a success or a failure, not neutral."""
        return self.outcome != RequestOutcome.NEUTRAL


@dataclass(frozen=True)
class Sample:
    """The sampled requests of a window.

    Attributes
    ----------
    requests : tuple of SampledRequest
        By time.
    n_requests : int
        Requests of the window, sampled or not.
    """

    requests: tuple[SampledRequest, ...]
    n_requests: int

    @cached_property
    def held_from_us(self) -> int | None:
        """When the last 30 % of the days begin, or None with records of fewer than two days."""
        days = sorted({request.ts_us // DAY_US for request in self.requests})
        n_held = max(1, round(HELD_SHARE * len(days)))
        return days[-n_held] * DAY_US if len(days) >= MIN_DAYS else None

    @property
    def n_days(self) -> int:
        """Days with records; statements need `MIN_DAYS`."""
        return len({request.ts_us // DAY_US for request in self.requests})

    def is_held(self, request: SampledRequest) -> bool:
        """Whether a request is from the last 30 % of the days."""
        return self.held_from_us is not None and request.ts_us >= self.held_from_us

    def calls(self) -> Iterator[tuple[SampledRequest, int, SampledCall]]:
        """Every call with its request and its index in the request."""
        for request in self.requests:
            for index, call in enumerate(request.calls):
                yield request, index, call

    def places(self, tool: str, *, limit: int) -> list[tuple[int, int]]:
        """File and offset of the earliest request for each question that used a tool successfully."""
        by_question: dict[int, tuple[int, int]] = {}
        for request, _, call in self.calls():
            if call.tool == tool and call.ok and request.succeeded and len(by_question) < limit:
                by_question.setdefault(request.question, (request.file, request.offset))
        return list(by_question.values())

    @cached_property
    def tools(self) -> frozenset[str]:
        """Names of all called tools."""
        return frozenset(call.tool for _, _, call in self.calls())


def read_sample(window: Window) -> Sample:
    """Read the requests of a window; of more than `MAX_REQUESTS`, those with the smallest numbers."""
    requests = window.all_requests()
    chosen = requests.select("file", "offset", number=draw_number()).sort("number", "file", "offset")
    places = chosen.head(MAX_REQUESTS).select("file", "offset").collect().lazy()
    calls = _calls(window, places)
    columns = ("ts_us", "file", "offset", "category", "model", "provider", "outcome", "question")
    rows = requests.join(places, on=("file", "offset"), how="semi").select(columns)
    ordered = rows.sort("ts_us", "file", "offset").collect()
    found = (
        SampledRequest(**row, calls=tuple(calls.get((row["file"], row["offset"]), ())[:_MAX_CALLS]))
        for row in ordered.iter_rows(named=True)
    )
    return Sample(tuple(found), window.n_records())


def _calls(window: Window, places: pl.LazyFrame) -> dict[_Place, list[SampledCall]]:
    """The calls of some requests, by place."""
    key = ("file", "offset", "call")

    def chosen(rows: pl.LazyFrame) -> pl.LazyFrame:
        return rows.join(places, on=("file", "offset"), how="semi", maintain_order="left")

    calls = chosen(window.all_calls()).select(*key, "tool", "error_class")
    is_usable = (pl.col("kind") != "null") & (pl.col("name").str.len_chars() <= _MAX_NAME_CHARS)
    arguments = chosen(window.all_arguments().filter(is_usable))
    columns = ("name", "kind", "value", "number", "sources")
    grouped = (
        arguments.select(*key, argument=pl.struct(columns)).group_by(key, maintain_order=True).agg("argument")
    )
    frame = calls.join(grouped, on=key, how="left", maintain_order="left").collect()
    sources = _sources(window, frame)
    by_place: defaultdict[_Place, list[SampledCall]] = defaultdict(list)
    for file, offset, _, tool, error_class, found in frame.iter_rows():
        by_place[file, offset].append(_call(tool, error_class, (found or [])[:_MAX_ARGUMENTS], sources))
    return by_place


def _sources(window: Window, calls: pl.DataFrame) -> dict[int | None, tuple[str, ...]]:
    hashes = calls["argument"].explode().struct.field("sources").drop_nulls().unique()
    decode: Callable[[str], tuple[str, ...]] = msgspec.json.Decoder(tuple[str, ...]).decode
    return {number: decode(text) for number, text in window.texts_of("sources", hashes).items()}


def _call(
    tool: str,
    error_class: str,
    arguments: Sequence[Mapping[str, Any]],
    sources: Mapping[int | None, tuple[str, ...]],
) -> SampledCall:
    filled = (row for row in arguments if row["kind"] != "empty")
    return SampledCall(
        tool,
        error_class,
        {
            row["name"]: SampledArgument(
                row["value"] or 0,
                None if row["number"] is None or row["kind"] != "number" else bucket_of(row["number"]),
                sources.get(row["sources"]),
            )
            for row in filled
        },
        tuple(row["name"] for row in arguments if row["kind"] == "empty"),
    )


def rename_tools(sample: Sample, names: Mapping[str, str]) -> Sample:
    """Return the sample with other names of tools, also where an argument came from."""
    if not names:
        return sample
    requests = (
        replace(request, calls=tuple(_renamed(call, names) for call in request.calls))
        for request in sample.requests
    )
    return Sample(tuple(requests), sample.n_requests)


def _renamed(call: SampledCall, names: Mapping[str, str]) -> SampledCall:
    arguments = {
        name: structs.replace(argument, sources=_renamed_paths(argument.sources, names))
        for name, argument in call.arguments.items()
    }
    return structs.replace(call, tool=names.get(call.tool, call.tool), arguments=arguments)


def _renamed_paths(paths: tuple[str, ...] | None, names: Mapping[str, str]) -> tuple[str, ...] | None:
    return None if paths is None else tuple(_renamed_path(path, names) for path in paths)


def _renamed_path(path: str, names: Mapping[str, str]) -> str:
    """A path such as ``rooms.find.items[].id``, whose tool may contain dots: the longest name counts."""
    fitting = (name for name in names if f"{path}.".startswith((f"{name}.", f"{name}[")))
    logged = max(fitting, key=len, default="")
    return f"{names[logged]}{path[len(logged) :]}" if logged else path


def count_providers(requests: Iterable[SampledRequest]) -> dict[str, int]:
    """Requests by provider, most frequent first; requests without a provider are left out."""
    counts = Counter(request.provider for request in requests if request.provider)
    return dict(sorted(counts.items(), key=lambda item: (-item[1], item[0])))
