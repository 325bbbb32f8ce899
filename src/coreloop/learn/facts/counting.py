"""How requests count: outcomes and groups of a file's facts, as queries (``LazyFrame -> LazyFrame``)."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

import polars as pl

from coreloop.base.categories import Categories
from coreloop.base.error_classes import BITS
from coreloop.base.project.settings import Settings
from coreloop.learn.facts.columns import id_hash
from coreloop.learn.facts.read_lines import Reading
from coreloop.learn.facts.schema import Facts
from coreloop.observe.reading.outcome import BY_VERDICT, LOW_CHUNK_LEN, RequestOutcome

DAY_US: Final = 86_400_000_000
_MAX_CHARS: Final = 1 << 31
GROUP_KEYS: Final = ("day", "pattern", "category", "sequence", "shape", "provider", "outcome", "signals")
_OF_PATTERN: Final = ("category", "sequence")  # the pattern is their hash, so it is enough to group by
GROUPS: Final[Mapping[str, Any]] = {
    "day": pl.Int32,  # days since 1970, UTC
    "pattern": pl.UInt64,
    "category": pl.String,
    "sequence": pl.UInt64,
    "shape": pl.UInt64,
    "provider": pl.String,
    "outcome": pl.Int8,
    "signals": pl.UInt16,  # of failures; else 0
    "n": pl.UInt32,
    "omitted": pl.UInt64,  # calls that did not fit on the lines, sum
    "chunk_len": pl.Int64,  # characters, sum of those that are known
    "n_chunk_len": pl.UInt32,  # how many are known
    "first_us": pl.Int64,
    "last_us": pl.Int64,
}
"""Counts of requests by their common properties: a few hundred rows a day for any number of requests."""
CALL_KEYS: Final = ("day", "provider", "tool", "shape", "error_class", "template")
CALL_GROUPS: Final[Mapping[str, Any]] = {
    "day": pl.Int32,
    "provider": pl.String,
    "tool": pl.String,
    "shape": pl.UInt64,
    "error_class": pl.String,
    "template": pl.UInt64,
    "n": pl.UInt32,
    "wasted_us": pl.Int64,  # of failed calls, sum
    "first_us": pl.Int64,  # this and the next two: of failed calls, else null
    "last_us": pl.Int64,
    "offset": pl.UInt64,  # line of the earliest failed call
}
"""Counts of calls by tool, arguments and error."""


@dataclass(frozen=True, slots=True)
class MineSettings(Reading):
    """Settings that change how a request counts; facts depend on those of `Reading` alone."""

    min_chunk_len: int | None = None
    replayed: frozenset[str] = frozenset()
    """Ids of requests that coreloop made itself, for servers that do not record their origin."""
    handoff: frozenset[str] = frozenset()
    """Tools that hand a request over to a human, which makes it neutral."""
    verdicts: Mapping[str, str] = field(default_factory=dict)
    """Request id -> a human's newest verdict, which overrides the record."""


def mine_settings(
    settings: Settings,
    min_chunk_len: int | None,
    *,
    replayed: frozenset[str] = frozenset(),
    verdicts: Mapping[str, str] | None = None,
    case_key: bytes = b"",
) -> MineSettings:
    """Collect the settings of coreloop.yaml and the workspace that change how a request counts."""
    rules = Categories((rule.label, rule.any) for rule in settings.categories)
    handoff = frozenset(settings.handoff)
    selectors = settings.selectors()
    return MineSettings(rules, selectors, min_chunk_len, replayed, handoff, verdicts or {}, case_key=case_key)


def replays(requests: pl.LazyFrame, settings: MineSettings) -> pl.LazyFrame:
    """The requests that coreloop made itself."""
    return requests.filter(_is_replay(settings))


_OFFSET: Final = ("offset",)


def count_requests(facts: Facts, settings: MineSettings, *, key: Sequence[str] = _OFFSET) -> pl.LazyFrame:
    """The requests that count, each with its ``outcome``; ``signals`` only of failures.

    See `coreloop.observe.reading.outcome` for what decides; a request that was handed over to a human is
    neutral, unless there is a verdict. ``key`` are the columns that name a request: of several files, with
    ``file``.
    """
    requests = facts.requests
    if settings.replayed:
        requests = requests.filter(~_is_replay(settings))
    outcome = pl.coalesce("decided", _by_length(settings.min_chunk_len))
    if settings.handoff:
        handed = facts.calls.filter(pl.col("tool").is_in(sorted(settings.handoff))).select(key).unique()
        requests = requests.join(handed.with_columns(handed=True), on=key, how="left", maintain_order="left")
        is_handed = pl.col("handed").fill_null(False) & ~pl.col("judged")
        outcome = pl.when(is_handed).then(pl.lit(int(RequestOutcome.NEUTRAL), pl.Int8)).otherwise(outcome)
    if settings.verdicts:
        outcome = pl.coalesce(_by_verdict(settings.verdicts), outcome)
    failed = pl.col("outcome") == int(RequestOutcome.FAILURE)
    signals = pl.col("signals") | _short_signal(settings.min_chunk_len)
    return requests.with_columns(outcome=outcome).with_columns(
        signals=pl.when(failed).then(signals).otherwise(0).cast(pl.UInt16)
    )


def group_requests(facts: Facts, settings: MineSettings, *, key: Sequence[str] = _OFFSET) -> pl.LazyFrame:
    """`GROUPS` of the requests that count; ``key`` as in `count_requests`."""
    chunk_len = pl.col("chunk_len").clip(-_MAX_CHARS, _MAX_CHARS).cast(pl.Int64)
    by = [name for name in GROUP_KEYS if name not in _OF_PATTERN]
    grouped = count_requests(facts, settings, key=key).with_columns(day=_day()).group_by(by)
    counts = grouped.agg(
        pl.col(_OF_PATTERN).first(),
        n=pl.len(),
        omitted=pl.col("omitted").cast(pl.UInt64).sum(),
        chunk_len=chunk_len.sum(),
        n_chunk_len=chunk_len.count(),
        first_us=pl.col("ts_us").min(),
        last_us=pl.col("ts_us").max(),
    )
    return counts.select(pl.col(name).cast(kind) for name, kind in GROUPS.items()).sort(by)


def group_calls(facts: Facts, settings: MineSettings, *, key: Sequence[str] = _OFFSET) -> pl.LazyFrame:
    """`CALL_GROUPS` of the `known_calls`, of several files by ``file``; ``key`` as in `count_requests`."""
    calls = known_calls(_agents_calls(facts, settings, key))
    by = [*key[:-1], *CALL_KEYS]
    # The calls of a group all failed or all succeeded, since the error is one of its keys: a filter within
    # each group would take as long as everything else.
    earliest = pl.col("offset").sort_by("ts_us", "offset").first()
    failed = pl.col("error_class") != ""
    counts = (
        calls.with_columns(day=_day())
        .group_by(by)
        .agg(
            n=pl.len(),
            wasted_us=pl.col("duration_us").sum(),
            first_us=pl.col("ts_us").min(),
            last_us=pl.col("ts_us").max(),
            offset=earliest,
        )
        .with_columns(
            pl.when(failed).then(pl.col("first_us", "last_us", "offset")),
            wasted_us=pl.when(failed).then("wasted_us").otherwise(0),
        )
    )
    typed = (pl.col(name).cast(kind) for name, kind in CALL_GROUPS.items())
    return counts.select(*typed, *key[:-1]).sort(by)


def known_calls(calls: pl.LazyFrame) -> pl.LazyFrame:
    """The calls that worked or failed: only they count in rates."""
    return calls.filter(pl.col("unknown").is_null())


def count_unknown(
    facts: Facts, settings: MineSettings, rows: pl.Expr, *, key: Sequence[str] = _OFFSET
) -> pl.LazyFrame:
    """Some calls of which it is unknown whether they worked: tool, unknown (why) and n."""
    calls = _agents_calls(facts, settings, key).filter(pl.col("unknown").is_not_null(), rows)
    return calls.group_by("tool", "unknown").agg(n=pl.len())


def _agents_calls(facts: Facts, settings: MineSettings, key: Sequence[str]) -> pl.LazyFrame:
    """The calls of requests that coreloop did not make itself."""
    if not settings.replayed:
        return facts.calls
    return facts.calls.join(replays(facts.requests, settings), on=key, how="anti")


def _day() -> pl.Expr:
    return pl.col("ts_us").floordiv(DAY_US).cast(pl.Int32)


def _is_replay(settings: MineSettings) -> pl.Expr:
    ids = [id_hash(request_id) for request_id in settings.replayed]
    return pl.col("id").is_in(ids).fill_null(False)


def _by_verdict(verdicts: Mapping[str, str]) -> pl.Expr:
    by_id = {
        id_hash(request): int(BY_VERDICT[mark]) for request, mark in verdicts.items() if mark in BY_VERDICT
    }
    if not by_id:
        return pl.lit(None, pl.Int8)
    ids = pl.Series(list(by_id), dtype=pl.UInt64)
    outcomes = pl.Series(list(by_id.values()), dtype=pl.Int8)
    return pl.col("id").replace_strict(ids, outcomes, default=None, return_dtype=pl.Int8)


def _by_length(min_chunk_len: int | None) -> pl.Expr:
    """The outcome of an answer by its length.

    One of at least ``min_chunk_len`` characters is complete, one below ``min(LOW_CHUNK_LEN, min_chunk_len)``
    fails, and one in between is neutral. Without the setting, an empty answer fails and any other is
    complete. An answer of unknown length is complete.
    """
    length = pl.col("chunk_len")
    enough = length > 0 if min_chunk_len is None else length >= min_chunk_len
    return (
        pl.when(length.is_null() | enough)
        .then(pl.lit(int(RequestOutcome.SUCCESS), pl.Int8))
        .when(_is_short(min_chunk_len))
        .then(pl.lit(int(RequestOutcome.FAILURE), pl.Int8))
        .otherwise(pl.lit(int(RequestOutcome.NEUTRAL), pl.Int8))
    )


def _is_short(min_chunk_len: int | None) -> pl.Expr:
    length = pl.col("chunk_len")
    return length <= 0 if min_chunk_len is None else length < min(LOW_CHUNK_LEN, min_chunk_len)


def _short_signal(min_chunk_len: int | None) -> pl.Expr:
    bit = pl.lit(BITS["chunk_len_low"], pl.UInt16)
    return pl.when(_is_short(min_chunk_len).fill_null(False)).then(bit).otherwise(pl.lit(0, pl.UInt16))


def count_days(requests: pl.LazyFrame) -> dict[int, int]:
    """Requests by day (days since 1970), in order."""
    counts = requests.group_by(day=_day()).len().sort("day").collect()
    return dict(counts.iter_rows())
