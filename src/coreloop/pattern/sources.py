"""Where a tool's arguments come from: fields of earlier results in which most values of good calls stood."""

from collections import Counter, defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Final

from coreloop.mine.cases import LEAST_DIFFERENCE
from coreloop.mine.sample import Sample, SampledRequest, count_providers
from coreloop.mine.sampling import SampledArgument
from coreloop.mine.statistics import fisher_exact, wilson_interval
from coreloop.mine.window import moment
from coreloop.proposals.advice import advice, parse_advice, statement_key, written_path
from coreloop.proposals.candidates import SECTION
from coreloop.proposals.statements import Sides, Statement

LEAST_SHARE: Final = 0.7
LEAST_BOUND: Final = 0.5
LEAST_CALLS: Final = 20
LEAST_QUESTIONS: Final = 5
LEAST_HELD: Final = 5
"""Calls on the last days, without which nothing can hold there."""
_LEAST_OF_TWO: Final = 0.15
"""Share of values that each of two fields must have had first."""
_WORTH_A_SECOND: Final = 0.1
"""Share of values that a second field must add."""
_SURE: Final = 0.01
_QUESTION: Final = "question"
_USERS_TOO: Final = "weak: it goes with others of the same object that are the user's to give"
_MOST_ASKED: Final = 0.1
"""Share of values that the user had said first: with more, the argument is the user's to give."""


@dataclass(slots=True)
class _Values:
    """The values of one argument in calls that were ok, by number."""

    requests: list[SampledRequest] = field(default_factory=list)
    stood: defaultdict[str, set[int]] = field(default_factory=lambda: defaultdict(set))
    first: Counter[str] = field(default_factory=Counter)
    n_asked: int = 0
    had: Counter[str] = field(default_factory=Counter)

    def add(self, request: SampledRequest, sources: tuple[str, ...], had: Collection[str]) -> None:
        """Take in a value; ``had`` are the tools that were called with it before, under the same name."""
        number = len(self.requests)
        self.had.update(had)
        self.requests.append(request)
        for path in sources:
            self.stood[path].add(number)
        self.first.update(sources[:1])
        self.n_asked += sources[:1] == (_QUESTION,)

    def givers(self) -> frozenset[str]:
        """The tools that mostly had the value before."""
        return frozenset(tool for tool, n in self.had.items() if n >= LEAST_SHARE * len(self.requests))


@dataclass(slots=True)
class _Failures:
    """Calls whose value stood in a result, by whether they were ok: of one argument."""

    calls: list[tuple[bool, frozenset[str]]] = field(default_factory=list)

    def are_alike(self, one: str, other: str) -> bool:
        """Whether calls go as well with a value from one place as with one from another place."""
        sides = [
            [ok for ok, stood in self.calls if here in stood and there not in stood]
            for here, there in ((one, other), (other, one))
        ]
        n, other_n = map(len, sides)
        hits, other_hits = map(sum, sides)
        if not n or not other_n or abs(hits / n - other_hits / other_n) < LEAST_DIFFERENCE:
            return True
        return fisher_exact(hits, n, other_hits, other_n) > _SURE

    def avoided(self, paths: Sequence[str]) -> float:
        """Failures that were more than expected where the value stood elsewhere."""
        inside = [ok for ok, stood in self.calls if stood.intersection(paths)]
        outside = [ok for ok, stood in self.calls if not stood.intersection(paths)]
        if not inside or not outside:
            return 0.0
        return max(0.0, len(outside) * (sum(inside) / len(inside) - sum(outside) / len(outside)))


def find_sources(sample: Sample) -> list[Statement]:
    """Find the fields of earlier results that arguments are taken from.

    Parameters
    ----------
    sample : Sample
        Requests call by call.

    Returns
    -------
    list of Statement
        Of kind ``source``, at most one an argument: of the values in at least 20 calls that were ok, of at
        least 5 different questions, at least 0.7 stood in the field, or in either of two, with a lower bound
        above 0.5; at least 0.7 on the last days, in 5 calls or more, as on the others.
    """
    values: defaultdict[tuple[str, str], _Values] = defaultdict(_Values)
    failures: defaultdict[tuple[str, str], _Failures] = defaultdict(_Failures)
    for request in sample.requests:
        had: defaultdict[tuple[str, int], set[str]] = defaultdict(set)
        for call in request.calls:
            for name, argument in call.arguments.items():
                before = had[name, argument.value] - {call.tool}
                if call.ok and argument.sources is not None:
                    values[call.tool, name].add(request, argument.sources, before)
                if argument.sources is not None and set(argument.sources) != {_QUESTION}:
                    failures[call.tool, name].calls.append((call.ok, _stood(argument)))
                if call.ok and argument.value:
                    had[name, argument.value].add(call.tool)
    found, givers = [], {}
    for (tool, name), of_argument in sorted(values.items()):
        statement = _source(tool, name, of_argument, failures[tool, name], sample)
        if statement is not None:
            found.append(statement)
            if statement.refused is None:
                givers[tool, statement.line] = of_argument.givers()
    return _together(found, givers)


_Line = tuple[str, str]  # tool, line


def _together(found: Sequence[Statement], givers: Mapping[_Line, frozenset[str]]) -> list[Statement]:
    """What is one with another statement is not proposed beside it.

    Fields of one object go together: where one is the user's to give, the street, so is the city. And who has
    called a tool with a value need not be told where that is from, if that tool's docstring says it.
    """
    given = {place for one in found if one.refused is not None for place in _objects(one)}
    return [
        one if one.refused is not None else replace(one, refused=_refusal(one, given, givers))
        for one in found
    ]


def _refusal(
    one: Statement, given: set[tuple[str, str]], givers: Mapping[_Line, frozenset[str]]
) -> str | None:
    if given.intersection(_objects(one)):
        return _USERS_TOO
    for giver in sorted(givers[one.tool, one.line]):
        if one.tool not in givers.get((giver, one.line), {one.tool}):
            return f"redundant: it is what {giver} was called with, of which the same is said"
    return None


def _objects(statement: Statement) -> set[tuple[str, str]]:
    """The tool, and the names of the objects that a source's fields are of; of a bare result, none."""
    said = parse_advice(statement.line)
    written = dict(said.slots)["paths"] if said is not None else ()
    paths = (path.split(".") for path in written if not path.endswith("]"))
    return {(statement.tool, parts[-2]) for parts in paths if len(parts) > 2 and parts[-2].isidentifier()}


def _stood(argument: SampledArgument) -> frozenset[str]:
    return frozenset(argument.sources or ())


def _source(tool: str, name: str, values: _Values, failures: _Failures, sample: Sample) -> Statement | None:
    n = len(values.requests)
    questions = len({request.question for request in values.requests})
    held = {number for number, request in enumerate(values.requests) if sample.is_held(request)}
    if n < LEAST_CALLS or questions < LEAST_QUESTIONS:
        return None
    paths = _best(tool, values, failures, held, sample.tools)
    written = tuple(one for path in paths if (one := written_path(path, sample.tools)) is not None)
    said = advice("source", argument=name, paths=written) if written else None
    if said is None or not said.is_sound():
        return None
    stood = set[int]().union(*(values.stood[path] for path in paths))
    line = str(said)
    low, high = wilson_interval(len(stood), n)
    return Statement(
        key=statement_key(tool, line, SECTION),
        kind="source",
        tool=tool,
        line=line,
        sides=Sides(n_ok=len(stood), n=n),
        held=Sides(n_ok=len(stood & held), n=len(held)),
        n_questions=questions,
        difference=len(stood) / n,
        low=low,
        high=high,
        avoided=1000 * failures.avoided(paths) / len(sample.requests),
        first_seen=moment(values.requests[0].ts_us),
        last_seen=moment(values.requests[-1].ts_us),
        providers=count_providers(values.requests),
        refused=_users_own(values.n_asked, n),
    )


def _users_own(n_asked: int, n: int) -> str | None:
    """Why a source is not proposed although most values stood there."""
    if n_asked <= _MOST_ASKED * n:
        return None
    return f"weak: it is the user's to give, who said it first in {n_asked} of {n} calls"


def _best(
    tool: str, values: _Values, failures: _Failures, held: set[int], tools: frozenset[str]
) -> tuple[str, ...]:
    """The field that had most values first, with the next where that makes a difference; or none."""
    n = len(values.requests)
    frequent = (path for path, stood in values.stood.items() if len(stood) >= _LEAST_OF_TWO * n)
    sayable = [path for path in frequent if _is_sayable(path, tool, tools)]
    ordered = sorted(sayable, key=lambda path: (-values.first[path], -len(values.stood[path]), path))
    single = next((path for path in ordered if _is_enough(values.stood[path], held, n)), None)
    second = [path for path in ordered[:2] if values.first[path] >= _LEAST_OF_TWO * n]
    if len(second) == 2 and failures.are_alike(*second):
        both = values.stood[second[0]] | values.stood[second[1]]
        alone = len(values.stood[single]) if single is not None else 0
        if len(both) - alone >= _WORTH_A_SECOND * n and _is_enough(both, held, n):
            return tuple(second)
    return (single,) if single is not None else ()


def _is_sayable(path: str, tool: str, tools: frozenset[str]) -> bool:
    """Whether a field is of another tool's result and has a plain name."""
    written = written_path(path, tools) if path != _QUESTION else None
    return written is not None and not written.startswith(f"{tool}()")


def _is_enough(stood: set[int], held: set[int], n: int) -> bool:
    """Whether so many stood there that it may be said; the share holds on the last days and on the others."""
    n_held, parts = len(held), (stood & held, stood - held)
    is_sure = wilson_interval(len(stood), n)[0] > LEAST_BOUND
    holds = all(len(part) >= LEAST_SHARE * of for part, of in zip(parts, (n_held, n - n_held), strict=True))
    return is_sure and holds and LEAST_HELD <= n_held < n
