"""The requests of a window call by call: a sample of them, in the order of time, and its last days apart."""

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

MOST_REQUESTS: Final = 10_000
"""Of a window: enough to see a difference of a few points, and searched in a second."""
HELD_SHARE: Final = 0.3
"""Of the days with records, the last ones: a search does not see them, what it finds must hold there."""
_decode_calls = msgspec.json.Decoder(tuple[SampledCall, ...]).decode


@dataclass(frozen=True, slots=True)
class SampledRequest:
    """A request, call by call.

    Attributes
    ----------
    question : int
        Hash of what was asked; 64 bits.
    keywords : frozenset of str
        Of coreloop.yaml's, those that the question holds.
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
        """Whether it is a success or a failure, and not neither."""
        return self.outcome != RequestOutcome.NEUTRAL


@dataclass(frozen=True)
class Sample:
    """The sampled requests of a window.

    Attributes
    ----------
    requests : tuple of SampledRequest
        By time.
    n_requests : int
        Of the window, the sampled ones among them.
    """

    requests: tuple[SampledRequest, ...]
    n_requests: int

    @cached_property
    def held_from_us(self) -> int | None:
        """When the last 30 % of the days begin; None where there are records of less than two days."""
        days = sorted({request.ts_us // DAY_US for request in self.requests})
        n_held = max(1, round(HELD_SHARE * len(days)))
        return days[-n_held] * DAY_US if len(days) > 1 else None

    def is_held(self, request: SampledRequest) -> bool:
        """Whether a request is of the last 30 % of the days."""
        return self.held_from_us is not None and request.ts_us >= self.held_from_us

    def calls(self) -> Iterator[tuple[SampledRequest, int, SampledCall]]:
        """Every call with its request and its place in it."""
        for request in self.requests:
            for place, call in enumerate(request.calls):
                yield request, place, call

    def places(self, tool: str, *, most: int) -> list[tuple[int, int]]:
        """File and offset of the earliest requests that called a tool with success, one a question."""
        asked: dict[int, tuple[int, int]] = {}
        for request, _, call in self.calls():
            if call.tool == tool and call.ok and request.succeeded and len(asked) < most:
                asked.setdefault(request.question, (request.file, request.offset))
        return list(asked.values())

    @cached_property
    def tools(self) -> frozenset[str]:
        """Names of all tools that were called."""
        return frozenset(call.tool for _, _, call in self.calls())


def read_sample(window: Window) -> Sample:
    """The sampled requests of a window, at most `MOST_REQUESTS`, those with the smallest numbers."""
    drawn = window.sample.select("number", "file", "offset").collect().sort("number", "file", "offset")
    kept = drawn.head(MOST_REQUESTS)
    rows = window.sample.join(kept.lazy(), on=("number", "file", "offset"), how="semi")
    ordered = rows.sort("ts_us", "file", "offset").drop("number").collect()
    return Sample(tuple(_request(row) for row in ordered.iter_rows(named=True)), window.n_records())


def _request(row: dict[str, Any]) -> SampledRequest:
    calls, keywords = _decode_calls(row.pop("calls")), row.pop("keywords")
    return SampledRequest(**row, keywords=frozenset(keywords.split("\n")) - {""}, calls=calls)


def count_providers(requests: Iterable[SampledRequest]) -> dict[str, int]:
    """Requests by provider, most first; one without a provider counts for none."""
    counts = Counter(request.provider for request in requests if request.provider)
    return dict(sorted(counts.items(), key=lambda item: (-item[1], item[0])))
