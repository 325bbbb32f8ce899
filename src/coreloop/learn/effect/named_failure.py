"""The failure that a line of a description names: the calls that are against it."""

from collections.abc import Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import Final

import polars as pl

from coreloop.learn.facts.read_lines import FileFacts
from coreloop.learn.line import Advice, parse_advice
from coreloop.learn.mine.window import EVERY_DAY, Window, merge
from coreloop.learn.statements.kinds import is_against, kind_of
from coreloop.learn.statements.logged_calls import read_places

CALL: Final = ("file", "offset", "call")
"""What identifies a call; ``call`` is its place in the request."""
_MAX_REQUESTS: Final = 10_000
"""Read at a time."""
NamedFailure = tuple[Advice, ...]
"""The clauses against one of which a call is counted, failed or not; without any, all failures are."""


def named_failure(lines: Iterable[str]) -> NamedFailure:
    """The failure that lines name together; all failures if one of them names none that a call shows."""
    advice = [parse_advice(line) for line in lines]
    clauses = tuple(clause for line in advice if line is not None for clause in line.clauses())
    is_complete = None not in advice and all(map(kind_of, clauses))
    return clauses if is_complete else ()


def calls_against(
    failures: Sequence[NamedFailure],
    calls: pl.DataFrame,
    window: Window,
    names: Mapping[str, str] = MappingProxyType({}),
) -> list[pl.DataFrame]:
    """By failure, the calls that are against it; ``names`` are the project's of logged tools."""
    found: list[list[tuple[int, ...]]] = [[] for _ in failures]
    for asked in calls.select(CALL[:2]).unique(maintain_order=True).iter_slices(_MAX_REQUESTS):
        places = read_places(window, asked.lazy(), names)
        own = calls.join(asked, on=CALL[:2], how="semi").select(CALL).rows()
        for rows, failure in zip(found, failures, strict=True):
            rows += [at for at in own if not failure or any(is_against(line, places[at]) for line in failure)]
    schema = {name: calls.schema[name] for name in CALL}
    return [calls.join(pl.DataFrame(rows, schema, orient="row"), on=CALL, how="semi") for rows in found]


def places_against(
    failure: NamedFailure, tool: str, files: Sequence[FileFacts]
) -> frozenset[tuple[int, int]]:
    """Where calls of a tool are against the lines: the offset of the request, and the call's place in it."""
    window = merge(files, EVERY_DAY)
    calls = window.all_calls().filter(pl.col("tool") == tool).select(CALL).collect()
    (against,) = calls_against([failure], calls, window)
    return frozenset(against.select(CALL[1:]).iter_rows())
