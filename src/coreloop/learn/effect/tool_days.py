"""A log by tool, day and case, as queries over facts: what the periods of a change are cut from."""

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, TypeVar

import msgspec

from coreloop.learn.effect.estimate import DayCount, Stratum
from coreloop.learn.line import Advice, parse_advice
from coreloop.learn.mine.window import Window
from coreloop.learn.statements.kinds import is_against, kind_of
from coreloop.learn.statements.logged_calls import CallPlace, LoggedCall, LoggedRequest, RecordReader
from coreloop.observe.descriptions_in_force import FOLDER
from coreloop.observe.reading.decode import RecordLine
from coreloop.observe.shown_states import hash_state

NamedFailure = tuple[Advice, ...]
"""The clauses against one of which a call is counted, failed or not; without any, all failures are."""
CaseCounts = defaultdict[int, dict[tuple[Stratum, int], tuple[int, int]]]
"""By day, then by stratum (model and category) and case: calls and failures."""
_Key = TypeVar("_Key")


@dataclass(slots=True)
class ToolLog:
    """The calls of one tool.

    Attributes
    ----------
    calls : dict of int to dict
        By day, then by stratum and case: calls, and how many failed.
    against : dict of str to dict
        By the commit of a change, the same of the calls against its lines.
    requests : dict of int to (int, int)
        By day: requests that count, and how many of them failed.
    versions : dict of int to set of str
        By day, the hash of the description that the model was sent, else the version of the tools, else an
        empty text.
    first_us : dict of str to int
        When each hash of a description first occurred, in microseconds since 1970.
    """

    calls: CaseCounts = field(default_factory=lambda: defaultdict(dict))
    against: dict[str, CaseCounts] = field(default_factory=dict)
    requests: dict[int, tuple[int, int]] = field(default_factory=dict)
    versions: defaultdict[int, set[str]] = field(default_factory=lambda: defaultdict(set))
    first_us: dict[str, int] = field(default_factory=dict)

    def cases(self, days: Collection[int]) -> set[int]:
        """The cases of some days."""
        return {case for day in days if day in self.calls for _, case in self.calls[day]}

    def by_day(self, commit: str = "") -> dict[int, tuple[int, int]]:
        """Calls and failures of each day: all, or those against the lines of a change."""
        counts = self.against[commit] if commit else self.calls
        return {
            day: (sum(n for n, _ in of_day.values()), sum(failed for _, failed in of_day.values()))
            for day, of_day in counts.items()
        }

    def count(self, days: Collection[int], commit: str = "") -> list[DayCount]:
        """Count the calls of some days by day; failures are all, or those against the lines of a change.

        A case counts at its first day.
        """
        strata: dict[int, dict[Stratum, tuple[int, int]]] = {}
        cases: dict[int, list[int]] = {}
        for day in sorted(self.calls.keys() & set(days)):
            named = self.against[commit].get(day, {}) if commit else self.calls[day]
            of_day = strata[day] = {}
            for (stratum, case), (n, _) in self.calls[day].items():
                failed = named.get((stratum, case), (0, 0))[1]
                add(of_day, stratum, n, failed)
                of_case = cases.setdefault(case, [0, 0, day])
                of_case[0] += n
                of_case[1] += failed
        squares: defaultdict[int, list[int]] = defaultdict(lambda: [0, 0, 0])
        for n, failed, day in cases.values():
            for at, value in enumerate((n * n, n * failed, failed * failed)):
                squares[day][at] += value
        return [DayCount(day, of_day, *squares[day]) for day, of_day in strata.items()]


def add(counts: dict[_Key, tuple[int, int]], key: _Key, n: int, failed: int) -> None:
    """Add calls and failures to those with a key."""
    n_before, failed_before = counts.get(key, (0, 0))
    counts[key] = n_before + n, failed_before + failed


Log = Mapping[str, ToolLog]
"""The calls by tool, as the project names it."""


# --- The failure that a line of a description names: the calls that are against it.


def named_failure(lines: Iterable[str]) -> NamedFailure:
    """The failure that lines name together; all failures if one of them names none that a call shows."""
    advice = [parse_advice(line) for line in lines]
    clauses = tuple(clause for line in advice if line is not None for clause in line.clauses())
    is_complete = None not in advice and all(map(kind_of, clauses))
    return clauses if is_complete else ()


def places_against(
    failure: NamedFailure, tool: str, lines: Iterable[RecordLine], case_key: bytes = b""
) -> frozenset[tuple[int, int]]:
    """Where calls of a tool are against the lines: the offset of the request, and the call's place in it."""
    states = {hash_state(word, case_key): word for clause in failure for word in clause.items("states")}
    reader = RecordReader(b"", {}, {}, lambda: states)
    requests = (
        LoggedRequest(line.ts_us, 0, line.offset, "", False, 0, 0, reader.read(line).calls) for line in lines
    )
    return frozenset(
        (request.offset, call.number) for request in requests for call in against_of(request, tool, failure)
    )


def against_of(request: LoggedRequest, tool: str, failure: NamedFailure) -> list[LoggedCall]:
    """The calls of a tool in a request that are against lines."""
    places = (CallPlace(request, at) for at, call in enumerate(request.calls) if call.tool == tool)
    named = (place for place in places if not failure or any(is_against(line, place) for line in failure))
    return [place.call for place in named]


# --- The descriptions that models were sent.

_PREFIX: Final = "desc:"


_MAX_SENT: Final = 20
"""Sets of descriptions, the newest; agents of a project have a set each, or two in the days of a change."""


class _Tool(msgspec.Struct):
    name: str
    hash: str
    description: str = ""
    schema: Any = None


class _Tools(msgspec.Struct):
    tools: list[_Tool]


def last_sent(audit_dir: Path, descriptions: Iterable[str]) -> dict[str, list[str]]:
    """The description of each tool as models were last sent it, then those of its arguments.

    ``descriptions`` are the newest first.
    """
    texts: dict[str, list[str]] = {}
    for _, tool in sent_tools(audit_dir, descriptions):
        texts.setdefault(tool.name, [tool.description, *described_texts([tool.schema])])
    return texts


def described_texts(value: Any) -> Iterator[str]:
    """The descriptions in an object, at any depth."""
    for key, item in value.items() if isinstance(value, dict) else enumerate(value):
        if key == "description" and isinstance(item, str):
            yield item
        elif isinstance(item, dict | list):
            yield from described_texts(item)


def newest_sent(window: Window) -> list[str]:
    """The sets of descriptions that models were sent in a window, the last one first."""
    newest = Counter[str]()
    for group in window.requests:
        if group.alike.descriptions is not None:
            sent = group.alike.descriptions
            newest[sent] = max(newest[sent], *group.column("us"))
    return [sent for sent, _ in newest.most_common(_MAX_SENT)]


def sent_tools(audit_dir: Path, descriptions: Iterable[str]) -> Iterator[tuple[str, _Tool]]:
    """The tools that models were sent, with the set that they are of.

    ``descriptions`` are as recorded, ``desc:HASH``; ``audit_dir`` contains their folder. A set whose file is
    gone or damaged has no tools.
    """
    for name in descriptions:
        path = audit_dir / FOLDER / f"{name.removeprefix(_PREFIX)}.json"
        if path.parent.name == FOLDER:  # a record may name any path
            with suppress(OSError, ValueError, msgspec.DecodeError, RecursionError):
                sent = msgspec.json.decode(path.read_bytes(), type=_Tools)
                yield from ((name, tool) for tool in sent.tools)
