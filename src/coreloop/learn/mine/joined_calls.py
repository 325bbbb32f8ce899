"""Calls of one session that were recorded one by one, as servers of tools see them -> one request.

A server of tools sees no question, so each call is a record. Where sequences, retries and what came before a
call are read, the calls of a session count as one request, as if one record held them. Without sessions,
calls with the same identifiers within minutes are those of one client. The records stay as they are: what
counts records and calls does not ask for this.
"""

from collections.abc import Iterable, Mapping
from itertools import groupby
from operator import itemgetter
from typing import Any, Final

import polars as pl

from coreloop.base.error_classes import bits_of
from coreloop.base.records import digest64, hash_sequence, join_steps
from coreloop.learn.facts import schema
from coreloop.learn.facts.calls import retries
from coreloop.observe.argument_sources import FORGET_S
from coreloop.observe.case_keys import MAX_IDENTIFIERS

MAX_CALLS: Final = 100
"""Of a request that is joined; statements read no more of a request."""
MAX_GAP_US: Final = int(FORGET_S * 1_000_000)
"""Between two calls of a request; servers forget where values came from after this time, too."""
_MAX_GAP_WITHOUT_SESSION_US: Final = 5 * 60 * 1_000_000  # chosen: an agent's next call, not the next client's
_MARKS: Final = bits_of(("violation", "extreme_flags", "override_failed"))
_SAME: Final = ("category", "provider", "model", "tools_version", "descriptions")
"""Differs between two calls: the later one begins a request, so that each request has one description."""
_RUN: Final = ("run", "part")
_JOINED: Final = ("pattern", "sequence", "shape", "decided", "signals", "case")
_MOVED: Final = (*schema.KEY, "call", "retry", "recovered")


def join_sessions(facts: schema.Facts, judged: Iterable[str]) -> schema.Facts:
    """Join the calls that are recorded alone, without a question, and with a session or identifiers.

    They are joined in the order of their time, up to `MAX_CALLS` and with gaps up to `MAX_GAP_US`; at
    midnight UTC a new request begins, so that a day counts alike whichever days are read with it. Calls of
    one session that are in several files are joined; one that is recorded later lengthens its request, which
    has the place of its first. ``judged`` are the ids of requests that stay alone.
    """
    lone = _lone_records(facts, judged)
    calls = lone if lone.is_empty() else _in_runs(_with_calls(lone, facts.calls))
    if calls.is_empty():
        return facts
    again, recovered = retries((*_RUN, "tool"))
    moved = calls.select(
        *schema.KEY,
        **{f"to_{name}": pl.col(name).first().over(_RUN) for name in schema.KEY},
        to_call=pl.col("call").cast(schema.CALLS["call"]),
        to_retry=again,
        to_recovered=recovered,
    ).lazy()
    joined, texts = _named(calls, facts.texts)
    others = facts.requests.join(moved, on=schema.KEY, how="anti", maintain_order="left")
    return schema.Facts(
        pl.concat([others, joined]),
        _moved(facts.calls, moved, schema.CALLS),
        _moved(facts.arguments, moved, schema.ARGUMENTS),
        _moved(facts.saw, moved, schema.SAW),
        pl.concat([facts.texts, texts]).unique(),
    )


def _moved(rows: pl.LazyFrame, moved: pl.LazyFrame, columns: Mapping[str, Any]) -> pl.LazyFrame:
    """Rows with what is moved of them: the columns ``to_…``."""
    joined = rows.join(moved, on=schema.KEY, how="left", maintain_order="left")
    changed = (pl.coalesce(f"to_{name}", name).alias(name) for name in _MOVED if name in columns)
    return joined.with_columns(changed).select(*columns)


def _lone_records(facts: schema.Facts, judged: Iterable[str]) -> pl.DataFrame:
    """The records of which nothing but calls and a session, or identifiers, is known."""
    apart = pl.Series(map(schema.as_int, judged), dtype=schema.REQUESTS["id"]).implode()
    return facts.requests.filter(
        pl.col("question") == schema.NO_QUESTION,
        (pl.col("session") != 0) | pl.col("case").is_not_null(),
        ~pl.col("id").is_in(apart).fill_null(False),
        pl.col("shape") != 0,
        pl.col("chunk_len").is_null() & pl.col("rounds").is_null() & ~pl.col("judged"),
        (pl.col("signals").cast(pl.UInt32) & _MARKS) == 0,
    ).collect()


def _with_calls(records: pl.DataFrame, calls: pl.LazyFrame) -> pl.DataFrame:
    """Those with one call, which is not marked: with its ``tool``, and whether it ``failed`` or is ``ok``."""
    failed = pl.col("error_class") != ""
    rows = calls.join(records.lazy(), on=schema.KEY, how="semi").select(
        *schema.KEY,
        "tool",
        "flagged",
        "overrides",
        n=pl.len().over(schema.KEY),
        failed=failed,
        ok=~failed & pl.col("unknown").is_null(),
    )
    single = rows.filter(pl.col("n") == 1, ~pl.col("flagged"), ~pl.col("overrides")).collect()
    return records.join(single, on=schema.KEY).with_columns(same=pl.struct(_SAME).hash())


def _in_runs(calls: pl.DataFrame) -> pl.DataFrame:
    """Calls that belong together: ``run`` and ``part``, and their place ``call``; without lone ones."""
    time, has_session = pl.col("ts_us"), pl.col("session") != 0
    identifiers = pl.col("case").cast(pl.List(pl.String)).list.join(",").hash()
    max_gap = pl.when(has_session).then(MAX_GAP_US).otherwise(_MAX_GAP_WITHOUT_SESSION_US)
    begins = (
        (pl.col("client") != pl.col("client").shift())
        | (pl.col("same") != pl.col("same").shift())
        | (time.floordiv(schema.DAY_US) != time.shift().floordiv(schema.DAY_US))
        | (time - time.shift() > max_gap)
    )
    number = pl.int_range(pl.len()).over("run")
    # what is asked about for longer than a client works is the same for many: a tenant, a stock
    of_day = (time.max() - time.min()).over("client", time.floordiv(schema.DAY_US))
    return (
        calls.with_columns(client=pl.when(has_session).then("session").otherwise(identifiers))
        .filter(has_session | (of_day <= MAX_GAP_US))
        .sort("client", "ts_us", *schema.KEY)
        .with_columns(run=begins.fill_null(True).cum_sum())
        .with_columns(part=number // MAX_CALLS, call=number % MAX_CALLS)
        .filter(pl.len().over(_RUN) > 1)
    )


def _named(calls: pl.DataFrame, texts: pl.LazyFrame) -> tuple[pl.LazyFrame, pl.LazyFrame]:
    """The requests that are joined, and `TEXTS` of their sequences and shapes."""
    worked = pl.col("sequence") != schema.NO_SEQUENCE
    rows = calls.group_by(_RUN, maintain_order=True).agg(
        pl.exclude(_JOINED).first(),
        pl.col("sequence", "shape").filter(worked),
        pl.col("decided").last(),  # as of a request whose last call failed, or worked
        pl.col("signals").bitwise_or(),
        pl.col("case").explode().drop_nulls().unique().sort().head(MAX_IDENTIFIERS),
    )
    steps = schema.texts_of(texts, "sequence", calls["sequence"])
    shapes = schema.texts_of(texts, "shape", calls["shape"])
    named, hashes = list[tuple[str, int, str]](), list[tuple[int, int, int]]()
    for category, *lists in rows.select("category", "sequence", "shape").iter_rows():
        pairs = zip(*lists, strict=True)
        firsts = [next(same) for _, same in groupby(pairs, key=itemgetter(0))]  # as of one record's calls
        sequence = join_steps(steps[number] for number, _ in firsts)
        shape = f"[{','.join(shapes[number][1:-1] for _, number in firsts)}]"
        numbers = schema.as_int(hash_sequence(sequence)), digest64(shape)
        named += [("sequence", numbers[0], sequence), ("shape", numbers[1], shape)]
        hashes.append((schema.pattern_of(category, numbers[0]), *numbers))
    of_names = schema.frame_of(
        hashes, {name: schema.REQUESTS[name] for name in ("pattern", "sequence", "shape")}
    )
    case = pl.when(pl.col("case").list.len() > 0).then("case")
    joined = rows.with_columns(of_names, case=case).lazy().select(schema.typed(schema.REQUESTS))
    return joined, schema.frame_of(named, schema.TEXTS).lazy()
