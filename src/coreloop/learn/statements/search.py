"""The lines of each tool: all that kinds may say are tested; calls that one explains are out for the next."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from types import MappingProxyType
from typing import Final

from coreloop.learn.line import Advice, advice, keys_of
from coreloop.learn.proposals.allowed_lines import Vocabulary
from coreloop.learn.proposals.draft import merged_lines
from coreloop.learn.proposals.entry import CAVEATS, MAX_Q, MIN_CASES, StatementKind
from coreloop.learn.statements.cases import (
    MAX_SUCCESS,
    NumberedCalls,
    bits_of,
    compare,
    iter_places,
)
from coreloop.learn.statements.kinds import (
    AS_GOOD,
    DIRECT,
    LAST,
    SOURCE,
    Key,
    KeyTally,
    Known,
    LineKind,
    Subject,
    is_against,
    slot,
)
from coreloop.learn.statements.logged_calls import CallPlace, CaseLog, last_third
from coreloop.learn.statements.values import Value
from coreloop.learn.statistics import benjamini_hochberg

_REASONS: Final = (
    *("only_while", "never_empty", "always_pass leave_out", "one_of", "fails at_most at_least", "before"),
)
"""Forms by how good a reason they are; all others are after them."""
MIN_DAYS: Final = 2  # the last third of the days has to agree with the others
_MIN_VALUES: Final = 3
"""Distinct values a side of a line about how values are written: fewer differ in case and length alike."""
_NAMED: Final = "no word such as null"
"""A shape whose values have names: one of them is enough."""
_MAX_ROUNDS: Final = 5  # a round explains one cause, and at most three lines are said
_ALIKE: Final = 0.8
"""Share of failed calls in common at which two lines name the same cause."""
_SPELLING: Final = frozenset({"written", "prefix"})
"""How an id is written: a name in its place differs in case, too, and that is not why the call fails."""


@dataclass(frozen=True, slots=True)
class LineHypothesis:
    """A line that a tool's calls may speak for, and the sets of calls that deviate from it or follow it."""

    kind: StatementKind
    line: Advice
    deviate: int
    follow: int
    p_value: float = 1.0
    q_value: float = 1.0

    @property
    def rank(self) -> int:
        """Among lines about the same calls, the lowest is the best reason."""
        ranks = (rank for rank, forms in enumerate(_REASONS) if self.line.form in forms.split())
        return next(ranks, len(_REASONS))


@dataclass(frozen=True, slots=True)
class MergedSides:
    """A promoted line, and the sets of calls that it accounts for, and that came since.

    Since then every model has it.
    """

    line: Advice
    merged: datetime
    deviate: int
    since: int


@dataclass(frozen=True, slots=True)
class ToolSearch:
    """What was found of a tool.

    Attributes
    ----------
    places : tuple of CallPlace
        Its calls without retries; their index is the number in all sets.
    merged : tuple of MergedSides
        The promoted lines of its description.
    tested : tuple of LineHypothesis
        All, with what they explain and the p-value of all calls.
    said : tuple of LineHypothesis
        Those that explain failures, best first; none explains calls that an earlier one explains.
    """

    tool: str
    places: tuple[CallPlace, ...]
    calls: NumberedCalls
    merged: tuple[MergedSides, ...] = ()
    tested: tuple[LineHypothesis, ...] = ()
    said: tuple[LineHypothesis, ...] = ()


def search_tools(
    log: CaseLog,
    words: Vocabulary,
    merges: Mapping[str, datetime] = MappingProxyType({}),
    rejected: frozenset[str] = frozenset(),
) -> list[ToolSearch]:
    """Search the lines of every tool that fails in at least three cases.

    Parameters
    ----------
    log : CaseLog
        Of a window.
    words : Vocabulary
        Definitions of the tools; only declared values are written.
    merges : mapping of str to datetime, optional
        When each promoted key was merged: evidence on such a line is what came since, and calls that it
        explains are evidence on no other.
    rejected : frozenset of str, optional
        Keys of lines that were rejected: their subjects are not said, and their calls are left to others.

    Returns
    -------
    list of ToolSearch
        By tool. ``said`` has a q-value of at most 0.05 over the hypotheses of all tools.
    """
    failing: defaultdict[str, set[int]] = defaultdict(set)
    for request in log.requests:
        for call in request.calls:
            if not (call.ok or call.retry):
                failing[call.tool].add(request.case)
    tools = sorted(tool for tool, cases in failing.items() if len(cases) >= MIN_CASES)
    searches = [_search_tool(log, tool, words, merges, rejected) for tool in tools]
    tested = [(search.tool, found) for search in searches for found in search.tested]
    q_values = benjamini_hochberg([found.p_value for _, found in tested])
    by_line = {(tool, found.line): q for (tool, found), q in zip(tested, q_values, strict=True)}
    has_dates = not any(request.undated for request in log.requests)
    if has_dates and len(log.days) < MIN_DAYS:  # the last days have to agree
        return [replace(search, said=()) for search in searches]
    return [_corrected(search, by_line) for search in searches]


def _corrected(search: ToolSearch, q_values: Mapping[tuple[str, Advice], float]) -> ToolSearch:
    said = [replace(found, q_value=q_values[search.tool, found.line]) for found in search.said]
    return replace(search, said=tuple(found for found in said if found.q_value <= MAX_Q))


def _search_tool(
    log: CaseLog, tool: str, words: Vocabulary, merges: Mapping[str, datetime], rejected: frozenset[str]
) -> ToolSearch:
    """Search the lines of a tool, not corrected for the number of tests."""
    places = tuple(log.places(tool))
    calls = evidence_calls(log, places)
    defined, lag = words.tool(tool), timedelta(days=words.settings.effect.deploy_lag_days)
    lines = merged_lines(tool, defined, merges) if defined is not None else ()
    merged = tuple(_merged_sides(places, calls, line, at, lag) for line, at in lines)
    search = ToolSearch(tool, places, calls, merged)
    known = Known.of(words, tool)
    said: list[LineHypothesis] = []
    tested: list[LineHypothesis] = []
    everything = rest = (1 << calls.n) - 1
    for kinds in (DIRECT, LAST):
        hypotheses = _hypotheses(search, kinds, known, rest, rejected)
        tested += [found for one in hypotheses if (found := _tested(calls, one, rest)) is not None]
        rest = _step_down(calls, hypotheses, rest, said)
        if kinds is DIRECT and any(found.line.form in _SPELLING for found in said):
            sources = _hypotheses(search, (SOURCE,), known, everything, rejected)
            fields = [found for found in sources if _comes_from_field(places, found)]
            said[:] = [_by_source(calls, found, fields) for found in said]
            tested += said
    by_line = {found.line: found for found in (*tested, *said)}
    return replace(search, tested=tuple(by_line.values()), said=tuple(said))


def _merged_sides(
    places: Sequence[CallPlace], calls: NumberedCalls, line: Advice, merged: datetime, lag: timedelta
) -> MergedSides:
    """A merged line; where calls against it do not nearly always fail, it accounts for none."""
    numbers = (number for number, place in enumerate(places) if is_against(line, place))
    deviate = bits_of(numbers, calls.n)
    since_us = int((merged + lag).timestamp() * 1e6)
    since = (number for number, place in enumerate(places) if place.request.ts_us >= since_us)
    accounts = deviate if calls.rate(deviate) <= MAX_SUCCESS else 0
    return MergedSides(line, merged, accounts, bits_of(since, calls.n))


def evidence_calls(log: CaseLog, places: Sequence[CallPlace]) -> NumberedCalls:
    """Calls as evidence sees them."""
    requests = [place.request for place in places]
    since, n = last_third(log), len(places)
    strata = [
        [request.day for request in requests],
        *([getattr(request, name) for request in requests] for name in ("model", "template")),
        # who is unknown is nobody else: one wrong value may leave a request without any identifier
        [request.owner or ~request.case for request in requests] if any(r.owner for r in requests) else [],
    ]
    return NumberedCalls(
        n,
        bits_of((number for number, place in enumerate(places) if place.call.ok), n),
        [request.case for request in requests],
        [stratum for stratum in strata if any(stratum)],
        bits_of((number for number, request in enumerate(requests) if request.day >= since), n),
    )


def _step_down(
    calls: NumberedCalls, hypotheses: Sequence[LineHypothesis], rest: int, said: list[LineHypothesis]
) -> int:
    """Add the best hypotheses to ``said``, each about calls that those before leave; return what is left."""
    for _ in range(_MAX_ROUNDS):
        subjects = {found.line.subject() for found in said}
        tested = [
            found
            for hypothesis in hypotheses
            if hypothesis.line.subject() not in subjects
            and (found := _tested(calls, hypothesis, rest)) is not None
            and found.p_value <= MAX_Q
        ]
        if not tested:
            break
        best = _best(calls, tested)
        said.append(best)
        rest &= ~best.deviate
    return rest


def _tested(calls: NumberedCalls, found: LineHypothesis, rest: int) -> LineHypothesis | None:
    deviate, follow = found.deviate & rest, found.follow & rest
    p_value = compare(calls, follow, deviate)
    return None if p_value is None else replace(found, deviate=deviate, follow=follow, p_value=p_value)


def _best(calls: NumberedCalls, tested: Sequence[LineHypothesis]) -> LineHypothesis:
    """The surest hypothesis; among those about the same failures, the best reason."""
    first = min(tested, key=lambda found: (found.p_value, _errors(calls, found), found.rank))
    alike = [found for found in tested if _overlap(calls, found, first) >= _ALIKE]
    limit = AS_GOOD * min(_errors(calls, found) for found in alike) + 1
    good = (found for found in alike if _errors(calls, found) <= limit)
    return min(good, key=lambda found: (found.rank, _errors(calls, found), found.p_value))


def _comes_from_field(places: Sequence[CallPlace], found: LineHypothesis) -> bool:
    """Whether most values that deviate from a source are another field of a result, such as a name."""
    values = _values_of(places, found.line, found.deviate)
    return 2 * sum(value.sources not in {None, ()} for value in values) > len(values)


def _by_source(
    calls: NumberedCalls, found: LineHypothesis, sources: Sequence[LineHypothesis]
) -> LineHypothesis:
    """A line, or the source that explains as much of what it says by how a value is written."""
    if found.line.form not in _SPELLING:
        return found
    of_argument = [source for source in sources if source.line.argument() == found.line.argument()]
    tested = [_tested(calls, source, found.deviate | found.follow) for source in of_argument]
    limit = AS_GOOD * _errors(calls, found) + 1
    fitting = [
        source
        for source in tested
        if source is not None
        and source.p_value <= MAX_Q
        and _overlap(calls, source, found) >= _ALIKE
        and _errors(calls, source) <= limit
    ]
    return min(fitting, key=lambda source: source.p_value, default=found)


def _errors(calls: NumberedCalls, found: LineHypothesis) -> int:
    """Calls about which a line is wrong."""
    return (found.deviate & calls.good).bit_count() + (found.follow & ~calls.good).bit_count()


def _overlap(calls: NumberedCalls, found: LineHypothesis, other: LineHypothesis) -> float:
    union = (found.deviate | other.deviate) & ~calls.good
    return (found.deviate & other.deviate & ~calls.good).bit_count() / (union.bit_count() or 1)


def _hypotheses(
    search: ToolSearch, kinds: Sequence[LineKind], known: Known, rest: int, rejected: frozenset[str]
) -> list[LineHypothesis]:
    """A hypothesis for each pair of sides, said by the best reason; none about what was rejected."""
    by_sides: dict[tuple[int, int], LineHypothesis] = {}
    for kind in kinds:
        of_kind = list(_of_kind(search, kind, known, rest))
        subjects = {
            found.line.subject()
            for found in of_kind
            if rejected and not rejected.isdisjoint(keys_of(search.tool, str(found.line), CAVEATS))
        }
        for found in of_kind:
            if found.line.subject() in subjects:
                continue
            sides = found.deviate, found.follow
            before = by_sides.get(sides)
            if before is None or found.rank < before.rank:
                by_sides[sides] = found
            elif {before.line.form, found.line.form} == {"always_pass"}:
                by_sides[sides] = replace(before, line=_both(before.line, found.line))
    return list(by_sides.values())


def _both(line: Advice, other: Advice) -> Advice:
    names = dict(line.slots)["arguments"] + dict(other.slots)["arguments"]
    return advice("always_pass", arguments=tuple(dict.fromkeys(names)))


def _of_kind(search: ToolSearch, kind: LineKind, known: Known, rest: int) -> Iterator[LineHypothesis]:
    places, calls = search.places, search.calls
    for subject, keys in grouped(places, kind, calls.n).items():
        left = {key: bits & rest for key, bits in keys.items()}
        tallies = {
            key: KeyTally((bits & calls.good).bit_count(), bits.bit_count())
            for key, bits in left.items()
            if bits
        }
        for line in kind.candidates(subject, tallies, known):
            evidence = rest & _evidence(search.merged, line.subject(), calls.n)
            deviate, follow = (side & evidence for side in sides_of(kind, line, left))
            if deviate and follow and line.is_sound() and _generalises(places, line, deviate, follow):
                yield LineHypothesis(kind.name, line, deviate, follow)


def _generalises(places: Sequence[CallPlace], line: Advice, deviate: int, follow: int) -> bool:
    """Whether a line about how values are written has several a side; of one, it names a class nobody saw."""
    if line.form not in {"written", "prefix"}:
        return True
    is_named = line.form == "written" and slot(line, "shape") == _NAMED
    sides = (follow,) if is_named else (deviate, follow)
    return all(
        len({(value.value, value.length) for value in _values_of(places, line, side)}) >= _MIN_VALUES
        for side in sides
    )


def _values_of(places: Sequence[CallPlace], line: Advice, side: int) -> list[Value]:
    """The values of a line's argument in some calls."""
    return [places[number].call.values[slot(line, "argument")] for number in iter_places(side)]


def _evidence(merged: Iterable[MergedSides], subject: tuple[str, ...], n: int) -> int:
    """The calls that say something about a subject: no merged line on another subject accounts for them.

    If a merged line is on the subject itself, only those that came since.
    """
    calls = (1 << n) - 1
    for line in merged:
        calls &= line.since if line.line.subject() == subject else ~line.deviate
    return calls


def grouped(places: Sequence[CallPlace], kind: LineKind, n: int) -> dict[Subject, dict[Key, int]]:
    """The sets of calls by what a kind reads of them; None stands for calls that show nothing."""
    numbers: defaultdict[Subject, defaultdict[Key, list[int]]] = defaultdict(lambda: defaultdict(list))
    for number, place in enumerate(places):
        for subject, key in dict(kind.reads(place)).items():
            numbers[subject][key].append(number)
    groups: dict[Subject, dict[Key, int]] = {}
    for subject, of_key in numbers.items():
        groups[subject] = {key: bits_of(calls, n) for key, calls in of_key.items()}
        shown = bits_of((number for calls in of_key.values() for number in calls), n)
        groups[subject][None] = ((1 << n) - 1) & ~shown
    return groups


def sides_of(kind: LineKind, line: Advice, keys: Mapping[Key, int]) -> tuple[int, int]:
    """The calls that deviate from a line, and those that follow it."""
    deviate = follow = 0
    for key, bits in keys.items():
        deviates = kind.deviates(line, key)
        if deviates is not None:
            deviate, follow = (deviate | bits, follow) if deviates else (deviate, follow | bits)
    return deviate, follow
