"""The causes of a tool's failed calls -> statements: a line for the docstring, and its evidence."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Final

from coreloop.learn.mine.cases import Cases, places_of
from coreloop.learn.mine.sample import Sample, count_providers
from coreloop.learn.mine.statistics import TwoSides, benjamini_hochberg, newcombe_interval
from coreloop.learn.mine.window import moment
from coreloop.learn.proposals.advice import Advice, advice, fails, statement_key
from coreloop.learn.proposals.counterexamples import SECTION
from coreloop.learn.proposals.statements import (
    MAX_NEAREST,
    MAX_Q,
    NearStatement,
    Sides,
    Statement,
    not_sure,
    too_few,
)
from coreloop.learn.proposals.vocabulary import Vocabulary
from coreloop.learn.refine.causes import Cause, CauseSearch, find_causes
from coreloop.learn.refine.features import Feature, ToolCalls, gather
from coreloop.learn.refine.remedies import find_remedy, has_worked_before

_MIN_FAILURES: Final = 3
_Places = list[tuple[int, int]]


@dataclass(frozen=True, slots=True)
class ConditionSearch:
    """Result of `find_conditions`.

    Attributes
    ----------
    statements : tuple of Statement
        Best first.
    places : mapping of str to list of (int, int)
        File and offset of the requests whose calls failed, by the statement's key.
    n_tests : int
        Number of tests.
    nearest : tuple of NearStatement
        The nearest misses.
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


def find_conditions(sample: Sample, words: Vocabulary) -> ConditionSearch:
    """Find the conditions under which the calls of each tool fail.

    Parameters
    ----------
    sample : Sample
        Requests call by call.
    words : Vocabulary
        Definitions of the tools; only declared values are written.

    Returns
    -------
    ConditionSearch
        Statements with a q-value of at most 0.05 over all tests that also hold on the held-out days, by
        failures that would be avoided per 1,000 requests.
    """
    values = {tool: words.values_by_hash(tool) for tool in sample.tools}
    failing = gather(sample, min_failures=_MIN_FAILURES)
    tools = [_search(tool_calls, sample, values[tool_calls.tool], words) for tool_calls in failing]
    tested = list(_with_q_values(tools, values, words))
    by_key: dict[str, tuple[Statement, _Places]] = {}
    for tool, cause, line, q_value in tested:
        if q_value <= MAX_Q:
            statement = _statement(tool, cause, line, sample, q_value=q_value)
            by_key.setdefault(statement.key, (statement, _places(tool, cause)))
    statements = (statement for statement, _ in by_key.values())
    ranked = sorted(statements, key=lambda statement: (-statement.avoided, statement.key))
    unsure = [(tool, line, not_sure(q_value)) for tool, _, line, q_value in tested if q_value > MAX_Q]
    few = [
        (tool, rule, too_few(cause.n_missing, "call"))
        for tool in tools
        for cause in tool.search.few
        if (rule := _sound_advice(tool, cause, values, words)) is not None
    ]
    nearest = (*unsure[:MAX_NEAREST], *few[:MAX_NEAREST])
    return ConditionSearch(
        statements=tuple(ranked),
        places={key: places for key, (_, places) in by_key.items()},
        n_tests=sum(len(tool.search.p_values) for tool in tools),
        nearest=tuple(NearStatement(tool.calls.tool, str(line), reason) for tool, line, reason in nearest),
    )


def _with_q_values(
    tools: Sequence[_Tool], values: Mapping[str, Mapping[int, str]], words: Vocabulary
) -> Iterator[tuple[_Tool, Cause, Advice, float]]:
    """Every cause with a sound line, and its q-value over the tests of all tools."""
    q_values = iter(benjamini_hochberg([p for tool in tools for p in tool.search.p_values]))
    for tool in tools:
        q_of = {p: next(q_values) for p in tool.search.p_values}
        for cause in tool.search.causes:
            line = _sound_advice(tool, cause, values, words)
            if line is not None:
                yield tool, cause, line, q_of[cause.combined_p]


def _search(tool_calls: ToolCalls, sample: Sample, values: Mapping[int, str], words: Vocabulary) -> _Tool:
    cases, listed = tool_calls.cases(sample), partial(words.listed, tool_calls.tool)
    features = filter(_is_plain, tool_calls.features(cases, values, sample.tools, listed=listed))
    return _Tool(tool_calls, cases, find_causes(cases, list(features)))


def _is_plain(feature: Feature) -> bool:
    """Whether its names are plain words: a feature that cannot be written must not replace another."""
    return fails((feature.condition,), "other").is_sound()


def _sound_advice(
    tool: _Tool, cause: Cause, values: Mapping[str, Mapping[int, str]], words: Vocabulary
) -> Advice | None:
    """The line, or None if a value or a name in the log is not a plain word."""
    line = _advice(tool, cause, values, words)
    return line if line.is_sound() else None


def _advice(tool: _Tool, cause: Cause, values: Mapping[str, Mapping[int, str]], words: Vocabulary) -> Advice:
    forms = {feature.condition.form for feature in cause.features}
    first = cause.features[0]
    if forms == {"without"} and _are_same(cause):
        names = {name for feature in cause.features for _, name in _slots(feature)}
        order = [*words.parameters(tool.calls.tool), *sorted(names)]
        return advice("always_pass", arguments=tuple(dict.fromkeys(name for name in order if name in names)))
    if len(cause.features) == 1 and first.condition.form in _IMPERATIVE:
        line = advice(_IMPERATIVE[first.condition.form], **dict(first.condition.slots))
        if not line.sends_to(tool.calls.tool):  # a tool cannot be called before itself: say that it fails
            return line
    if first.names:
        argument = dict(first.condition.slots)["pair"][0].partition("=")[0]
        return advice("one_of", argument=argument, values=first.names)
    handoff = words.settings.handoff
    remedy = find_remedy(tool.calls, cause, values, arguments=words.parameters, handoff=handoff)
    conditions = tuple(sorted((feature.condition for feature in cause.features), key=str))
    line = fails(conditions, _error_class(tool, cause), remedy)
    return line if line.is_sound() else fails(conditions, _error_class(tool, cause))  # without the remedy


def _are_same(cause: Cause) -> bool:
    """Whether its features always occur together; if calls fail only with both, avoiding either helps."""
    compared = cause.calls | cause.others
    return all(feature.calls & compared == cause.calls for feature in cause.features)


def _refuse_unproven_order(tool: _Tool, line: Advice) -> str | None:
    """Why the advice to call a tool before another is not proven; other forms advise what has worked."""
    if line.form != "call_before_same":
        return None
    slots = dict(line.slots)
    if has_worked_before(tool.calls, slots["tool"][0], slots["argument"][0]):
        return None
    return f"weak: calling it before {slots['tool'][0]} was not seen to work"


_IMPERATIVE: Final = {
    "with": "leave_out",
    "empty": "never_empty",
    "after_same": "call_before_same",
    "before_same": "call_after_same",
    "no_result": "from_result",
    "not_from": "source",
}
"""The form of a line for a single condition."""


def _slots(feature: Feature) -> Iterator[tuple[str, str]]:
    for name, items in feature.condition.slots:
        yield from ((name, item) for item in items)


def _error_class(tool: _Tool, cause: Cause) -> str:
    """The error class of most failures, or "" if it is unknown or other classes are as frequent."""
    classes = Counter(tool.calls.calls[place][2].error_class for place in _failed(tool, cause))
    name, n = classes.most_common(1)[0]
    return name if 2 * n > classes.total() and name != "other" else ""


def _failed(tool: _Tool, cause: Cause) -> Sequence[int]:
    return places_of(cause.calls & ~tool.cases.good)


def _places(tool: _Tool, cause: Cause) -> _Places:
    requests = (tool.calls.calls[place][0] for place in _failed(tool, cause))
    return [(request.file, request.offset) for request in requests]


def _statement(tool: _Tool, cause: Cause, advised: Advice, sample: Sample, *, q_value: float) -> Statement:
    cases, line = tool.cases, str(advised)
    held = _sides(cases, cause, cases.held)
    sides = _sides(cases, cause, cases.all)
    low, high = newcombe_interval([TwoSides(sides.n_ok, sides.n, sides.other_ok, sides.other_n)])
    good, other = sides.n_ok / sides.n, sides.other_ok / sides.other_n
    requests = [tool.calls.calls[place][0] for place in places_of(cause.calls | cause.others)]
    failed = [tool.calls.calls[place][0] for place in _failed(tool, cause)]
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
        providers=count_providers(failed),
        refused=_refuse_unproven_order(tool, advised),
    )


def _sides(cases: Cases, cause: Cause, subset: int) -> Sides:
    """Counts of the calls that follow the line, then of the others."""
    n_ok, n = cases.count(cause.others & subset)
    other_ok, other_n = cases.count(cause.calls & subset)
    return Sides(n_ok=n_ok, n=n, other_ok=other_ok, other_n=other_n)
