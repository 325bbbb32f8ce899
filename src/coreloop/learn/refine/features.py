"""Features of a tool's calls: properties, and the set of calls that have each of them."""

from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import reduce
from operator import or_
from typing import Final

from coreloop.learn.facts.values import EDGES
from coreloop.learn.mine.cases import Cases, bits_of, stratify
from coreloop.learn.mine.sample import Sample, SampledArgument, SampledCall, SampledRequest
from coreloop.learn.proposals.advice import Condition, condition, written_path

QUESTION: Final = "question"
"""Source of values from the user's question; never a side of a contrast, since an agent cannot choose it."""
_MAX_EDGES: Final = 10
_MAIN_SHARE: Final = 0.5
"""Share of the values of successful calls that the main source must have; a higher share misses sources."""
_MAX_DECLARED: Final = 8
_DECLARED_SHARE: Final = 0.9
Listed = Callable[[str], Collection[frozenset[str]]]


@dataclass(frozen=True, slots=True)
class Feature:
    """A property of some calls.

    Attributes
    ----------
    condition : Condition
        Its wording.
    calls, within : int
        The calls that have it, and those to which it is applicable.
    rank : int
        Among features of the same calls, a lower rank is a better reason.
    names : tuple of str
        For an undeclared value, the known values.
    """

    condition: Condition
    calls: int
    within: int
    rank: int
    names: tuple[str, ...] = ()


@dataclass(slots=True)
class _Numbers:
    """Numbers of calls by their properties."""

    present: defaultdict[str, list[int]] = field(default_factory=lambda: defaultdict(list))
    empty: defaultdict[str, list[int]] = field(default_factory=lambda: defaultdict(list))
    known: defaultdict[str, list[int]] = field(default_factory=lambda: defaultdict(list))
    values: defaultdict[tuple[str, int], list[int]] = field(default_factory=lambda: defaultdict(list))
    buckets: defaultdict[str, list[tuple[int, int]]] = field(default_factory=lambda: defaultdict(list))
    compared: defaultdict[str, list[int]] = field(default_factory=lambda: defaultdict(list))
    sources: defaultdict[tuple[str, str], list[int]] = field(default_factory=lambda: defaultdict(list))
    firsts: defaultdict[tuple[str, str], list[int]] = field(default_factory=lambda: defaultdict(list))
    nowhere: defaultdict[str, list[int]] = field(default_factory=lambda: defaultdict(list))
    after_same: defaultdict[tuple[str, str], list[int]] = field(default_factory=lambda: defaultdict(list))


class ToolCalls:
    """All sampled calls of one tool.

    Attributes
    ----------
    calls : list of (SampledRequest, int, SampledCall)
        Each with its request and its index in the request.
    """

    def __init__(self, tool: str) -> None:
        self.tool = tool
        self.calls: list[tuple[SampledRequest, int, SampledCall]] = []
        self._numbers = _Numbers()

    def add(
        self,
        request: SampledRequest,
        index: int,
        earlier: Mapping[tuple[str, int], set[str]],
    ) -> None:
        """Add a call; ``earlier`` are the tools of earlier successful calls by argument and value."""
        call, number, numbers = request.calls[index], len(self.calls), self._numbers
        self.calls.append((request, index, call))
        for name in call.empty:
            numbers.empty[name].append(number)
        for name, argument in call.arguments.items():
            numbers.present[name].append(number)
            if argument.value:  # else the value was too long to be recorded
                numbers.known[name].append(number)
                numbers.values[name, argument.value].append(number)
            if argument.bucket is not None:
                numbers.buckets[name].append((argument.bucket, number))
            for tool in earlier.get((name, argument.value), ()):
                numbers.after_same[tool, name].append(number)
            self._add_sources(name, argument, number)

    def _add_sources(self, name: str, argument: SampledArgument, number: int) -> None:
        if argument.sources is None:
            return
        if argument.sources and set(argument.sources) == {QUESTION}:
            return
        self._numbers.compared[name].append(number)
        if not argument.sources:
            self._numbers.nowhere[name].append(number)
            return
        paths = [path for path in argument.sources if path != QUESTION]
        self._numbers.firsts[name, paths[0]].append(number)
        for path in paths:
            self._numbers.sources[name, path].append(number)

    def cases(self, sample: Sample) -> Cases:
        """The calls as cases; strata are the categories and models of their requests."""
        n = len(self.calls)
        good = bits_of((number for number, (_, _, call) in enumerate(self.calls) if call.ok), n)
        held = bits_of(
            (number for number, (request, _, _) in enumerate(self.calls) if sample.is_held(request)), n
        )
        questions = [request.question for request, _, _ in self.calls]
        strata = stratify((request.category, request.model) for request, _, _ in self.calls)
        return Cases(n, good, held, questions, strata)

    def features(
        self, cases: Cases, values: Mapping[int, str], tools: frozenset[str], *, listed: Listed
    ) -> Iterator[Feature]:
        """Every feature that only some of the calls have.

        Parameters
        ----------
        cases : Cases
            From `cases`.
        values : mapping of int to str
            Declared values by their hash; other values are never written.
        tools : frozenset of str
            Names of tools, to parse the paths of sources.
        listed : callable
            Sets of values that the source lists, by argument.
        """
        yield from self._presence_features(cases)
        yield from self._value_features(cases, values, listed)
        yield from self._number_features(cases)
        yield from self._source_features(cases, tools)
        yield from self._order_features(cases)

    def _presence_features(self, cases: Cases) -> Iterator[Feature]:
        for name, numbers in self._numbers.present.items():
            present = bits_of(numbers, cases.n)
            empty = bits_of(self._numbers.empty[name], cases.n)
            if empty:
                yield Feature(condition("empty", arguments=name), empty, present | empty, 0)
            yield Feature(condition("without", arguments=name), cases.all & ~present & ~empty, cases.all, 0)
            yield Feature(condition("with", arguments=name), present, cases.all, 3)

    def _value_features(self, cases: Cases, values: Mapping[int, str], listed: Listed) -> Iterator[Feature]:
        declared: defaultdict[str, dict[str, int]] = defaultdict(dict)
        for (name, value), numbers in self._numbers.values.items():
            if value in values:
                declared[name][values[value]] = bits_of(numbers, cases.n)
        for name, by_text in declared.items():
            within = bits_of(self._numbers.known[name], cases.n)
            for text, calls in by_text.items():
                yield Feature(condition("value", pair=pair(name, text)), calls, within, 1)
            good = {text: calls for text, calls in by_text.items() if calls & cases.good}
            known, all_good = _union(good.values()), within & cases.good
            is_closed = (known & cases.good).bit_count() >= _DECLARED_SHARE * all_good.bit_count()
            names = _all_values(listed(name), set(good), failed=by_text.keys() - good.keys())
            if good and is_closed and 0 < len(names) <= _MAX_DECLARED and within & ~known:
                undeclared = condition("value", pair=pair(name, "…"))
                yield Feature(undeclared, within & ~known, within, 1, tuple(sorted(names)))

    def _number_features(self, cases: Cases) -> Iterator[Feature]:
        for name, pairs in self._numbers.buckets.items():
            of_bucket: defaultdict[int, list[int]] = defaultdict(list)
            for bucket, number in pairs:
                of_bucket[bucket].append(number)
            within = bits_of((number for _, number in pairs), cases.n)
            edges, over = _edges(of_bucket), 0
            for bucket in sorted(of_bucket, reverse=True):
                if bucket in edges:
                    edge = f"{EDGES[bucket]:.4f}".rstrip("0").rstrip(".")
                    yield Feature(condition("over", argument=name, number=edge), over, within, 1)
                    yield Feature(condition("under", argument=name, number=edge), within & ~over, within, 1)
                over |= bits_of(of_bucket[bucket], cases.n)

    def _source_features(self, cases: Cases, tools: frozenset[str]) -> Iterator[Feature]:
        for name, numbers in self._numbers.compared.items():
            within = bits_of(numbers, cases.n)
            nowhere = bits_of(self._numbers.nowhere[name], cases.n)
            if nowhere:
                yield Feature(condition("no_result", argument=name), nowhere, within, 2)
            for path in self._main_sources(name, within & cases.good, tools):
                written = written_path(path, tools)
                calls = within & ~bits_of(self._numbers.sources[name, path], cases.n)
                if written is not None and calls:
                    yield Feature(condition("not_from", argument=name, paths=written), calls, within, 2)

    def _main_sources(self, name: str, good: int, tools: frozenset[str]) -> Iterator[str]:
        """The field with most values of successful calls, in results of the tool that usually has them first.

        A field with fewer values that separates failures better is a sign of something else: for example,
        delivered items of an order also occur in its deliveries.
        """
        limit, n = _MAIN_SHARE * good.bit_count(), len(self.calls)
        firsts: defaultdict[str, int] = defaultdict(int)
        for (argument, path), numbers in self._numbers.firsts.items():
            if argument == name:
                firsts[tool_of(path, tools)] += (bits_of(numbers, n) & good).bit_count()
        main = max(firsts, key=lambda tool: (firsts[tool], tool), default="")
        counts = {
            path: (bits_of(numbers, n) & good).bit_count()
            for (argument, path), numbers in self._numbers.sources.items()
            if argument == name and tool_of(path, tools) == main
        }
        most = max(counts.values(), default=0)
        yield from (path for path, count in counts.items() if count == most >= limit)

    def _order_features(self, cases: Cases) -> Iterator[Feature]:
        for (tool, name), numbers in self._numbers.after_same.items():
            after = bits_of(numbers, cases.n)
            known = bits_of(self._numbers.known[name], cases.n)
            yield Feature(condition("after_same", tool=tool, argument=name), after, known, 1)
            if tool != self.tool:
                unless = condition("before_same", tool=tool, argument=name)
                yield Feature(unless, known & ~after, known, 4)


def pair(name: str, text: str) -> str:
    """An argument with its value, as written in a call."""
    return f"{name}={text}" if text in {"true", "false"} else f'{name}="{text}"'


def tool_of(path: str, tools: frozenset[str]) -> str:
    """The tool whose result holds a path; the longest match, since tool names may contain dots."""
    return max((tool for tool in tools if path.startswith(tool)), key=len, default=path)


def gather(sample: Sample, *, min_failures: int) -> list[ToolCalls]:
    """The calls of every tool with at least ``min_failures`` failed calls, sorted by name."""
    failures: defaultdict[str, int] = defaultdict(int)
    for _, _, call in sample.calls():
        failures[call.tool] += not call.ok
    by_tool = {tool: ToolCalls(tool) for tool, n in sorted(failures.items()) if n >= min_failures}
    for request in sample.requests:
        earlier: defaultdict[tuple[str, int], set[str]] = defaultdict(set)
        for index, call in enumerate(request.calls):
            if call.tool in by_tool:
                by_tool[call.tool].add(request, index, earlier)
            if call.ok:
                for name, argument in call.arguments.items():
                    if argument.value:
                        earlier[name, argument.value].add(call.tool)
    return list(by_tool.values())


def _all_values(
    listed: Collection[frozenset[str]], good: Collection[str], *, failed: Collection[str]
) -> Collection[str]:
    """All values of an argument, as the shortest list in the source with every value that worked has them.

    Without such a list nobody knows which of the values that were never tried would work.
    """
    fitting = sorted((values for values in listed if values.issuperset(good)), key=len)
    is_clear = fitting and (len(fitting) == 1 or len(fitting[0]) < len(fitting[1]))
    return fitting[0].difference(failed) if is_clear else ()


def _union(sets: Iterable[int]) -> int:
    return reduce(or_, sets, 0)


def _edges(buckets: Mapping[int, Collection[int]]) -> frozenset[int]:
    """Buckets whose upper ends are tested as bounds: up to ten that divide the numbers most evenly.

    More tests find less, due to the correction: with 30 tests, a difference of 30 points with 150 calls on
    each side is missed in an eighth of the runs.
    """
    total, below, edges = sum(map(len, buckets.values())), 0, dict[int, int]()
    for bucket in sorted(buckets)[:-1]:
        below += len(buckets[bucket])
        if 0 <= bucket < len(EDGES):
            edges.setdefault(below * (_MAX_EDGES + 1) // total, bucket)
    return frozenset(edges.values())
