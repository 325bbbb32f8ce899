"""The table of errors: each tool's errors without values, what they cost, and who can mend them."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import reduce
from operator import and_, or_
from typing import Final

from coreloop.base.error_classes import TRANSIENT
from coreloop.base.project.tools import Tool
from coreloop.learn.proposals.task import Cause, ErrorRow, Mender, cause_text, task_of
from coreloop.learn.proposals.vocabulary import Vocabulary
from coreloop.learn.statements.line_sentences import Language
from coreloop.learn.statements.logged_calls import CaseLog
from coreloop.learn.statements.search import LineHypothesis, MergedSides, ToolSearch
from coreloop.learn.statements.sets import bits_of
from coreloop.observe.reading.error_texts import unwrapped

MAX_ERRORS: Final = 100
"""Rows of the table: what comes after costs next to nothing."""
_MAX_NEAREST: Final = 2
_MOST: Final = 0.5  # a majority
_MENDERS: Final[dict[str, Mender]] = {"auth": "policy", "not_found": "user", "invalid_argument": "schema"}
"""By class of error; any other, such as a timeout, is the tool's own."""


def error_table(
    log: CaseLog,
    searches: Sequence[ToolSearch],
    *,
    words: Vocabulary,
    language: Language = "en",
) -> tuple[ErrorRow, ...]:
    """The errors of all tools, those that cost most requests first, then most calls.

    A tool that the project does not define has no text that could be mended: its lines are only nearest.
    """
    by_tool = {
        search.tool: search if words.is_known(search.tool) else replace(search, said=())
        for search in searches
    }
    groups: dict[tuple[str, int], list[tuple[int, int]]] = {}
    for number, request in enumerate(log.requests):
        for index, call in enumerate(request.calls):
            if not call.ok:
                groups.setdefault((call.tool, call.template), []).append((number, index))
    rows = [
        _row(log, (tool, template), calls, _Known(words.tool(tool), by_tool.get(tool), language))
        for (tool, template), calls in groups.items()
    ]
    return tuple(sorted(rows, key=lambda row: (-row.n_lost, -row.n_calls, row.tool, row.error)))[:MAX_ERRORS]


@dataclass(frozen=True, slots=True)
class _Known:
    """What is known of a tool: its definition, and the lines about it."""

    tool: Tool | None
    search: ToolSearch | None
    language: Language


def _row(log: CaseLog, group: tuple[str, int], calls: Sequence[tuple[int, int]], known: _Known) -> ErrorRow:
    tool, template = group
    requests = [log.requests[number] for number in dict(calls)]
    failed = [log.requests[number].calls[index] for number, index in calls]
    earlier = (
        sum(call.tool == tool for call in log.requests[number].calls[:index]) for number, index in calls
    )
    error_class = failed[0].error_class
    explained = _explained(known.search, template) if known.search is not None else _Explained()
    row = ErrorRow(
        tool=tool,
        error=unwrapped(log.errors.get(template, "")),
        error_class=error_class,
        mender=explained.mender
        or ("tool" if error_class in TRANSIENT else _MENDERS.get(error_class, "tool")),
        n_calls=len(calls),
        n_lost=sum(request.lost for request in requests),
        n_documented=explained.n_documented,
        n_cases=len({request.case for request in requests}),
        n_recovered=sum(call.recovered for call in failed),
        n_repeated=sum(n >= 2 for n in earlier),
        merged=tuple(map(cause_text, explained.merged)),
        nearest=tuple(cause_text(cause, known.language) for cause in explained.nearest),
    )
    return replace(row, task=task_of(known.tool, row, merged=explained.merged, nearest=explained.nearest))


@dataclass(frozen=True, slots=True)
class _Explained:
    """What lines say about an error; see `ErrorRow`."""

    mender: Mender | None = None
    merged: tuple[Cause, ...] = ()
    n_documented: int = 0
    nearest: tuple[Cause, ...] = ()


def _explained(search: ToolSearch, template: int) -> _Explained:
    """What lines say about an error: the merged ones, then about the rest of its calls the proposed ones."""
    places = (number for number, place in enumerate(search.places) if place.call.template == template)
    failed = bits_of(places, search.calls.n)
    against = reduce(or_, (line.deviate for line in search.merged), 0)
    bad = ~search.calls.good
    about = (line for line in search.merged if _is_about(line.deviate & bad, failed))
    merged = tuple(_merged(line, failed) for line in about)
    if _is_most(against & failed, failed):
        return _Explained("merged", merged)
    rest = failed & ~against
    if _is_proposed(search, rest):
        return _Explained("text", merged)
    return _Explained(None, merged, _documented(search.merged, rest), _nearest(search, rest))


def _is_about(against: int, failed: int) -> bool:
    """Whether failures against a line are most of an error's, or mostly of this error."""
    return _is_most(against & failed, failed) or _is_most(against & failed, against)


def _merged(line: MergedSides, failed: int) -> Cause:
    against = line.deviate & failed
    n_since = (against & line.since).bit_count()
    return Cause(line.merged.line, against.bit_count(), n_since, line.merged.merged)


def _documented(merged: Sequence[MergedSides], calls: int) -> int:
    """How many calls follow a merged line, and came since all of them are in force."""
    since = reduce(and_, (line.since for line in merged), calls)
    return (since & reduce(or_, (line.follow for line in merged), 0)).bit_count()


def _is_proposed(search: ToolSearch, failed: int) -> bool:
    """Whether a proposed line is about an error."""
    said, is_cause = 0, False
    for found in search.said:
        against = found.deviate & ~search.calls.good
        said |= found.deviate
        is_cause = is_cause or _is_most(against & failed, against)
    return is_cause or _is_most(said & failed, failed)


def _nearest(search: ToolSearch, failed: int) -> tuple[Cause, ...]:
    """The nearest lines that are not proposed, from which most of an error's calls deviate."""
    said = reduce(or_, (found.deviate for found in search.said), 0)
    proposed = {found.line for found in search.said}
    near = (found for found in search.tested if found.line not in proposed and _is_near(found, failed, said))
    nearest = sorted(near, key=lambda found: -_likeness(found, failed))[:_MAX_NEAREST]
    return tuple(
        Cause(found.line, (found.deviate & failed).bit_count(), found.deviate.bit_count())
        for found in nearest
    )


def _is_near(found: LineHypothesis, failed: int, said: int) -> bool:
    """Whether most of an error's calls deviate from a line, beside what is said, and few others do."""
    return _is_most(found.deviate & failed & ~said, failed) and _is_most(
        found.deviate & failed, found.deviate
    )


def _is_most(part: int, whole: int) -> bool:
    return part.bit_count() > _MOST * whole.bit_count()


def _likeness(found: LineHypothesis, failed: int) -> float:
    return (found.deviate & failed).bit_count() / ((found.deviate | failed).bit_count() or 1)
