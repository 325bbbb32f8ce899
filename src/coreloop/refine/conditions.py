"""From the causes of a tool's failed calls to statements: what a docstring should say, and its evidence."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from coreloop.mine.cases import Cases, places_of
from coreloop.mine.sample import Sample, count_providers
from coreloop.mine.statistics import TwoSides, benjamini_hochberg, newcombe_interval
from coreloop.mine.window import moment
from coreloop.proposals.advice import Advice, advice, fails, statement_key
from coreloop.proposals.counterexamples import SECTION
from coreloop.proposals.statements import (
    MAX_NEAREST,
    MAX_Q,
    NearStatement,
    Sides,
    Statement,
    not_sure,
    too_few,
)
from coreloop.proposals.vocabulary import Vocabulary
from coreloop.refine.causes import Cause, CauseSearch, find_causes
from coreloop.refine.features import Feature, ToolCalls, gather
from coreloop.refine.remedies import find_remedy, has_worked_before

_LEAST_FAILURES: Final = 3
_Places = list[tuple[int, int]]


@dataclass(frozen=True, slots=True)
class FoundConditions:
    """What was found.

    Attributes
    ----------
    statements : tuple of Statement
        Best first.
    places : mapping of str to list of (int, int)
        File and offset of the requests whose calls failed, by the statement's key.
    n_tests : int
        Everything that was tested.
    nearest : tuple of NearStatement
        Those that fell closest.
    """

    statements: tuple[Statement, ...]
    places: Mapping[str, _Places]
    n_tests: int
    nearest: tuple[NearStatement, ...] = ()


@dataclass(frozen=True, slots=True)
class _Tool:
    calls: ToolCalls
    cases: Cases
    search: CauseSearch


def find_conditions(sample: Sample, words: Vocabulary) -> FoundConditions:
    """Find what sets apart the failed calls of each tool that fails.

    Parameters
    ----------
    sample : Sample
        Requests call by call.
    words : Vocabulary
        Definitions of the tools; only values that they declare are named.

    Returns
    -------
    FoundConditions
        Statements with a q of at most 0.05 over everything that was tested, whose sign holds on the last
        days; by failures that would be avoided per 1,000 requests.
    """
    values = {tool: words.values_by_hash(tool) for tool in sample.tools}
    tools = [_search(found, sample, values[found.tool]) for found in _failing(sample)]
    weighed = list(_weighed(tools, values, words))
    found: dict[str, tuple[Statement, _Places]] = {}
    for tool, cause, said, q_value in weighed:
        if q_value <= MAX_Q:
            statement = _statement(tool, cause, said, sample, q_value=q_value)
            found.setdefault(statement.key, (statement, _places(tool, cause)))
    ranked = sorted((one for one, _ in found.values()), key=lambda one: (-one.avoided, one.key))
    unsure = [(tool, said, not_sure(q_value)) for tool, _, said, q_value in weighed if q_value > MAX_Q]
    few = [
        (tool, nearly, too_few(cause.n_missing, "call"))
        for tool in tools
        for cause in tool.search.few
        if (nearly := _advice(tool, cause, values, words)) is not None
    ]
    nearest = (*unsure[:MAX_NEAREST], *few[:MAX_NEAREST])
    return FoundConditions(
        statements=tuple(ranked),
        places={key: where for key, (_, where) in found.items()},
        n_tests=sum(len(tool.search.p_values) for tool in tools),
        nearest=tuple(NearStatement(tool.calls.tool, str(said), reason) for tool, said, reason in nearest),
    )


def _weighed(
    tools: Sequence[_Tool], values: Mapping[str, Mapping[int, str]], words: Vocabulary
) -> Iterator[tuple[_Tool, Cause, Advice, float]]:
    """Every cause that can be said, with its q over everything that was tested in all tools."""
    q_values = iter(benjamini_hochberg([p for tool in tools for p in tool.search.p_values]))
    for tool in tools:
        q_of = {p: next(q_values) for p in tool.search.p_values}
        for cause in tool.search.causes:
            said = _advice(tool, cause, values, words)
            if said is not None:
                yield tool, cause, said, q_of[cause.combined_p]


def _failing(sample: Sample) -> list[ToolCalls]:
    return gather(sample, least_failures=_LEAST_FAILURES)


def _search(found: ToolCalls, sample: Sample, values: Mapping[int, str]) -> _Tool:
    cases = found.cases(sample)
    features = [one for one in found.features(cases, values, sample.tools) if _is_sayable(one)]
    return _Tool(found, cases, find_causes(cases, features))


def _is_sayable(feature: Feature) -> bool:
    """Whether its names are plain words: one that cannot be said must not stand in for one that can."""
    return fails((feature.condition,), "other").is_sound()


def _advice(
    tool: _Tool, cause: Cause, values: Mapping[str, Mapping[int, str]], words: Vocabulary
) -> Advice | None:
    """The line; None where a value, or a name that only a log has, is no plain word."""
    said = _said(tool, cause, values, words)
    return said if said.is_sound() else None


def _said(tool: _Tool, cause: Cause, values: Mapping[str, Mapping[int, str]], words: Vocabulary) -> Advice:
    forms = {feature.condition.form for feature in cause.features}
    first = cause.features[0]
    if forms == {"without"} and _are_same(cause):
        names = {name for feature in cause.features for _, name in _slots(feature)}
        order = [*words.parameters(tool.calls.tool), *sorted(names)]
        return advice("always_pass", arguments=tuple(dict.fromkeys(one for one in order if one in names)))
    if len(cause.features) == 1 and first.condition.form in _IMPERATIVE:
        said = advice(_IMPERATIVE[first.condition.form], **dict(first.condition.slots))
        if not said.sends_to(tool.calls.tool):  # "call before itself" is no advice; that it fails is
            return said
    if first.names:
        argument = dict(first.condition.slots)["pair"][0].partition("=")[0]
        return advice("one_of", argument=argument, values=first.names)
    handoff = words.settings.handoff
    instead = find_remedy(tool.calls, cause, values, arguments=words.parameters, handoff=handoff)
    conditions = tuple(sorted((feature.condition for feature in cause.features), key=str))
    said = fails(conditions, _error_class(tool, cause), instead)
    return said if said.is_sound() else replace(said, slots=said.slots[:1])  # without what worked instead


def _are_same(cause: Cause) -> bool:
    """Whether its features go together always; of two that fail only together, either helps."""
    told = cause.calls | cause.others
    return all(feature.calls & told == cause.calls for feature in cause.features)


def _one_way(tool: _Tool, said: Advice) -> str | None:
    """Why to call a tool before another is no advice; of all other forms, the better side is what worked."""
    if said.form != "call_before_same":
        return None
    slots = dict(said.slots)
    if has_worked_before(tool.calls, slots["tool"][0], slots["argument"][0]):
        return None
    return f"weak: calling it before {slots['tool'][0]} was not seen to work"


_IMPERATIVE: Final = {
    "with": "leave_out",
    "empty": "never_empty",
    "after_same": "call_before_same",
    "before_same": "call_after_same",
    "right_after": "not_right_after",
    "no_result": "from_result",
    "not_from": "source",
}
"""The form of a line for a condition that stands alone."""


def _slots(feature: Feature) -> Iterator[tuple[str, str]]:
    for name, items in feature.condition.slots:
        yield from ((name, item) for item in items)


def _error_class(tool: _Tool, cause: Cause) -> str:
    """What most of the failures are; ``other`` where no class is most of them."""
    classes = Counter(tool.calls.calls[place][2].error_class for place in _failed(tool, cause))
    name, n = classes.most_common(1)[0]
    return name if 2 * n > classes.total() else "other"


def _failed(tool: _Tool, cause: Cause) -> Sequence[int]:
    return places_of(cause.calls & ~tool.cases.good)


def _places(tool: _Tool, cause: Cause) -> _Places:
    requests = (tool.calls.calls[place][0] for place in _failed(tool, cause))
    return [(request.file, request.offset) for request in requests]


def _statement(tool: _Tool, cause: Cause, said: Advice, sample: Sample, *, q_value: float) -> Statement:
    cases, line = tool.cases, str(said)
    held = _sides(cases, cause, cases.held)
    sides = _sides(cases, cause, cases.all)
    low, high = newcombe_interval([TwoSides(sides.n_ok, sides.n, sides.other_ok, sides.other_n)])
    good, other = sides.n_ok / sides.n, sides.other_ok / sides.other_n
    requests = [tool.calls.calls[place][0] for place in places_of(cause.calls | cause.others)]
    under = [tool.calls.calls[place][0] for place in _failed(tool, cause)]
    return Statement(
        key=statement_key(tool.calls.tool, line, SECTION),
        kind="condition",
        tool=tool.calls.tool,
        line=line,
        sides=sides,
        held=held,
        n_questions=min(cases.n_questions(cause.calls), cases.n_questions(cause.others)),
        difference=good - other,
        low=low,
        high=high,
        q_value=q_value,
        avoided=1000 * sides.other_n * (good - other) / len(sample.requests),
        first_seen=moment(requests[0].ts_us),
        last_seen=moment(requests[-1].ts_us),
        providers=count_providers(under),
        refused=_one_way(tool, said),
    )


def _sides(cases: Cases, cause: Cause, among: int) -> Sides:
    """The calls that do as the line says come first."""
    n_ok, n = cases.count(cause.others & among)
    other_ok, other_n = cases.count(cause.calls & among)
    return Sides(n_ok=n_ok, n=n, other_ok=other_ok, other_n=other_n)
