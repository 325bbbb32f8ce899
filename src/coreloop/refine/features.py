"""What can be told of a tool's calls: each feature, and the set of calls that have it."""

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import reduce
from operator import or_
from typing import Final

from coreloop.mine.cases import Cases, bits_of, stratify
from coreloop.mine.sample import Sample, SampledRequest
from coreloop.mine.sampling import SampledArgument, SampledCall
from coreloop.mine.values import EDGES
from coreloop.proposals.advice import Condition, condition, written_path

QUESTION: Final = "question"
"""Where a value stood that the user had said: an agent cannot choose that, so it is no side of a contrast."""
_MOST_EDGES: Final = 10
_MAIN_SHARE: Final = 0.5
"""Of the values of successful calls: with more, a place at which a third of the others fail would be none."""
_MOST_NAMED: Final = 8
_NAMED_SHARE: Final = 0.9


@dataclass(frozen=True, slots=True)
class Feature:
    """Something that holds of some calls.

    Attributes
    ----------
    condition : Condition
        How it is said.
    calls, within : int
        The calls that have it, and those of which it can be told at all.
    rank : int
        Of two features of the same calls, the lower rank is the better reason.
    names : tuple of str
        Of an undeclared value, those that are known.
    """

    condition: Condition
    calls: int
    within: int
    rank: int
    names: tuple[str, ...] = ()


@dataclass(slots=True)
class _Seen:
    """Places of calls by what they have."""

    given: defaultdict[str, list[int]] = field(default_factory=lambda: defaultdict(list))
    empty: defaultdict[str, list[int]] = field(default_factory=lambda: defaultdict(list))
    known: defaultdict[str, list[int]] = field(default_factory=lambda: defaultdict(list))
    values: defaultdict[tuple[str, int], list[int]] = field(default_factory=lambda: defaultdict(list))
    buckets: defaultdict[str, list[tuple[int, int]]] = field(default_factory=lambda: defaultdict(list))
    compared: defaultdict[str, list[int]] = field(default_factory=lambda: defaultdict(list))
    sources: defaultdict[tuple[str, str], list[int]] = field(default_factory=lambda: defaultdict(list))
    firsts: defaultdict[tuple[str, str], list[int]] = field(default_factory=lambda: defaultdict(list))
    nowhere: defaultdict[str, list[int]] = field(default_factory=lambda: defaultdict(list))
    after_same: defaultdict[tuple[str, str], list[int]] = field(default_factory=lambda: defaultdict(list))
    right_after: defaultdict[str, list[int]] = field(default_factory=lambda: defaultdict(list))


class ToolCalls:
    """All sampled calls of one tool.

    Attributes
    ----------
    calls : list of (SampledRequest, int, SampledCall)
        With the request and the place in it.
    """

    def __init__(self, tool: str) -> None:
        self.tool = tool
        self.calls: list[tuple[SampledRequest, int, SampledCall]] = []
        self._seen = _Seen()

    def add(
        self,
        request: SampledRequest,
        place: int,
        before: Mapping[tuple[str, int], set[str]],
    ) -> None:
        """Take in a call; ``before`` are the tools whose call was ok, by argument and value."""
        call, number, seen = request.calls[place], len(self.calls), self._seen
        self.calls.append((request, place, call))
        if place:
            seen.right_after[request.calls[place - 1].tool].append(number)
        for name in call.empty:
            seen.empty[name].append(number)
        for name, argument in call.arguments.items():
            seen.given[name].append(number)
            if argument.value:  # else the record had no room for it
                seen.known[name].append(number)
                seen.values[name, argument.value].append(number)
            if argument.bucket is not None:
                seen.buckets[name].append((argument.bucket, number))
            for tool in before.get((name, argument.value), ()):
                seen.after_same[tool, name].append(number)
            self._add_sources(name, argument, number)

    def _add_sources(self, name: str, argument: SampledArgument, number: int) -> None:
        if argument.sources is None:
            return
        if argument.sources and set(argument.sources) == {QUESTION}:
            return
        self._seen.compared[name].append(number)
        if not argument.sources:
            self._seen.nowhere[name].append(number)
            return
        paths = [path for path in argument.sources if path != QUESTION]
        self._seen.firsts[name, paths[0]].append(number)
        for path in paths:
            self._seen.sources[name, path].append(number)

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

    def features(self, cases: Cases, values: Mapping[int, str], tools: frozenset[str]) -> Iterator[Feature]:
        """Every feature that some calls have and others have not.

        Parameters
        ----------
        cases : Cases
            From `cases`.
        values : mapping of int to str
            Declared values by their hash: no other value is ever named.
        tools : frozenset of str
            Names of tools, to read the places of sources.
        """
        yield from self._of_presence(cases)
        yield from self._of_values(cases, values)
        yield from self._of_numbers(cases)
        yield from self._of_sources(cases, tools)
        yield from self._of_order(cases)

    def _of_presence(self, cases: Cases) -> Iterator[Feature]:
        for name, numbers in self._seen.given.items():
            given = bits_of(numbers, cases.n)
            empty = bits_of(self._seen.empty[name], cases.n)
            if empty:
                yield Feature(condition("empty", arguments=name), empty, given | empty, 0)
            yield Feature(condition("without", arguments=name), cases.all & ~given & ~empty, cases.all, 0)
            yield Feature(condition("with", arguments=name), given, cases.all, 3)

    def _of_values(self, cases: Cases, values: Mapping[int, str]) -> Iterator[Feature]:
        named: defaultdict[str, dict[str, int]] = defaultdict(dict)
        for (name, value), numbers in self._seen.values.items():
            if value in values:
                named[name][values[value]] = bits_of(numbers, cases.n)
        for name, by_text in named.items():
            given = bits_of(self._seen.known[name], cases.n)
            for text, calls in by_text.items():
                yield Feature(condition("value", pair=pair(name, text)), calls, given, 1)
            good = {text: calls for text, calls in by_text.items() if calls & cases.good}
            known, all_good = _union(good.values()), given & cases.good
            is_closed = (known & cases.good).bit_count() >= _NAMED_SHARE * all_good.bit_count()
            if good and is_closed and len(good) <= _MOST_NAMED and given & ~known:
                undeclared = condition("value", pair=pair(name, "…"))
                yield Feature(undeclared, given & ~known, given, 1, tuple(sorted(good)))

    def _of_numbers(self, cases: Cases) -> Iterator[Feature]:
        for name, pairs in self._seen.buckets.items():
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

    def _of_sources(self, cases: Cases, tools: frozenset[str]) -> Iterator[Feature]:
        for name, numbers in self._seen.compared.items():
            within = bits_of(numbers, cases.n)
            nowhere = bits_of(self._seen.nowhere[name], cases.n)
            if nowhere:
                yield Feature(condition("no_result", argument=name), nowhere, within, 2)
            for path in self._main_sources(name, within & cases.good, tools):
                written = written_path(path, tools)
                calls = within & ~bits_of(self._seen.sources[name, path], cases.n)
                if written is not None and calls:
                    yield Feature(condition("not_from", argument=name, paths=written), calls, within, 2)

    def _main_sources(self, name: str, good: int, tools: frozenset[str]) -> Iterator[str]:
        """The field that had most values of successful calls, of the tool that mostly had them first.

        A field that holds fewer, and sets failures apart better, is a sign of something else: order items
        that were delivered stand under the deliveries, too.
        """
        least, n = _MAIN_SHARE * good.bit_count(), len(self.calls)
        firsts: defaultdict[str, int] = defaultdict(int)
        for (argument, path), numbers in self._seen.firsts.items():
            if argument == name:
                firsts[tool_of(path, tools)] += (bits_of(numbers, n) & good).bit_count()
        main = max(firsts, key=lambda tool: (firsts[tool], tool), default="")
        stood = {
            path: (bits_of(numbers, n) & good).bit_count()
            for (argument, path), numbers in self._seen.sources.items()
            if argument == name and tool_of(path, tools) == main
        }
        most = max(stood.values(), default=0)
        yield from (path for path, count in stood.items() if count == most >= least)

    def _of_order(self, cases: Cases) -> Iterator[Feature]:
        for (tool, name), numbers in self._seen.after_same.items():
            after = bits_of(numbers, cases.n)
            known = bits_of(self._seen.known[name], cases.n)
            yield Feature(condition("after_same", tool=tool, argument=name), after, known, 1)
            if tool != self.tool:
                unless = condition("before_same", tool=tool, argument=name)
                yield Feature(unless, known & ~after, known, 4)
        for tool, numbers in self._seen.right_after.items():
            if tool == self.tool:  # a retry: what an agent does because of a failure is not its cause
                continue
            same = _union(
                bits_of(after, cases.n)
                for (other, _), after in self._seen.after_same.items()
                if other == tool
            )  # of the same order, say: that is the better reason, even with too few calls to say it
            calls = bits_of(numbers, cases.n) & ~same
            yield Feature(condition("right_after", tool=tool), calls, cases.all & ~same, 5)


def pair(name: str, text: str) -> str:
    """An argument with a value, as a call is written."""
    return f"{name}={text}" if text in {"true", "false"} else f'{name}="{text}"'


def tool_of(path: str, tools: frozenset[str]) -> str:
    """The tool in whose result a place is; the longest name, since a tool's name may hold dots."""
    return max((tool for tool in tools if path.startswith(tool)), key=len, default=path)


def gather(sample: Sample, *, least_failures: int) -> list[ToolCalls]:
    """The calls of every tool that failed so often, by the tool's name."""
    failures: defaultdict[str, int] = defaultdict(int)
    for _, _, call in sample.calls():
        failures[call.tool] += not call.ok
    found = {tool: ToolCalls(tool) for tool, n in sorted(failures.items()) if n >= least_failures}
    for request in sample.requests:
        before: defaultdict[tuple[str, int], set[str]] = defaultdict(set)
        for place, call in enumerate(request.calls):
            if call.tool in found:
                found[call.tool].add(request, place, before)
            if call.ok:
                for name, argument in call.arguments.items():
                    if argument.value:
                        before[name, argument.value].add(call.tool)
    return list(found.values())


def _union(sets: Iterable[int]) -> int:
    return reduce(or_, sets, 0)


def _edges(buckets: Mapping[int, Collection[int]]) -> frozenset[int]:
    """Buckets at whose upper ends a line may be drawn: up to ten that part the numbers most evenly.

    Each is a test, and more tests find less: with 30 of them, a cause that makes a difference of 30 points in
    150 calls a side is missed in one run of eight, by the correction.
    """
    total, below, found = sum(map(len, buckets.values())), 0, dict[int, int]()
    for bucket in sorted(buckets)[:-1]:
        below += len(buckets[bucket])
        if 0 <= bucket < len(EDGES):
            found.setdefault(below * (_MOST_EDGES + 1) // total, bucket)
    return frozenset(found.values())
