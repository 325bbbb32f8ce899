"""Calls of one session that were recorded one by one, as servers of tools see them -> one request.

A server of tools sees no question, so each call is a record. Where sequences, retries and what came before a
call are read, the calls of a session count as one request, as if one record held them. The records stay as
they are: what counts records and calls does not ask for this.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from operator import itemgetter
from typing import Final

import polars as pl
import polars.selectors as cs

from coreloop.base.error_classes import bits_of
from coreloop.base.records import digest64, hash_question, hash_sequence, join_steps
from coreloop.learn.facts.columns import NO_SEQUENCE, as_int, id_hash, pattern_of, retries
from coreloop.learn.facts.counting import DAY_US, MineSettings
from coreloop.learn.facts.schema import CALLS, REQUESTS, TEXTS, Facts, frame_of
from coreloop.observe.argument_sources import FORGET_S
from coreloop.observe.case_keys import MAX_IDENTIFIERS

KEY: Final = ("file", "offset")
"""Names a request of a window."""
NO_QUESTION: Final = as_int(hash_question(""))
MAX_CALLS: Final = 100
"""Of a request that is joined; statements read no more of a request."""
MAX_GAP_US: Final = int(FORGET_S * 1_000_000)
"""Between two calls of a request; servers forget where values came from after this time, too."""
_MARKS: Final = bits_of(("violation", "extreme_flags", "override_failed"))
_SAME: Final = ("category", "provider", "model", "tools_version", "descriptions")
"""Differs between two calls: the later one begins a request, so that each request has one description."""
_READ: Final = (
    *KEY,
    *("ts_us", "session", "category", "sequence", "shape", "decided", "signals", "case", "duration_us"),
)
_JOINED: Final = ("pattern", "sequence", "shape", "decided", "signals", "case", "duration_us")
_RUN: Final = ("run", "part")
_TextsOf = Callable[[str, Iterable[int]], Mapping[int, str]]


@dataclass(frozen=True, slots=True)
class Sessions:
    """The calls of a window that are read as parts of a request.

    Attributes
    ----------
    places : polars.LazyFrame
        A row per call, by its record's file and offset: ``to_file``, ``to_offset`` (of the first of the
        request), ``to_call`` (its place from 0), retry and recovered, as if one record held all.
    requests : polars.LazyFrame
        A row per request, by file and offset of its first record: ``to_`` and each column that is another.
    texts : polars.LazyFrame
        `TEXTS` of their sequences and shapes.
    """

    places: pl.LazyFrame
    requests: pl.LazyFrame
    texts: pl.LazyFrame

    def join(self, facts: Facts) -> Facts:
        """Facts of some of the window's files, with the calls in their requests."""
        later = self.places.filter(pl.col("to_call") > 0).select(KEY)
        first = facts.requests.join(later, on=KEY, how="anti", maintain_order="left")
        place = (*KEY, "call")
        return replace(
            facts,
            requests=_replaced(first, self.requests, _JOINED),
            calls=_replaced(facts.calls, self.places, (*place, "retry", "recovered")),
            arguments=_replaced(facts.arguments, self.places, place),
            saw=_replaced(facts.saw, self.places, place),
        )


def _replaced(rows: pl.LazyFrame, found: pl.LazyFrame, columns: Sequence[str]) -> pl.LazyFrame:
    """Rows with the columns ``to_…`` of those that were found."""
    joined = rows.join(found.with_columns(to=True), on=KEY, how="left", maintain_order="left")
    changed = (pl.when("to").then(f"to_{name}").otherwise(name).alias(name) for name in columns)
    return joined.with_columns(changed).drop("to", cs.starts_with("to_"))


def find_sessions(batches: Iterable[tuple[Facts, MineSettings]], texts_of: _TextsOf) -> Sessions | None:
    """Find the calls that are recorded alone, without a question and with a session.

    They are joined in the order of their time, up to `MAX_CALLS` and with gaps up to `MAX_GAP_US`; at
    midnight UTC a new request begins, so that a day counts alike whichever days are read with it. Calls of
    one session that are in several files are joined; one that is recorded later lengthens its request.

    Parameters
    ----------
    batches : iterable of (Facts, MineSettings)
        Of the window's files, with ``file``.
    texts_of : callable
        `coreloop.learn.mine.window.Window.texts_of`.

    Returns
    -------
    Sessions or None
        None if no two calls belong together, as in the logs of most agents.
    """
    found = [calls for facts, settings in batches if not (calls := _lone_calls(facts, settings)).is_empty()]
    if not found:
        return None
    calls = _in_runs(pl.concat(found))
    if calls.is_empty():
        return None
    first = {f"to_{name}": pl.col(name).first().over(_RUN) for name in KEY}
    again, recovered = retries((*_RUN, "tool"))
    places = calls.select(
        *KEY, **first, to_call=pl.col("call").cast(CALLS["call"]), to_retry=again, to_recovered=recovered
    )
    requests, texts = _named(calls, texts_of)
    return Sessions(places.lazy(), requests.lazy(), texts.lazy())


def _lone_calls(facts: Facts, settings: MineSettings) -> pl.DataFrame:
    """The only calls of records of which nothing but a session is known."""
    nameless = facts.requests.filter(pl.col("question") == NO_QUESTION, pl.col("session") != 0)
    if nameless.select("offset").head(1).collect().is_empty():  # a fifth of the time of what follows
        return pl.DataFrame()
    ids = [id_hash(request) for request in {*settings.replayed, *settings.verdicts}]
    apart = pl.Series(ids, dtype=REQUESTS["id"]).implode()
    lone = nameless.filter(
        ~pl.col("id").is_in(apart).fill_null(False),
        pl.col("shape") != 0,
        pl.col("chunk_len").is_null() & pl.col("rounds").is_null() & ~pl.col("judged"),
        (pl.col("signals").cast(pl.UInt32) & _MARKS) == 0,
    )
    rows = lone.select(*_READ, same=pl.struct(_SAME).hash()).collect()
    if rows.is_empty():
        return rows
    of_rows = facts.calls.join(rows.lazy().select(KEY), on=KEY, how="semi")
    calls = of_rows.group_by(KEY).agg(
        pl.len(),
        pl.col("tool").first(),
        failed=(pl.col("error_class") != "").any(),
        is_marked=(pl.col("flagged") | pl.col("overrides")).any(),
    )
    single = calls.filter(pl.col("len") == 1, ~pl.col("is_marked")).drop("len", "is_marked").collect()
    return rows.join(single, on=KEY)


def _in_runs(calls: pl.DataFrame) -> pl.DataFrame:
    """Calls that belong together: ``run`` and ``part``, and their place ``call``; without lone ones."""
    time = pl.col("ts_us")
    begins = (
        (pl.col("session") != pl.col("session").shift())
        | (pl.col("same") != pl.col("same").shift())
        | (time.floordiv(DAY_US) != time.shift().floordiv(DAY_US))
        | (time - time.shift() > MAX_GAP_US)
    )
    number = pl.int_range(pl.len()).over("run")
    return (
        calls.sort("session", "ts_us", *KEY)
        .with_columns(run=begins.fill_null(True).cum_sum())
        .with_columns(part=number // MAX_CALLS, call=number % MAX_CALLS)
        .filter(pl.len().over(_RUN) > 1)
    )


def _named(calls: pl.DataFrame, texts_of: _TextsOf) -> tuple[pl.DataFrame, pl.DataFrame]:
    """A row per request, as `Sessions.requests`, and its texts."""
    worked = pl.col("sequence") != NO_SEQUENCE
    rows = (
        calls.lazy()
        .group_by(_RUN, maintain_order=True)
        .agg(
            pl.col(*KEY, "category").first(),
            pl.col("sequence", "shape").filter(worked),
            to_decided=pl.col("decided").last(),  # as of a request whose last call failed, or worked
            to_signals=pl.col("signals").bitwise_or(),
            to_case=pl.col("case").explode().drop_nulls().unique().sort().head(MAX_IDENTIFIERS),
            to_duration_us=pl.col("duration_us").sum(),
        )
        .with_columns(to_case=pl.when(pl.col("to_case").list.len() > 0).then("to_case"))
        .collect()
    )
    steps = texts_of("sequence", calls["sequence"].unique())
    shapes = texts_of("shape", calls["shape"].unique())
    texts: dict[tuple[str, int], str] = {}
    columns: list[tuple[int, int, int]] = []
    for category, *lists in rows.select("category", "sequence", "shape").iter_rows():
        pairs = zip(*lists, strict=True)
        firsts = [next(same) for _, same in groupby(pairs, key=itemgetter(0))]  # as of one record's calls
        sequence = join_steps(steps[number] for number, _ in firsts)
        shape = f"[{','.join(shapes[number][1:-1] for _, number in firsts)}]"
        hashes = as_int(hash_sequence(sequence)), digest64(shape)
        texts |= {("sequence", hashes[0]): sequence, ("shape", hashes[1]): shape}
        columns.append((pattern_of(category, hashes[0]), *hashes))
    to = frame_of(columns, {f"to_{name}": REQUESTS[name] for name in ("pattern", "sequence", "shape")})
    kept = rows.select(*KEY, "to_decided", "to_signals", "to_case", "to_duration_us")
    listed = [(*key, text) for key, text in texts.items()]
    return pl.concat([kept, to], how="horizontal"), frame_of(listed, TEXTS)
