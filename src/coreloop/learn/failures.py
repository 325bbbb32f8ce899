"""A window's calls and groups -> counterexamples: calls and sequences that fail, how often and how."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

import msgspec
import polars as pl

from coreloop.base.error_classes import BITS, CLASSES, LABELS, bits_of, names_of
from coreloop.learn.facts.schema import NO_SEQUENCE
from coreloop.learn.line import Step, statement_key, target_step
from coreloop.learn.mine.statistics import success_bound
from coreloop.learn.mine.window import IS_COUNTED, IS_FAILED, IS_FAILURE, Window, moment
from coreloop.learn.proposals.entry import CAVEATS, Counterexample, Example, Search, Without

MAX_EXAMPLES: Final = 5
_SHAPE: Final = ("tool", "shape")
_IS_ONLY_CALL: Final = (pl.col("signals").cast(pl.UInt32) & bits_of(LABELS)) == BITS["tool_error"]
_COUNTS: Final = {"n_failed": IS_FAILED.sum(), "n_calls": pl.len()}
_PLACE: Final = ("ts_us", "file", "offset")
_Places = Sequence[Mapping[str, Any]]


def find_counterexamples(
    window: Window, *, min_failures: int, excluded: Collection[str] = (), known: frozenset[str] = frozenset()
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
    known : frozenset of str
        Keys that are not proposed again.

    Returns
    -------
    Search
        By the lower bound of the failing share, then by time wasted, then by number of failures. Any share
        qualifies, except for sequences that failed only because of a failed call, which is a counterexample
        of its own: they need more than half.
    """
    groups = [*_failing_calls(window, excluded), *_failing_sequences(window, excluded)]
    frequent = [(group, places) for group, places in groups if group.n_failures >= min_failures]
    new = [(group, places) for group, places in frequent if group.key not in known]
    dropped = {"min_failures": len(groups) - len(frequent), "known": len(frequent) - len(new)}
    new.sort(key=lambda pair: (-pair[0].harm_low, -pair[0].wasted_ms, -pair[0].n_failures, pair[0].key))
    questions = window.question_texts(
        (place["file"], place["offset"]) for _, places in new for place in places
    )

    def example(place: Mapping[str, Any]) -> Example:
        """Without a question if the line no longer exists."""
        file, offset = place["file"], place["offset"]
        return Example(window.paths[file].name, offset, questions.get((file, offset), ""))

    found = tuple(replace(group, examples=tuple(map(example, places))) for group, places in new)
    return Search(found, len(groups), dropped)


def _failing_calls(window: Window, excluded: Collection[str]) -> Iterator[tuple[Counterexample, _Places]]:
    if "tool_error" in excluded:
        return
    calls = window.all_calls()
    failed = window.with_causes(calls.filter(IS_FAILED))
    keys = (*_SHAPE, "template")
    totals = calls.group_by(_SHAPE).agg(**_COUNTS)
    rows = (
        failed.group_by(keys)
        .agg(
            n_failures=pl.len(),
            wasted_us=pl.col("duration_us").sum(),
            first_us=pl.col("ts_us").min(),
            last_us=pl.col("ts_us").max(),
            error_class=pl.col("error_class").mode().max(),  # logs cut some texts
            places=pl.struct(_PLACE).unique().sort().head(MAX_EXAMPLES),
        )
        .filter(~pl.col("error_class").is_in(list(excluded)))
        .join(totals, on=_SHAPE)
        .sort("first_us", *keys)
        .collect()
    )
    shapes = window.texts_of("call", rows["shape"])
    of_tools = calls.group_by("tool").agg(**_COUNTS).collect().rows_by_key("tool", unique=True)
    templates = window.texts_of("template", rows["template"])
    for row in rows.iter_rows(named=True):
        tool, text, template = row["tool"], shapes[row["shape"]], templates[row["template"]]
        shape = msgspec.json.decode(text)
        n_failed, n_calls = of_tools[tool]
        group = Counterexample(
            key=statement_key("call", tool, text, row["error_class"], template, CAVEATS),
            kind="call",
            tool=tool,
            selectors=shape["selectors"],
            arg_keys=tuple(shape["arg_keys"]),
            labels=("tool_error",),
            error_class=row["error_class"],
            error_template=template,
            n_without=Without(n_failed - row["n_failed"], n_calls - row["n_calls"]),
            wasted_ms=row["wasted_us"] / 1000,
            **_counts(row),
        )
        yield group, row["places"]


def _failing_sequences(window: Window, excluded: Collection[str]) -> Iterator[tuple[Counterexample, _Places]]:
    is_left_out = (pl.col("signals").cast(pl.UInt32) & bits_of(excluded)) != 0
    counted = window.all_requests().filter(pl.col("sequence") != NO_SEQUENCE, IS_COUNTED, ~is_left_out)
    is_known = pl.col("shape") != 0
    rows = (
        counted.group_by("pattern", "category", "sequence")
        .agg(
            n_failures=IS_FAILURE.sum(),
            n_calls=pl.len(),
            n_signs=(IS_FAILURE & ~_IS_ONLY_CALL).sum(),
            shape=pl.col("shape").filter(is_known).sort_by(pl.col("ts_us").filter(is_known)).first(),
            signals=pl.col("signals").filter(IS_FAILURE).bitwise_or(),
            first_us=pl.col("ts_us").filter(IS_FAILURE).min(),
            last_us=pl.col("ts_us").filter(IS_FAILURE).max(),
            places=pl.struct(_PLACE).filter(IS_FAILURE).sort().head(MAX_EXAMPLES),
        )
        .filter((pl.col("n_signs") > 0) | (2 * pl.col("n_failures") > pl.col("n_calls")))
        .drop_nulls("shape")
        .sort("first_us", "pattern")
        .collect()
    )
    texts = window.texts_of("shape", rows["shape"])
    sequences = window.texts_of("sequence", rows["sequence"])
    for row in rows.iter_rows(named=True):
        steps = msgspec.json.decode(texts[row["shape"]], type=tuple[Step, ...])
        target = target_step(steps)
        classes = names_of(row["signals"], among=CLASSES)
        group = Counterexample(
            key=statement_key("sequence", row["category"], sequences[row["sequence"]], CAVEATS),
            kind="sequence",
            tool=target.name,
            selectors=target.selectors,
            arg_keys=target.arg_keys,
            steps=steps,
            cat_hash=row["category"],
            labels=names_of(row["signals"], among=LABELS),
            error_class=classes[0] if len(classes) == 1 else None,
            n_without=Without(0, 0),
            wasted_ms=0.0,
            **_counts(row),
        )
        yield group, row["places"]


def _counts(row: Mapping[str, Any]) -> dict[str, Any]:
    """The fields that both kinds count alike."""
    return {
        "n_failures": row["n_failures"],
        "n_calls": row["n_calls"],
        "harm_low": success_bound(row["n_failures"], row["n_calls"]),
        "first_seen": moment(row["first_us"]),
        "last_seen": moment(row["last_us"]),
    }
