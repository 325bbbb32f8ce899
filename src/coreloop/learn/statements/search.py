"""The lines of each tool: all that kinds may say are tested; calls that one explains are out for the next."""

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from functools import partial
from statistics import mode
from types import MappingProxyType
from typing import Final, NamedTuple

from coreloop.learn.line import Advice, advice, keys_of, parse_advice
from coreloop.learn.proposals.allowed_lines import Vocabulary
from coreloop.learn.proposals.draft import merged_lines
from coreloop.learn.proposals.entry import CAVEATS, MAX_Q, MIN_CASES, StatementKind
from coreloop.learn.statements import kinds
from coreloop.learn.statements.cases import (
    AS_GOOD,
    MAX_SUCCESS,
    NumberedCalls,
    bits_of,
    compare,
    flags_of,
    has_several,
    iter_places,
)
from coreloop.learn.statements.kinds import KeyTally, Known, LineKind
from coreloop.learn.statements.logged_calls import CallPlace, CaseLog, last_third
from coreloop.learn.statements.values import Value
from coreloop.learn.statistics import benjamini_hochberg

_REASONS: Final = (
    *("only_while", "never_empty", "exactly_one at_least_one not_both", "always_pass leave_out"),
    *("one_of each_of", "fails at_most at_least", "before"),
)
_RANKS: Final = {form: rank for rank, forms in enumerate(_REASONS) for form in forms.split()}
"""Forms by how good a reason they are; all others are after them."""
_MIN_VALUES: Final = 3
"""Distinct values a side of a line about how values are written: fewer differ in case and length alike."""
_NAMED: Final = "no word such as null"
"""A shape whose values have names: one of them is enough."""
_LETTERS: Final = (("in lower case",), ("in upper case",))
"""Shapes that are said only if most values of both sides are written alike: ``User 8`` is not ``user8``."""
_MAX_ROUNDS: Final = 5  # a round explains one cause, and at most three lines are said
_ALIKE: Final = 0.8
"""Share of failed calls in common at which two lines name the same cause."""
_MAX_STATES: Final = 12  # of a field: one with more is no state
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
        return _RANKS.get(self.line.form, len(_REASONS))


class MergedSides(NamedTuple):
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
    places : sequence of CallPlace
        Its calls without retries; their index is the number in all sets.
    groups : callable
        What a kind of line reads of the calls.
    merged : tuple of MergedSides
        The promoted lines of its description.
    tested : tuple of LineHypothesis
        All, with what they explain and the p-value of all calls.
    said : tuple of LineHypothesis
        Those that explain failures, best first; none explains calls that an earlier one explains.
    """

    tool: str
    places: Sequence[CallPlace]
    calls: NumberedCalls
    groups: Callable[[LineKind], kinds.Groups]
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
    places: defaultdict[str, list[CallPlace]] = defaultdict(list)
    for request in log.requests:
        for index, call in enumerate(request.calls):
            if not call.retry:
                places[call.tool].append(CallPlace(request, index))
    since = last_third(log)
    opened = (
        ToolSearch(tool, own, evidence_calls(own, since), kinds.read_calls(own))
        for tool, own in sorted(places.items())
        if has_several((place.request.case for place in own if not place.call.ok), MIN_CASES)
    )
    searches = [_search_tool(search, words, merges, rejected) for search in opened]
    q_values = iter(benjamini_hochberg([one.p_value for search in searches for one in search.tested]))
    if log.is_one_day:
        return [replace(search, said=()) for search in searches]
    return [_corrected(search, q_values) for search in searches]


def _corrected(search: ToolSearch, q_values: Iterator[float]) -> ToolSearch:
    """The lines of a tool that are sure; ``q_values`` are those of what was tested, from this tool on."""
    by_line = {found.line: next(q_values) for found in search.tested}
    said = [replace(found, q_value=by_line[found.line]) for found in search.said]
    return replace(search, said=tuple(found for found in said if found.q_value <= MAX_Q))


def _search_tool(
    search: ToolSearch, words: Vocabulary, merges: Mapping[str, datetime], rejected: frozenset[str]
) -> ToolSearch:
    """Search the lines of a tool, not corrected for the number of tests."""
    calls, defined = search.calls, words.tool(search.tool)
    lag = timedelta(days=words.settings.effect.deploy_lag_days)
    lines = merged_lines(search.tool, defined, merges) if defined is not None else ()
    search = replace(search, merged=tuple(_merged_sides(search, line, at, lag) for line, at in lines))
    numbers = defined.numbers if defined is not None else frozenset()
    listed = partial(words.listed, search.tool)
    declares = partial(words.declares_state, tool=search.tool)
    errors = [0 if place.call.ok else place.call.template or 1 for place in search.places]
    known = Known(words.values_by_hash(search.tool), listed, numbers, words.tools, errors, declares)
    said: list[LineHypothesis] = []
    tested: list[LineHypothesis] = []
    everything = rest = (1 << calls.n) - 1
    for tried in (kinds.DIRECT, kinds.LAST):
        hypotheses = [*_tested(calls, _hypotheses(search, tried, known, rest, rejected), rest)]
        hypotheses = [found for found in hypotheses if not _is_misled(search, found)]
        tested += hypotheses
        rest = _step_down(calls, hypotheses, rest, said)
        if tried is kinds.DIRECT and any(found.line.form in _SPELLING for found in said):
            sources = _hypotheses(search, (kinds.SOURCE,), known, everything, rejected)
            fields = [found for found in sources if _comes_from_field(search.places, found)]
            said[:] = [_by_source(calls, found, fields) for found in said]
            tested += said
    by_line = {found.line: found for found in (*tested, *said)}
    return replace(search, tested=tuple(by_line.values()), said=tuple(said))


def _merged_sides(search: ToolSearch, line: Advice, merged: datetime, lag: timedelta) -> MergedSides:
    """A merged line; where calls against it do not nearly always fail, it accounts for none."""
    deviate = kinds.calls_against(line, search.groups, search.calls.n)
    since_us = int((merged + lag).timestamp() * 1e6)
    since = (number for number, place in enumerate(search.places) if place.request.ts_us >= since_us)
    accounts = deviate if search.calls.rate(deviate) <= MAX_SUCCESS else 0
    return MergedSides(line, merged, accounts, bits_of(since, search.calls.n))


def evidence_calls(places: Sequence[CallPlace], since: int) -> NumberedCalls:
    """Calls as evidence sees them; ``since`` is the first of the last days."""
    requests, n = [place.request for place in places], len(places)
    days = [request.day for request in requests]
    strata = [
        days,
        *([getattr(request, name) for request in requests] for name in ("model", "template")),
        # who is unknown is nobody else: one wrong value may leave a request without any identifier
        [request.owner or ~request.case for request in requests] if any(r.owner for r in requests) else [],
    ]
    return NumberedCalls(
        n,
        bits_of((number for number, place in enumerate(places) if place.call.ok), n),
        [request.case for request in requests],
        [stratum for stratum in strata if any(stratum)],
        bits_of((number for number, day in enumerate(days) if day >= since), n),
    )


def _step_down(
    calls: NumberedCalls, tested: Sequence[LineHypothesis], rest: int, said: list[LineHypothesis]
) -> int:
    """Add the best hypotheses to ``said``, each about calls that those before leave; return what is left."""
    for number in range(_MAX_ROUNDS):
        tested = [*_tested(calls, tested, rest)] if number else tested
        subjects = {found.line.subject() for found in said}
        sure = [found for found in tested if found.p_value <= MAX_Q and found.line.subject() not in subjects]
        if not sure:
            break
        best = _best(calls, sure)
        said.append(best)
        rest &= ~best.deviate
    return rest


def _tested(
    calls: NumberedCalls, hypotheses: Iterable[LineHypothesis], rest: int
) -> Iterator[LineHypothesis]:
    """Hypotheses on the rest of the calls, with their p-values, without those on too few cases."""
    for found in hypotheses:
        deviate, follow = found.deviate & rest, found.follow & rest
        p_value = compare(calls, follow, deviate)
        if p_value is not None:
            yield LineHypothesis(found.kind, found.line, deviate, follow, p_value)


def _best(calls: NumberedCalls, tested: Sequence[LineHypothesis]) -> LineHypothesis:
    """The surest hypothesis; among those about the same failures, the best reason."""
    first = min(tested, key=lambda found: (found.p_value, _errors(calls, found), found.rank))
    alike = [found for found in tested if _overlap(calls, found, first) >= _ALIKE]
    limit = AS_GOOD * min(_errors(calls, found) for found in alike) + 1
    good = (found for found in alike if _errors(calls, found) <= limit)
    return min(good, key=lambda found: (found.rank, _errors(calls, found), found.p_value))


def _comes_from_field(places: Sequence[CallPlace], found: LineHypothesis) -> bool:
    """Whether most values that deviate from a source are another field of a result, such as a name."""
    values = [*_values_of(places, found.line, found.deviate)]
    return 2 * sum(value.sources not in {None, ()} for value in values) > len(values)


def _is_misled(search: ToolSearch, found: LineHypothesis) -> bool:
    """Whether a field of its objects parts the calls as a source does, or a state those of two kinds."""
    calls = search.calls
    if found.kind == "state":
        return _is_of_others(search, found)
    for subject, keys in search.groups(kinds.STATE).items() if found.kind == "source" else ():
        sides = [bits_of(own, calls.n) & (found.deviate | found.follow) for own in keys.values()]
        if subject[0] == found.line.argument() and len(sides) <= _MAX_STATES:
            deviate = sum(side for side in sides if 2 * (side & calls.good).bit_count() <= side.bit_count())
            state = replace(found, deviate=deviate, follow=sum(sides) - deviate)
            limit = AS_GOOD * _errors(calls, found) + 1
            if _overlap(calls, state, found) >= _ALIKE and _errors(calls, state) <= limit:
                return calls.has_cases(state.deviate, state.follow) and not _is_of_others(search, state)
    return False


def _is_of_others(search: ToolSearch, state: LineHypothesis) -> bool:
    """Whether most objects with another state are of another kind: from elsewhere, and with other fields."""
    good, bad = ([*_values_of(search.places, state.line, side)] for side in (state.follow, state.deviate))
    sources = frozenset().union(*(value.sources or () for value in good))
    fields = {frozenset(value.saw) for value in good}
    others = [value for value in bad if value.sources and sources.isdisjoint(value.sources)]
    return 2 * sum(frozenset(value.saw) not in fields for value in others) > len(bad)


def _by_source(
    calls: NumberedCalls, found: LineHypothesis, sources: Sequence[LineHypothesis]
) -> LineHypothesis:
    """A line, or the source that explains as much of what it says by how a value is written."""
    if found.line.form not in _SPELLING:
        return found
    of_argument = [source for source in sources if source.line.argument() == found.line.argument()]
    limit = AS_GOOD * _errors(calls, found) + 1
    fitting = [
        source
        for source in _tested(calls, of_argument, found.deviate | found.follow)
        if source.p_value <= MAX_Q
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
    search: ToolSearch, tried: Sequence[LineKind], known: Known, rest: int, rejected: frozenset[str]
) -> list[LineHypothesis]:
    """A hypothesis for each pair of sides, said by the best reason; none about what was rejected."""
    by_sides: dict[tuple[int, int], LineHypothesis] = {}
    for kind in tried:
        of_kind = list(_of_kind(search, kind, known, rest, only_tested=not rejected))
        subjects = {
            found.line.subject()
            for found in of_kind
            if rejected and not rejected.isdisjoint(keys_of(search.tool, str(found.line), CAVEATS))
        }
        for found in of_kind:
            sides = found.deviate, found.follow
            if rejected and (found.line.subject() in subjects or not search.calls.has_cases(*sides)):
                continue
            before = by_sides.get(sides)
            if before is None or found.rank < before.rank:
                by_sides[sides] = found
            elif {before.line.form, found.line.form} == {"always_pass"}:
                names = before.line.items("arguments") + found.line.items("arguments")
                line = advice("always_pass", arguments=tuple(dict.fromkeys(names)))
                by_sides[sides] = replace(before, line=line)
    return list(by_sides.values())


def _of_kind(
    search: ToolSearch, kind: LineKind, known: Known, rest: int, *, only_tested: bool
) -> Iterator[LineHypothesis]:
    """The hypotheses of a kind; what takes longer to check is checked last."""
    calls = search.calls
    is_left, is_good = (flags_of(side, calls.n).__getitem__ for side in (rest, rest & calls.good))
    # of these two kinds, calls that show nothing may be a side
    least = MIN_CASES if kind in {kinds.PRESENCE, kinds.PRECONDITION} else 2 * MIN_CASES
    for subject, keys in search.groups(kind).items():
        if only_tested and sum(map(len, keys.values())) < least:
            continue
        counted = {
            key: KeyTally(sum(map(is_good, at)), sum(map(is_left, at)), at) for key, at in keys.items()
        }
        tallies = {key: tally for key, tally in counted.items() if tally.n}
        for line in kind.candidates(subject, tallies, known):
            deviate, follow = kinds.sides_of(kind.test(line), keys, calls.n)
            evidence = _evidence(search.merged, line, rest)
            found = LineHypothesis(kind.name, line, deviate & evidence, follow & evidence)
            if (
                (found.deviate and found.follow)
                and (not only_tested or calls.has_cases(found.deviate, found.follow))
                and _generalises(search.places, found)
                and parse_advice(str(line)) == line  # a slot with unsuitable text does not
            ):
                yield found


def _generalises(places: Sequence[CallPlace], found: LineHypothesis) -> bool:
    """Whether a line about how values are written has several a side; of one, it names a class nobody saw."""
    if found.line.form not in {*_SPELLING, "below"}:
        return True
    shape = found.line.items("shape")
    sides = (found.follow,) if shape == (_NAMED,) else (found.deviate, found.follow)
    values = [[*_values_of(places, found.line, side)] for side in sides]
    if shape in _LETTERS and len({mode(value.shape for value in of_side) for of_side in values}) > 1:
        return False
    return all(has_several(((one.value, one.length) for one in of_side), _MIN_VALUES) for of_side in values)


def _values_of(places: Sequence[CallPlace], line: Advice, side: int) -> Iterator[Value]:
    """The values of a line's argument in some calls."""
    name = kinds.slot(line, "argument")
    return (places[number].call.values[name] for number in iter_places(side))


def _evidence(merged: Iterable[MergedSides], line: Advice, rest: int) -> int:
    """The calls that say something about a line's subject: no merged line on another accounts for them.

    If a merged line is on the subject itself, only those that came since.
    """
    for other in merged:
        rest &= other.since if other.line.subject() == line.subject() else ~other.deviate
    return rest
