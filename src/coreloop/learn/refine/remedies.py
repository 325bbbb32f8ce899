"""Remedies for failed calls: the next successful call, or the same two calls in reverse order."""

from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Mapping
from typing import Final

from coreloop.learn.mine.cases import places_of
from coreloop.learn.mine.sample import SampledCall
from coreloop.learn.mine.statistics import fisher_exact, success_bound
from coreloop.learn.refine.causes import Cause
from coreloop.learn.refine.features import ToolCalls, pair

_MIN_CALLS: Final = 8
_MIN_SHARE: Final = 0.5
_SURE: Final = 0.01
_SAME_SHARE: Final = 0.9


def find_remedy(
    tool_calls: ToolCalls,
    cause: Cause,
    values: Mapping[str, Mapping[int, str]],
    *,
    arguments: Callable[[str], Collection[str]],
    handoff: Collection[str],
) -> str | None:
    """Find the call that worked instead, as written, or None if there is no clear remedy.

    Parameters
    ----------
    tool_calls : ToolCalls
        All calls of the tool that failed.
    cause : Cause
        Why they failed.
    values : mapping of str to mapping of int to str
        Declared values by tool and hash; other values are never written.
    arguments : callable
        Names of the arguments in a tool's signature; other names are never written.
    handoff : collection of str
        Tools that hand over to a human, which is not a remedy.

    Returns
    -------
    str or None
        Such as ``escalate(team="billing")``: called after at least half of eight or more failures (lower
        bound), and more often than after this tool's other calls.
    """
    after = {place: _next_ok(tool_calls, place) for place in places_of(cause.calls | cause.others)}
    failed = [place for place in places_of(cause.calls) if not tool_calls.calls[place][2].ok]
    others = [after[place] for place in after.keys() - set(failed)]
    next_tools = Counter(call.tool for place in failed if (call := after[place]) is not None)
    for tool, n in next_tools.most_common(1):
        n_other = sum(call is not None and call.tool == tool for call in others)
        is_usual = success_bound(n, len(failed)) > _MIN_SHARE
        if n < _MIN_CALLS or not is_usual or tool in {*handoff, tool_calls.tool}:
            return None
        if n / len(failed) <= n_other / max(1, len(others)):
            return None
        if fisher_exact(n, len(failed), n_other, len(others)) > _SURE:
            return None
        calls = [call for place in failed if (call := after[place]) is not None and call.tool == tool]
        return _written(tool, calls, values.get(tool, {}), arguments(tool))
    return None


def has_worked_before(tool_calls: ToolCalls, tool: str, argument: str) -> bool:
    """Whether a call has succeeded before a successful call of ``tool`` with the same value.

    An order that cannot be exchanged after its address was changed may also fail before: the change may be
    a sign of the order's state and not the cause.
    """
    n_worked = 0
    for request, at, call in tool_calls.calls:
        value = _value(call, argument)
        if call.ok and value:
            later = (after for after in request.calls[at + 1 :] if after.ok and after.tool == tool)
            n_worked += any(_value(after, argument) == value for after in later)
    return n_worked >= _MIN_CALLS


def _value(call: SampledCall, argument: str) -> int | None:
    sampled = call.arguments.get(argument)
    return sampled.value if sampled is not None else None


def _next_ok(tool_calls: ToolCalls, place: int) -> SampledCall | None:
    request, at, _ = tool_calls.calls[place]
    return next((call for call in request.calls[at + 1 :] if call.ok), None)


def _written(
    tool: str, calls: list[SampledCall], declared: Mapping[int, str], arguments: Collection[str]
) -> str:
    """The tool with the declared values that nearly all calls have in common."""
    counts: defaultdict[str, Counter[str]] = defaultdict(Counter)
    for call in calls:
        for name, argument in call.arguments.items():
            if argument.value in declared and name in arguments:
                counts[name][declared[argument.value]] += 1
    most_common = {name: texts.most_common(1)[0] for name, texts in counts.items()}
    limit = _SAME_SHARE * len(calls)
    pairs = [pair(name, text) for name, (text, n) in most_common.items() if n >= limit and '"' not in text]
    return f"{tool}({', '.join(pairs)})" if pairs else tool
