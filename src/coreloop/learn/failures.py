"""A window's calls and groups -> counterexamples: calls and sequences that fail, how often and how."""

from collections import Counter, defaultdict
from collections.abc import Collection, Iterator, Mapping
from typing import Any, Final

import msgspec
import polars as pl

from coreloop.base.error_classes import BITS, CLASSES, LABELS, bits_of, names_of
from coreloop.learn.line import Step, statement_key, target_step
from coreloop.learn.mine.frames import IS_COUNTED, IS_FAILURE
from coreloop.learn.mine.window import NO_SEQUENCE, Window, moment
from coreloop.learn.proposals.entry import CAVEATS, MAX_EXAMPLES, Counterexample, Search, with_questions
from coreloop.learn.statistics import wilson_interval

_IS_ONLY_CALL: Final = (pl.col("signals").cast(pl.UInt32) & bits_of(LABELS)) == BITS["tool_error"]
_PLACE: Final = ("us", "file", "at")
_Found = tuple[Counterexample, list[tuple[int, int]]]
"""With the places of some of its failures."""


def find_counterexamples(
    window: Window, *, min_failures: int = 2, excluded: Collection[str] = (), known: Collection[str] = ()
) -> Search[Counterexample]:
    """Find the calls and sequences that keep failing.

    Parameters
    ----------
    window : Window
        Facts of some days.
    min_failures : int
        Failures that a group needs.
    excluded : collection of str
        Failure labels and error classes to leave out.
    known : collection of str
        Keys that are not proposed again.

    Returns
    -------
    Search
        By the lower bound of the failing share, then by time wasted, then by number of failures. A request
        that failed only because of a failed call counts with that call, not with its sequence.
    """
    calls, sequences = _failing_calls(window, excluded), _failing_sequences(window, excluded)
    n_groups, is_frequent = calls.height + sequences.height, pl.col("n_failures") >= min_failures
    frequent = [
        *_of_calls(window, calls.filter(is_frequent)),
        *_of_sequences(window, sequences.filter(is_frequent)),
    ]
    new = [(group, places) for group, places in frequent if group.key not in known]
    dropped = {"min_failures": n_groups - len(frequent), "known": len(frequent) - len(new)}
    new.sort(key=lambda pair: (-pair[0].harm_low, -pair[0].wasted_ms, -pair[0].n_failures, pair[0].key))
    return Search(with_questions(new, window), n_groups, dropped)


def _failing_calls(window: Window, excluded: Collection[str]) -> pl.DataFrame:
    keys = ("tool", "shape", "template")
    return (
        window.frames.failed_calls.group_by(keys)
        .agg(
            n_failures=pl.len(),
            wasted_us=pl.col("duration_us").sum(),
            first_us=pl.col("us").min(),
            last_us=pl.col("us").max(),
            error_class=pl.col("error_class").mode().max(),  # logs cut some texts
            places=pl.struct(_PLACE).unique().sort().head(MAX_EXAMPLES),
        )
        .filter(~pl.col("error_class").is_in(list(excluded)), pl.lit("tool_error" not in excluded))
        .sort("first_us", *keys)
    )


def _of_calls(window: Window, rows: pl.DataFrame) -> Iterator[_Found]:
    of_tools, of_shapes = (defaultdict[tuple[str, ...], Counter[bool]](Counter) for _ in range(2))
    for call, n in window.calls.items():
        if call.is_known:
            of_tools[call.tool,][bool(call.error_class)] += n
            of_shapes[call.tool, call.shape][bool(call.error_class)] += n
    for row in rows.iter_rows(named=True):
        tool, text, template = row["tool"], row["shape"], row["template"]
        shape, of_tool, of_shape = msgspec.json.decode(text), of_tools[tool,], of_shapes[tool, text]
        n_calls = of_shape.total()
        group = Counterexample(
            key=statement_key("call", tool, text, row["error_class"], template, CAVEATS),
            kind="call",
            tool=tool,
            selectors=shape["selectors"],
            arg_keys=tuple(shape["arg_keys"]),
            labels=("tool_error",),
            error_class=row["error_class"],
            error_template=template,
            n_other_failures=of_tool[True] - of_shape[True],
            n_other_calls=of_tool.total() - n_calls,
            wasted_ms=row["wasted_us"] / 1000,
            **_counts(row, n_calls),
        )
        yield group, [(place["file"], place["at"]) for place in row["places"]]


def _failing_sequences(window: Window, excluded: Collection[str]) -> pl.DataFrame:
    frames = window.frames
    is_left_out = (pl.col("signals").cast(pl.UInt32) & bits_of(excluded)) != 0
    counted = frames.requests.lazy().filter(IS_COUNTED, ~is_left_out)
    totals = counted.group_by("pattern").agg(n_calls=pl.len())
    return (
        counted.filter(IS_FAILURE, ~_IS_ONLY_CALL)
        .group_by("pattern")
        .agg(
            n_failures=pl.len(),
            signals=pl.col("signals").bitwise_or(),
            first_us=pl.col("us").min(),
            last_us=pl.col("us").max(),
            places=pl.struct(_PLACE).sort().head(MAX_EXAMPLES),
        )
        .join(totals, on="pattern")
        .join(frames.patterns, on="pattern")
        .filter(pl.col("sequence") != NO_SEQUENCE, pl.col("shape").is_not_null())
        .sort("first_us", "category", "sequence")
        .collect()
    )


def _of_sequences(window: Window, rows: pl.DataFrame) -> Iterator[_Found]:
    for row in rows.iter_rows(named=True):
        steps = msgspec.json.decode(row["shape"], type=tuple[Step, ...])
        target = target_step(steps)
        classes = names_of(row["signals"], among=CLASSES)
        group = Counterexample(
            key=statement_key("sequence", row["category"], window.texts[row["sequence"]], CAVEATS),
            kind="sequence",
            tool=target.name,
            selectors=target.selectors,
            arg_keys=target.arg_keys,
            steps=steps,
            cat_hash=row["category"],
            labels=names_of(row["signals"], among=LABELS),
            error_class=classes[0] if len(classes) == 1 else None,
            wasted_ms=0.0,
            **_counts(row, row["n_calls"]),
        )
        yield group, [(place["file"], place["at"]) for place in row["places"]]


def _counts(row: Mapping[str, Any], n_calls: int) -> dict[str, Any]:
    """The fields that both kinds count alike."""
    return {
        "n_failures": row["n_failures"],
        "n_calls": n_calls,
        "harm_low": wilson_interval(row["n_failures"], n_calls)[0],
        "first_seen": moment(row["first_us"]),
        "last_seen": moment(row["last_us"]),
    }
