"""Sources of a tool's arguments: fields of earlier results that held most values of successful calls."""

from collections import Counter, defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Final

from coreloop.learn.mine.cases import MIN_DIFFERENCE
from coreloop.learn.mine.sample import Sample, SampledRequest, count_providers
from coreloop.learn.mine.statistics import fisher_exact, wilson_interval
from coreloop.learn.mine.window import moment
from coreloop.learn.proposals.advice import advice, parse_advice, statement_key, written_path
from coreloop.learn.proposals.candidates import SECTION
from coreloop.learn.proposals.statements import Sides, Statement

MIN_SHARE: Final = 0.7
MIN_BOUND: Final = 0.5
MIN_CALLS: Final = 20
MIN_QUESTIONS: Final = 5
MIN_HELD: Final = 5
"""Calls on the held-out days that a source needs."""
_MIN_OF_TWO: Final = 0.15
"""Share of values that each of two fields must have had first."""
_WORTH_A_SECOND: Final = 0.1
"""Share of values that a second field must add."""
_SURE: Final = 0.01
_QUESTION: Final = "question"
_USERS_TOO: Final = "weak: the user gives other fields of the same object"
_MAX_ASKED: Final = 0.1
"""Share of values that the user gave first; above it, the user decides the argument."""


@dataclass(slots=True)
class _Values:
    """The values of an argument in successful calls, by number."""

    requests: list[SampledRequest] = field(default_factory=list)
    by_path: defaultdict[str, set[int]] = field(default_factory=lambda: defaultdict(set))
    first: Counter[str] = field(default_factory=Counter)
    n_asked: int = 0
    earlier_tools: Counter[str] = field(default_factory=Counter)

    def add(self, request: SampledRequest, sources: tuple[str, ...], earlier: Collection[str]) -> None:
        """Add a value; ``earlier`` are the tools that were called with it before, under the same name."""
        number = len(self.requests)
        self.earlier_tools.update(earlier)
        self.requests.append(request)
        for path in sources:
            self.by_path[path].add(number)
        self.first.update(sources[:1])
        self.n_asked += sources[:1] == (_QUESTION,)

    def givers(self) -> frozenset[str]:
        """The tools that usually were called with the value before."""
        return frozenset(
            tool for tool, n in self.earlier_tools.items() if n >= MIN_SHARE * len(self.requests)
        )


@dataclass(slots=True)
class _Calls:
    """Calls by the sources of an argument, and whether they succeeded."""

    calls: list[tuple[bool, frozenset[str]]] = field(default_factory=list)

    def are_alike(self, path: str, other: str) -> bool:
        """Whether calls succeed equally often with values from two paths."""
        sides = [
            [ok for ok, sources in self.calls if used in sources and unused not in sources]
            for used, unused in ((path, other), (other, path))
        ]
        n, other_n = map(len, sides)
        hits, other_hits = map(sum, sides)
        if not n or not other_n or abs(hits / n - other_hits / other_n) < MIN_DIFFERENCE:
            return True
        return fisher_exact(hits, n, other_hits, other_n) > _SURE

    def avoided(self, paths: Sequence[str]) -> float:
        """Failures of calls with other sources beyond the expected number."""
        inside = [ok for ok, sources in self.calls if sources.intersection(paths)]
        outside = [ok for ok, sources in self.calls if not sources.intersection(paths)]
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
        Of kind ``source``, at most one for each argument, those that avoid most failures first: in at least
        20 successful calls of at least 5 different questions, a field (or two) held at least 0.7 of the
        values, with a lower bound above 0.5; at least 0.7 also on the held-out days, with at least 5 calls,
        and on the other days.
    """
    values: defaultdict[tuple[str, str], _Values] = defaultdict(_Values)
    calls: defaultdict[tuple[str, str], _Calls] = defaultdict(_Calls)
    for request in sample.requests:
        tools: defaultdict[tuple[str, int], set[str]] = defaultdict(set)
        for call in request.calls:
            for name, argument in call.arguments.items():
                earlier = tools[name, argument.value] - {call.tool}
                if call.ok and argument.sources is not None:
                    values[call.tool, name].add(request, argument.sources, earlier)
                if argument.sources is not None and set(argument.sources) != {_QUESTION}:
                    calls[call.tool, name].calls.append((call.ok, frozenset(argument.sources)))
                if call.ok and argument.value:
                    tools[name, argument.value].add(call.tool)
    statements, givers = [], {}
    for (tool, name), of_argument in sorted(values.items()):
        statement = _source(tool, name, of_argument, calls[tool, name], sample)
        if statement is not None:
            statements.append(statement)
            if statement.refused is None:
                givers[tool, statement.line] = of_argument.givers()
    return sorted(_refuse_redundant(statements, givers), key=_rank)


def _rank(statement: Statement) -> tuple[float, int, str]:
    return -statement.avoided, -statement.sides.n, statement.key


_Line = tuple[str, str]  # tool, line


def _refuse_redundant(
    statements: Sequence[Statement], givers: Mapping[_Line, frozenset[str]]
) -> list[Statement]:
    """Refuse statements that other statements make unnecessary.

    Fields of an object belong together: if the user gives the street, the user also gives the city. And a
    source need not be repeated for a value with which another tool was called that has the same line.
    """
    users = {
        place for statement in statements if statement.refused is not None for place in _objects(statement)
    }
    return [
        statement
        if statement.refused is not None
        else replace(statement, refused=_refusal(statement, users, givers))
        for statement in statements
    ]


def _refusal(
    statement: Statement, users: set[tuple[str, str]], givers: Mapping[_Line, frozenset[str]]
) -> str | None:
    if users.intersection(_objects(statement)):
        return _USERS_TOO
    for giver in sorted(givers[statement.tool, statement.line]):
        if statement.tool not in givers.get((giver, statement.line), {statement.tool}):
            return f"redundant: {giver} is called with the same value before, and has this line"
    return None


def _objects(statement: Statement) -> set[tuple[str, str]]:
    """The tool and the name of each object that holds a source's field; empty for a plain result."""
    parsed = parse_advice(statement.line)
    written = dict(parsed.slots)["paths"] if parsed is not None else ()
    paths = (path.split(".") for path in written if not path.endswith("]"))
    return {(statement.tool, parts[-2]) for parts in paths if len(parts) > 2 and parts[-2].isidentifier()}


def _source(tool: str, name: str, values: _Values, calls: _Calls, sample: Sample) -> Statement | None:
    n = len(values.requests)
    questions = len({request.question for request in values.requests})
    held = {number for number, request in enumerate(values.requests) if sample.is_held(request)}
    if n < MIN_CALLS or questions < MIN_QUESTIONS:
        return None
    paths = _best(tool, values, calls, held, sample.tools)
    written = tuple(text for path in paths if (text := written_path(path, sample.tools)) is not None)
    suggestion = advice("source", argument=name, paths=written) if written else None
    if suggestion is None or not suggestion.is_sound():
        return None
    hits = set[int]().union(*(values.by_path[path] for path in paths))
    line = str(suggestion)
    low, high = wilson_interval(len(hits), n)
    return Statement(
        key=statement_key(tool, line, SECTION),
        kind="source",
        tool=tool,
        line=line,
        sides=Sides(n_ok=len(hits), n=n),
        held=Sides(n_ok=len(hits & held), n=len(held)),
        n_questions=questions,
        difference=len(hits) / n,
        low=low,
        high=high,
        avoided=1000 * calls.avoided(paths) / len(sample.requests),
        first_seen=moment(values.requests[0].ts_us),
        last_seen=moment(values.requests[-1].ts_us),
        providers=count_providers(values.requests),
        refused=_refuse_users_own(values.n_asked, n),
    )


def _refuse_users_own(n_asked: int, n: int) -> str | None:
    """Why a source is not proposed although it held most values."""
    if n_asked <= _MAX_ASKED * n:
        return None
    return f"weak: the user gave the value first in {n_asked} of {n} calls"


def _best(
    tool: str, values: _Values, calls: _Calls, held: set[int], tools: frozenset[str]
) -> tuple[str, ...]:
    """The field that held most values first, with a second field if it adds enough; may be empty."""
    n, by_path = len(values.requests), values.by_path
    frequent = (path for path, numbers in by_path.items() if len(numbers) >= _MIN_OF_TWO * n)
    plain = [path for path in frequent if _is_plain(path, tool, tools)]
    ordered = sorted(plain, key=lambda path: (-values.first[path], -len(by_path[path]), path))
    single = next((path for path in ordered if _is_sufficient(by_path[path], held, n)), None)
    pair = [path for path in ordered[:2] if values.first[path] >= _MIN_OF_TWO * n]
    if len(pair) == 2 and calls.are_alike(*pair):
        union = by_path[pair[0]] | by_path[pair[1]]
        n_single = len(by_path[single]) if single is not None else 0
        if len(union) - n_single >= _WORTH_A_SECOND * n and _is_sufficient(union, held, n):
            return tuple(pair)
    return (single,) if single is not None else ()


def _is_plain(path: str, tool: str, tools: frozenset[str]) -> bool:
    """Whether a field belongs to another tool's result and has a plain name."""
    written = written_path(path, tools) if path != _QUESTION else None
    return written is not None and not written.startswith(f"{tool}()")


def _is_sufficient(numbers: set[int], held: set[int], n: int) -> bool:
    """Whether these values are a sufficient share, on the held-out days and on the others."""
    n_held, parts = len(held), (numbers & held, numbers - held)
    is_sure = wilson_interval(len(numbers), n)[0] > MIN_BOUND
    holds = all(
        len(part) >= MIN_SHARE * total for part, total in zip(parts, (n_held, n - n_held), strict=True)
    )
    return is_sure and holds and MIN_HELD <= n_held < n
