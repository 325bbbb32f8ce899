"""A sample of a window's requests, call by call in the order of time, with the last days held out."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Final

import msgspec
from msgspec import structs

from coreloop.learn.mine.rows import DAY_US
from coreloop.learn.mine.sampling import SampledCall
from coreloop.learn.mine.window import Window
from coreloop.observe.reading.outcome import RequestOutcome

MAX_REQUESTS: Final = 10_000
"""Size of a window's sample: enough for a difference of a few points, and searched in a second."""
HELD_SHARE: Final = 0.3
"""Share of the days with records, the last ones, that are held out of a search to confirm its findings."""
MIN_DAYS: Final = 2
"""Days with records that a statement needs: one to search, and one to confirm."""
_decode_calls = msgspec.json.Decoder(tuple[SampledCall, ...]).decode


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
    """Read the sampled requests of a window: the `MAX_REQUESTS` with the smallest numbers."""
    numbers = window.sample.select("number", "file", "offset").collect().sort("number", "file", "offset")
    smallest = numbers.head(MAX_REQUESTS)
    rows = window.sample.join(smallest.lazy(), on=("number", "file", "offset"), how="semi")
    ordered = rows.sort("ts_us", "file", "offset").drop("number").collect()
    return Sample(tuple(_request(row) for row in ordered.iter_rows(named=True)), window.n_records())


def _request(row: dict[str, Any]) -> SampledRequest:
    return SampledRequest(**{**row, "calls": _decode_calls(row["calls"])})


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
