"""A log by tool, day and case: what the periods of a change are cut from."""

from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from coreloop.learn.effect.calls import Request
from coreloop.learn.effect.failures import NamedFailure, Place
from coreloop.learn.effect.tally import DayCount, Stratum

_Key = tuple[Stratum, str]
"""Model and category, case."""


@dataclass(slots=True)
class RequestSums:
    """Sums over the requests of a day that call a tool; ``n_counted`` leaves out neutral ones."""

    n: int = 0
    n_counted: int = 0
    n_lost: int = 0
    n_calls: int = 0
    n_timed: int = 0
    seconds: float = 0.0


@dataclass(slots=True)
class ToolLog:
    """The calls of one tool.

    Attributes
    ----------
    calls : dict of int to dict
        By day, then by stratum and case: calls, then failures, all and those of each named failure.
    requests : dict of int to RequestSums
        By day.
    against : dict of (int, int) to list of int
        By day and number of a named failure: calls against its lines, and how many of them failed.
    versions : dict of int to set of str
        By day; an empty text for calls without a version.
    """

    calls: defaultdict[int, dict[_Key, list[int]]] = field(default_factory=lambda: defaultdict(dict))
    requests: defaultdict[int, RequestSums] = field(default_factory=lambda: defaultdict(RequestSums))
    against: defaultdict[tuple[int, int], list[int]] = field(
        default_factory=lambda: defaultdict(lambda: [0, 0])
    )
    versions: defaultdict[int, set[str]] = field(default_factory=lambda: defaultdict(set))

    def cases(self, days: Collection[int]) -> set[str]:
        """The cases of some days."""
        return {case for day in days if day in self.calls for _, case in self.calls[day]}

    def n_failed(self, days: Collection[int]) -> int:
        """All failures of some days."""
        return sum(counts[1] for day in days if day in self.calls for counts in self.calls[day].values())

    def count(self, days: Collection[int], *, failure: int = 0) -> list[DayCount]:
        """Count the calls of some days by day, for one of the failures; a case counts at its first day."""
        strata: defaultdict[int, dict[Stratum, tuple[int, int]]] = defaultdict(dict)
        cases: dict[str, tuple[int, int, int]] = {}
        rows = (
            (day, key, counts)
            for day in sorted(days)
            if day in self.calls
            for key, counts in self.calls[day].items()
        )
        for day, (stratum, case), counts in rows:
            n, failed = counts[0], counts[1 + failure]
            earlier = strata[day].get(stratum, (0, 0))
            strata[day][stratum] = (earlier[0] + n, earlier[1] + failed)
            first, case_n, case_failed = cases.get(case, (day, 0, 0))
            cases[case] = (first, case_n + n, case_failed + failed)
        squares: defaultdict[int, list[int]] = defaultdict(lambda: [0, 0, 0])
        for day, n, failed in cases.values():
            for at, value in enumerate((n * n, n * failed, failed * failed)):
                squares[day][at] += value
        return [DayCount(day, strata[day], *squares[day]) for day in sorted(strata)]


Log = Mapping[str, ToolLog]
"""The calls by tool, as the project names it."""


def read_log(
    requests: Iterable[Request],
    failures: Mapping[str, Sequence[NamedFailure]],
    *,
    names: Callable[[str], str],
    tools: Collection[str],
) -> Log:
    """Count requests by tool.

    Parameters
    ----------
    requests : iterable of Request
        In any order.
    failures : mapping of str to sequence of NamedFailure
        By tool: what else is counted besides all failures.
    names : callable
        A tool's name as the project has it.
    tools : collection of str
        All names, to read recorded paths.
    """
    log: defaultdict[str, ToolLog] = defaultdict(ToolLog)
    for request in requests:
        stratum = (request.model, request.category)
        for index, call in enumerate(request.calls):
            tool = names(call.tool)
            counted = failures.get(tool, ())
            place = Place(request, index, tools)
            counts = (
                log[tool].calls[request.day].setdefault((stratum, request.case), [0] * (2 + len(counted)))
            )
            counts[0] += 1
            counts[1] += not call.ok
            for at, failure in enumerate(counted):
                if failure.is_against(place):
                    counts[2 + at] += not call.ok
                    sums = log[tool].against[request.day, 1 + at]
                    sums[0] += 1
                    sums[1] += not call.ok
        for tool in {names(call.tool) for call in request.calls}:
            _add_request(log[tool], request)
    return dict(log)


def _add_request(tool: ToolLog, request: Request) -> None:
    sums = tool.requests[request.day]
    sums.n += 1
    sums.n_counted += request.lost is not None
    sums.n_lost += request.lost is True
    sums.n_calls += len(request.calls)
    if request.seconds is not None:
        sums.n_timed += 1
        sums.seconds += request.seconds
    tool.versions[request.day].add(request.version)
