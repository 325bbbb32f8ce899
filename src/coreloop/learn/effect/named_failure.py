"""The failure that a line of a description names: which calls are against it, as queries over facts."""

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import date
from functools import reduce
from operator import and_, or_
from typing import Final

import msgspec
import polars as pl

from coreloop.base.date_range import Days
from coreloop.base.records import digest64
from coreloop.learn.facts.file import EPOCH_DAY, FileFacts
from coreloop.learn.facts.values import texts_by_hash
from coreloop.learn.mine.window import Window
from coreloop.learn.proposals.statement_lines import Advice, Condition, parse_advice, written_path
from coreloop.learn.statements.logged_calls import read_values_of
from coreloop.learn.statements.search import deviates, kind_of

CALL: Final = ("file", "offset", "call")
"""What identifies a call; ``call`` is its place in the request."""
_REQUEST: Final = ("file", "offset")
_QUESTION: Final = "question"
EVERY_DAY: Final = Days(date.min, date.max)
_NOWHERE: Final = digest64("[]")
_VALUES: Final = ("kind", "value", "number", "sources")


@dataclass(frozen=True, slots=True)
class WindowCalls:
    """The calls of a window.

    Attributes
    ----------
    window : Window
        Has their arguments.
    rows : polars.DataFrame
        `CALL`, ``tool`` as the project names it, ``error_class``.
    tools : frozenset of str
        All recorded names, to read recorded places.
    """

    window: Window
    rows: pl.DataFrame
    tools: frozenset[str]

    def by_tool(self, names: Collection[str]) -> "Iterator[tuple[str, ToolCalls]]":
        """The calls of some tools, each with the other calls of their requests."""
        if not names:
            return
        asked = self.rows.filter(pl.col("tool").is_in(list(names))).select(_REQUEST).unique()
        others = self.rows.join(asked, on=_REQUEST, how="semi")
        arguments = self.window.all_arguments().select(*CALL, "name", *_VALUES)
        arguments = arguments.filter(pl.col("kind") != "null").join(asked.lazy(), on=_REQUEST, how="semi")
        read = arguments.collect()
        for name in names:
            rows = others.filter(pl.col("tool") == name)
            same = rows.select(_REQUEST).unique()
            yield (
                name,
                ToolCalls(
                    rows,
                    others.join(same, on=_REQUEST, how="semi"),
                    read.join(same, on=_REQUEST, how="semi"),
                    self.window,
                    self.tools,
                ),
            )


@dataclass(frozen=True, slots=True)
class ToolCalls:
    """The calls of a tool, and what lines may ask of them: a value for each of ``rows``, in order."""

    rows: pl.DataFrame
    others: pl.DataFrame
    arguments: pl.DataFrame
    window: Window
    tools: frozenset[str]

    @property
    def failed(self) -> pl.Series:
        """Whether a call failed."""
        return self.rows["error_class"] != ""

    def argument(self, name: str) -> pl.DataFrame:
        """An argument of each call: kind, value, number, sources; nulls where it is absent."""
        values = self.arguments.filter(pl.col("name") == name)
        return self.rows.select(CALL).join(values, on=CALL, how="left", maintain_order="left")

    def has(self, name: str) -> pl.Series:
        """Whether an argument is given and not empty."""
        kinds = self.argument(name)["kind"]
        return kinds.is_not_null() & (kinds != "empty").fill_null(False)

    def is_empty(self, name: str) -> pl.Series:
        """Whether an argument is an empty text, list or object."""
        return (self.argument(name)["kind"] == "empty").fill_null(False)

    def compares(self, name: str, *, above: float | None = None, up_to: float | None = None) -> pl.Series:
        """Whether an argument is a number in a range."""
        rows = self.argument(name)
        number = rows["number"]
        fits = number > above if above is not None else number <= up_to
        return (fits & (rows["kind"] == "number")).fill_null(False)

    def is_one_of(self, name: str, values: Iterable[str]) -> pl.Series:
        """Whether an argument has one of some values."""
        return self.argument(name)["value"].is_in(list(texts_by_hash(values))).fill_null(False)

    def has_value(self, name: str) -> pl.Series:
        """Whether an argument has a value that was recorded."""
        return self.argument(name)["value"].is_not_null()

    def is_from_nowhere(self, name: str) -> pl.Series:
        """Whether an argument's value was in no earlier result."""
        return (self.argument(name)["sources"] == _NOWHERE).fill_null(False)

    def is_not_from(self, name: str, paths: Collection[str]) -> pl.Series:
        """Whether an argument's value came from elsewhere than some fields; the question is not elsewhere."""
        sources = self.argument(name)["sources"]
        other = [
            number
            for number, text in self.window.texts_of("sources", sources.drop_nulls().unique()).items()
            if _is_elsewhere(msgspec.json.decode(text, type=tuple[str, ...]), paths, self.tools)
        ]
        return sources.is_in(pl.Series(other, dtype=pl.UInt64).implode()).fill_null(False)

    def is_after(self, tool: str, name: str | None = None) -> pl.Series:
        """Whether a successful call of a tool came before, with the same value of an argument if named."""
        earlier = self.others.filter(pl.col("tool") == tool, pl.col("error_class") == "")
        own, keys = self.rows.select(CALL), [*_REQUEST]
        if name is not None:
            same = self.arguments.filter(pl.col("name") == name).select(*CALL, "value").drop_nulls("value")
            earlier = earlier.join(same, on=CALL)
            own = own.join(same, on=CALL, how="left", maintain_order="left")
            keys.append("value")
        first = earlier.group_by(keys).agg(first=pl.col("call").min())
        rows = own.join(first, on=keys, how="left", maintain_order="left")
        return (rows["first"] < rows["call"]).fill_null(False)

    def is_right_after(self, tool: str) -> pl.Series:
        """Whether the call before was one of a tool."""
        before = self.others.select(*_REQUEST, call=pl.col("call") + 1, before="tool")
        rows = self.rows.select(CALL).join(before, on=CALL, how="left", maintain_order="left")
        return (rows["before"] == tool).fill_null(False)

    def deviates(self, line: Advice) -> pl.Series:
        """Whether a call deviates from a line about its arguments, as a search for lines tests it."""
        values = read_values_of(self.window, self.rows.select(_REQUEST).unique().lazy())
        answers = (deviates(line, values.get(call, {})) for call in self.rows.select(CALL).iter_rows())
        return pl.Series([answer is True for answer in answers], dtype=pl.Boolean)

    def is_again(self) -> pl.Series:
        """Whether the tool was called before in the request."""
        return self.rows["call"] > self.rows.select(pl.col("call").min().over(_REQUEST))["call"]


Test = Callable[[ToolCalls], pl.Series]


@dataclass(frozen=True, slots=True)
class NamedFailure:
    """What is counted for a change.

    Attributes
    ----------
    lines : tuple of str
        The lines that name it; empty if all failures of the tool are counted.
    """

    lines: tuple[str, ...] = ()
    _tests: tuple[Test, ...] = ()

    def against(self, calls: ToolCalls) -> pl.Series:
        """Whether a call, failed or not, is one that a line says to fail."""
        return reduce(or_, [test(calls) for test in self._tests])


ALL_FAILURES: Final = NamedFailure()


def places_against(
    failure: NamedFailure, tool: str, files: Sequence[FileFacts]
) -> frozenset[tuple[int, int]]:
    """Where calls of a tool are against the lines: the offset of the request, and the call's place in it."""
    window = whole_window(files)
    rows = window.all_calls().select(*CALL, "tool", "error_class").collect()
    against = [
        own.rows.filter(failure.against(own))
        for _, own in WindowCalls(window, rows, frozenset(rows["tool"].unique())).by_tool([tool])
    ]
    return frozenset(
        (offset, call) for found in against for offset, call in found.select(CALL[1:]).iter_rows()
    )


def whole_window(files: Sequence[FileFacts], days: Days = EVERY_DAY) -> Window:
    """The facts of the records of some days; without groups of requests, which nothing here asks for.

    Nor are calls of a session joined: see `Window.with_sessions`.
    """
    first, last = (days.since - EPOCH_DAY).days, (days.until - EPOCH_DAY).days
    numbered = [(at, file) for at, file in enumerate(files) if any(first <= day <= last for day in file.days)]
    return Window(
        groups=pl.LazyFrame(),
        files=[file for _, file in numbered],
        numbers=[at for at, _ in numbered],
        days=days,
        paths=tuple(file.path for file in files),
        skipped={},
    )


def named_failure(lines: Iterable[str]) -> NamedFailure:
    """The failure that lines name together; all failures if one of them names none that a call shows."""
    lines = tuple(lines)
    advice = [parse_advice(line) for line in lines]
    clauses = [clause for line in advice if line is not None for clause in line.clauses()]
    known = tuple(test for test in map(_test, clauses) if test is not None)
    is_complete = known and None not in advice and len(known) == len(clauses)
    return NamedFailure(lines, known) if is_complete else ALL_FAILURES


def _test(advice: Advice) -> Test | None:
    """Whether a call deviates from a line; None where calls do not show it."""
    slots = dict(advice.slots)
    if advice.form == "fails":
        return _all_of([_condition(part) for part in advice.conditions], slots.get("class", ("",))[0])
    names, tool = slots.get("arguments", ()), slots.get("tool", ("",))[0]
    name = slots.get("argument", ("",))[0]
    tests: dict[str, Test] = {
        "always_pass": lambda calls: ~_all(map(calls.has, names)),
        "leave_out": lambda calls: _any(map(calls.has, names)),
        "never_empty": lambda calls: _any(map(calls.is_empty, names)),
        "one_of": lambda calls: calls.has_value(name) & ~calls.is_one_of(name, slots["values"]),
        "from_result": lambda calls: calls.is_from_nowhere(name),
        "source": lambda calls: calls.is_not_from(name, slots["paths"]),
        "call_first": lambda calls: ~calls.is_after(tool, name),
        "call_after_same": lambda calls: calls.has_value(name) & ~calls.is_after(tool, name),
        "call_before_same": lambda calls: calls.is_after(tool, name),
        "not_right_after": lambda calls: calls.is_right_after(tool),
        "first": lambda calls: ~calls.is_after(tool),
        "once": lambda calls: calls.is_again(),
    }
    if advice.form in tests:
        return tests[advice.form]
    return (lambda calls: calls.deviates(advice)) if kind_of(advice) is not None else None


def _condition(condition: Condition) -> Test | None:
    slots = dict(condition.slots)
    name, names = slots.get("argument", ("",))[0], slots.get("arguments", ())
    tool, number = slots.get("tool", ("",))[0], float(slots.get("number", ("0",))[0])
    pair, _, value = slots.get("pair", ("",))[0].partition("=")
    tests: dict[str, Test] = {
        "over": lambda calls: calls.compares(name, above=number),
        "under": lambda calls: calls.compares(name, up_to=number),
        "value": lambda calls: calls.is_one_of(pair, [value.strip('"')]),
        "with": lambda calls: _all(map(calls.has, names)),
        "without": lambda calls: ~_any(map(calls.has, names)),
        "empty": lambda calls: _all(map(calls.is_empty, names)),
        "after_same": lambda calls: calls.is_after(tool, name),
        "before_same": lambda calls: calls.has_value(name) & ~calls.is_after(tool, name),
        "right_after": lambda calls: calls.is_right_after(tool),
        "no_result": lambda calls: calls.is_from_nowhere(name),
        "not_from": lambda calls: calls.is_not_from(name, slots["paths"]),
    }
    return tests.get(condition.form)


def _all_of(tests: Sequence[Test | None], error_class: str) -> Test | None:
    """Calls that fit all conditions; of the failed ones those of the class, if the line names one."""
    known = [test for test in tests if test is not None]
    if not known or len(known) < len(tests):
        return None

    def test(calls: ToolCalls) -> pl.Series:
        against = _all(part(calls) for part in known)
        return (
            against & (~calls.failed | (calls.rows["error_class"] == error_class)) if error_class else against
        )

    return test


def _all(parts: Iterable[pl.Series]) -> pl.Series:
    return reduce(and_, parts)


def _any(parts: Iterable[pl.Series]) -> pl.Series:
    return reduce(or_, parts)


def _is_elsewhere(sources: Sequence[str], paths: Collection[str], tools: Collection[str]) -> bool:
    if set(sources) == {_QUESTION}:
        return False
    return not any(written_path(source, tools) in paths for source in sources if source != _QUESTION)
