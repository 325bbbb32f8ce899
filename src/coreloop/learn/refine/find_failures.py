"""A window's calls and groups -> counterexamples: calls and sequences that fail, how often and how."""

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

import msgspec
import polars as pl

from coreloop.base.error_classes import BITS, CLASSES, LABELS, bits_of, names_of
from coreloop.learn.facts.columns import NO_SEQUENCE
from coreloop.learn.line import statement_key
from coreloop.learn.mine.statistics import success_bound
from coreloop.learn.mine.window import IS_COUNTED, IS_FAILURE, Window, moment
from coreloop.learn.proposals.entry import CAVEATS, Counterexample, Example, Without
from coreloop.learn.proposals.step import Step, target_step

MAX_EXAMPLES: Final = 5
_MIN_TORN_CHARS: Final = 20  # chosen: a shorter start fits several questions
_SHAPE: Final = ("tool", "shape")
_IS_ONLY_CALL: Final = (pl.col("signals").cast(pl.UInt32) & bits_of(LABELS)) == BITS["tool_error"]
_N_FAILED: Final = pl.col("n").filter(pl.col("error_class") != "").sum()
_Places = list[Mapping[str, Any]]


@dataclass(frozen=True, slots=True)
class CounterexampleSearch:
    """Result of `find_counterexamples`.

    Attributes
    ----------
    counterexamples : tuple of Counterexample
        Worst first.
    n_groups : int
        Failing groups that were examined.
    dropped : mapping of str to int
        How many were dropped, by reason.
    """

    counterexamples: tuple[Counterexample, ...]
    n_groups: int
    dropped: Mapping[str, int]


@dataclass(frozen=True, slots=True)
class _Shape:
    selectors: dict[str, str]
    arg_keys: tuple[str, ...]
    text: str = ""


def find_counterexamples(
    window: Window, *, min_failures: int, excluded: Collection[str] = (), known: frozenset[str] = frozenset()
) -> CounterexampleSearch:
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
    CounterexampleSearch
        By the lower bound of the failing share, then by time wasted, then by number of failures. Any share
        qualifies, except for sequences that failed only because of a failed call, which is a counterexample
        of its own: they need more than half.
    """
    groups = [*_failing_calls(window, excluded), *_failing_sequences(window, excluded)]
    frequent = [(group, places) for group, places in groups if group.n_failures >= min_failures]
    new = [(group, places) for group, places in frequent if group.key not in known]
    dropped = {"min_failures": len(groups) - len(frequent), "known": len(frequent) - len(new)}
    ranked = sorted(new, key=lambda pair: _rank(pair[0]))
    questions = window.question_texts(
        (place["file"], place["offset"]) for _, places in ranked for place in places
    )
    examples = tuple(
        replace(group, examples=_examples(places, window, questions)) for group, places in ranked
    )
    return CounterexampleSearch(examples, len(groups), dropped)


def _rank(group: Counterexample) -> tuple[float, float, int, str]:
    return (-group.harm_low, -group.wasted_ms, -group.n_failures, group.key)


def _failing_calls(window: Window, excluded: Collection[str]) -> Iterator[tuple[Counterexample, _Places]]:
    if "tool_error" in excluded:
        return
    failed = window.calls.filter(pl.col("error_class") != "")
    keys = (*_SHAPE, "error_class", "template")
    totals = window.calls.group_by(_SHAPE).agg(n_calls=pl.col("n").sum(), n_failed=_N_FAILED)
    rows = (
        failed.group_by(keys)
        .agg(
            n_failures=pl.col("n").sum(),
            wasted_us=pl.col("wasted_us").sum(),
            first_us=pl.col("first_us").min(),
            last_us=pl.col("last_us").max(),
            places=_earliest("first_us"),
        )
        .join(totals, on=_SHAPE)
        .join(_providers(failed, keys), on=keys)
        .sort("first_us", *keys)
        .collect()
    )
    shapes = _call_shapes(window)
    of_tool = _calls_of_tools(window)
    templates = window.texts_of("template", rows["template"])
    for row in _without_torn_texts(rows.to_dicts(), templates):
        if row["error_class"] not in excluded:
            without = Without(
                of_tool[row["tool"]].n_failures - row["n_failed"],
                of_tool[row["tool"]].n_calls - row["n_calls"],
            )
            group = _call(row, shapes[row["shape"]], templates[row["template"]], without)
            yield group, _sorted(row["places"])


def _without_torn_texts(rows: list[dict[str, Any]], templates: Mapping[int, str]) -> list[dict[str, Any]]:
    """Merge groups whose error text is the beginning of another group's: logs cut long texts anywhere.

    The group with the longer text determines the error class.
    """
    by_shape: dict[tuple[str, int], list[dict[str, Any]]] = {}
    for row in sorted(rows, key=lambda row: -len(templates[row["template"]])):
        same_shape = by_shape.setdefault((row["tool"], row["shape"]), [])
        text = templates[row["template"]]
        longer = next((other for other in same_shape if _begins(templates[other["template"]], text)), None)
        if longer is None:
            same_shape.append(row)
        else:
            longer["n_failures"] += row["n_failures"]
            longer["wasted_us"] += row["wasted_us"]
            longer["providers"] += row["providers"]
            longer["first_us"] = min(longer["first_us"], row["first_us"])
            longer["last_us"] = max(longer["last_us"], row["last_us"])
    return [row for same_shape in by_shape.values() for row in same_shape]


def _begins(text: str, head: str) -> bool:
    return len(head) >= _MIN_TORN_CHARS and text.startswith(head)


def _calls_of_tools(window: Window) -> dict[str, Without]:
    """Failures and calls of each tool."""
    counts = window.calls.group_by("tool").agg(n_failed=_N_FAILED, n=pl.col("n").sum()).collect()
    return {tool: Without(n_failed, n) for tool, n_failed, n in counts.iter_rows()}


def _call_shapes(window: Window) -> dict[int, _Shape]:
    """All shapes of calls to tools with a failed call."""
    failed = window.calls.filter(pl.col("error_class") != "").select("tool").unique()
    shapes = window.calls.join(failed, on="tool", how="semi").select("shape").unique().collect()
    texts = window.texts_of("call", shapes["shape"])
    decode = msgspec.json.Decoder(_Shape).decode
    return {number: replace(decode(text), text=text) for number, text in texts.items()}


def _call(row: Mapping[str, Any], shape: _Shape, template: str, without: Without) -> Counterexample:
    return Counterexample(
        key=statement_key("call", row["tool"], shape.text, row["error_class"], template, CAVEATS),
        kind="call",
        tool=row["tool"],
        selectors=shape.selectors,
        arg_keys=shape.arg_keys,
        labels=("tool_error",),
        error_class=row["error_class"],
        error_template=template,
        n_failures=row["n_failures"],
        n_calls=row["n_calls"],
        n_without=without,
        harm_low=success_bound(row["n_failures"], row["n_calls"]),
        wasted_ms=row["wasted_us"] / 1000,
        first_seen=moment(row["first_us"]),
        last_seen=moment(row["last_us"]),
        providers=_by_provider(row["providers"]),
    )


def _failing_sequences(window: Window, excluded: Collection[str]) -> Iterator[tuple[Counterexample, _Places]]:
    mask = bits_of(excluded)
    counted = window.groups.filter(pl.col("sequence") != NO_SEQUENCE, IS_COUNTED).filter(
        (pl.col("signals").cast(pl.UInt32) & mask) == 0 if mask else pl.lit(True)
    )
    shapes = counted.filter(pl.col("shape") != 0).group_by("pattern", "shape").agg(pl.col("first_us").min())
    first_shape = (
        shapes.sort("first_us", "shape").group_by("pattern", maintain_order=True).agg(pl.col("shape").first())
    )
    failed = counted.filter(IS_FAILURE)
    rows = (
        counted.group_by("pattern", "category", "sequence")
        .agg(
            n_failures=pl.col("n").filter(IS_FAILURE).sum(),
            n_calls=pl.col("n").sum(),
            n_signs=pl.col("n").filter(IS_FAILURE & ~_IS_ONLY_CALL).sum(),
            signals=pl.col("signals").filter(IS_FAILURE).unique(),
            first_us=pl.col("first_us").filter(IS_FAILURE).min(),
            last_us=pl.col("last_us").filter(IS_FAILURE).max(),
        )
        .filter((pl.col("n_signs") > 0) | (2 * pl.col("n_failures") > pl.col("n_calls")))
        .join(first_shape, on="pattern")
        .join(_providers(failed, ("pattern",)), on="pattern")
        .sort("first_us", "pattern")
        .collect()
    )
    places = _failed_requests(window, rows["pattern"])
    steps = window.texts_of("shape", rows["shape"])
    sequences = window.texts_of("sequence", rows["sequence"])
    for row in rows.iter_rows(named=True):
        group = _sequence(row, steps[row["shape"]], sequences[row["sequence"]])
        yield group, places.get(row["pattern"], [])


def _failed_requests(window: Window, patterns: pl.Series) -> dict[int, _Places]:
    """Places of the earliest failed requests of some patterns."""
    of_patterns = pl.col("pattern").is_in(patterns.implode())
    place = ("ts_us", "file", "offset")
    failed = window.keep(
        lambda rows: rows.filter(IS_FAILURE, of_patterns).select("pattern", *place),
        lambda rows: rows.sort(place).group_by("pattern", maintain_order=True).head(MAX_EXAMPLES),
    )
    return dict(failed.group_by("pattern", maintain_order=True).agg(places=pl.struct(place)).iter_rows())


def _earliest(time: str) -> pl.Expr:
    """The earliest places of a group; sorting all places would keep them in memory."""
    place = (time, "file", "offset")
    return pl.struct(place).bottom_k_by(place, k=MAX_EXAMPLES)


def _sorted(places: _Places) -> _Places:
    return sorted(places, key=lambda place: tuple(place.values()))


def _providers(rows: pl.LazyFrame, keys: Sequence[str]) -> pl.LazyFrame:
    """Failures by provider, for each group."""
    counts = rows.group_by(*keys, "provider").agg(pl.col("n").sum())
    return counts.group_by(keys).agg(providers=pl.struct("provider", "n"))


def _sequence(row: Mapping[str, Any], shape: str, sequence: str) -> Counterexample:
    steps = msgspec.json.decode(shape, type=tuple[Step, ...])
    target = target_step(steps)
    bits = 0
    for signals in row["signals"]:
        bits |= signals
    classes = names_of(bits, among=CLASSES)
    return Counterexample(
        key=statement_key("sequence", row["category"], sequence, CAVEATS),
        kind="sequence",
        tool=target.name,
        selectors=target.selectors,
        arg_keys=target.arg_keys,
        steps=steps,
        cat_hash=row["category"],
        labels=names_of(bits, among=LABELS),
        error_class=classes[0] if len(classes) == 1 else None,
        error_template=None,
        n_failures=row["n_failures"],
        n_calls=row["n_calls"],
        n_without=Without(0, 0),
        harm_low=success_bound(row["n_failures"], row["n_calls"]),
        wasted_ms=0.0,
        first_seen=moment(row["first_us"]),
        last_seen=moment(row["last_us"]),
        providers=_by_provider(row["providers"]),
    )


def _by_provider(counts: Iterable[Mapping[str, Any]]) -> dict[str, int]:
    """Failures by provider, most frequent first; records without a provider are left out."""
    total: Counter[str] = Counter()
    for row in counts:
        total[row["provider"]] += row["n"]
    return {name: n for name, n in sorted(total.items(), key=lambda item: (-item[1], item[0])) if name}


def _examples(
    places: _Places, window: Window, questions: Mapping[tuple[int, int], str]
) -> tuple[Example, ...]:
    """The examples at some places; without a question if the line no longer exists."""
    return tuple(
        Example(
            window.paths[place["file"]].name,
            place["offset"],
            questions.get((place["file"], place["offset"]), ""),
        )
        for place in places
    )
