"""A sample of a window's requests, call by call in the order of time, with the last days held out."""

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final

import msgspec

from coreloop.mine.outcome import RequestOutcome
from coreloop.mine.rows import DAY_US
from coreloop.mine.sampling import SampledCall
from coreloop.mine.window import Window

MAX_REQUESTS: Final = 10_000
"""Size of a window's sample: enough for a difference of a few points, and searched in a second."""
HELD_SHARE: Final = 0.3
"""Share of the days with records, the last ones, that are held out of a search to confirm its findings."""
_decode_calls = msgspec.json.Decoder(tuple[SampledCall, ...]).decode


@dataclass(frozen=True, slots=True)
class SampledRequest:
    """A request, call by call.

    Attributes
    ----------
    question : int
        64-bit hash of the question.
    keywords : frozenset of str
        Keywords of coreloop.yaml that occur in the question.
    """

    ts_us: int
    file: int
    offset: int
    category: str
    model: str
    provider: str
    outcome: int
    question: int
    keywords: frozenset[str]
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
        return days[-n_held] * DAY_US if len(days) > 1 else None

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
    calls, keywords = _decode_calls(row.pop("calls")), row.pop("keywords")
    return SampledRequest(**row, keywords=frozenset(keywords.split("\n")) - {""}, calls=calls)


def count_providers(requests: Iterable[SampledRequest]) -> dict[str, int]:
    """Requests by provider, most frequent first; requests without a provider are left out."""
    counts = Counter(request.provider for request in requests if request.provider)
    return dict(sorted(counts.items(), key=lambda item: (-item[1], item[0])))
