"""The table of errors: each tool's errors without values, what they cost, and who can mend them."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import replace
from functools import reduce
from operator import and_, or_
from typing import Final

from coreloop.base.error_classes import TRANSIENT
from coreloop.base.project.tools import Tool
from coreloop.learn.line import Language
from coreloop.learn.proposals.task import Cause, ErrorRow, Mender, cause_text, task_of
from coreloop.learn.proposals.vocabulary import Vocabulary
from coreloop.learn.statements.compare_sides import bits_of
from coreloop.learn.statements.logged_calls import CaseLog, LoggedRequest
from coreloop.learn.statements.search import LineHypothesis, MergedSides, ToolSearch
from coreloop.observe.reading.error_texts import unwrapped

MAX_ERRORS: Final = 100
"""Rows of the table: what comes after costs next to nothing."""
_MAX_NEAREST: Final = 2
_MOST: Final = 0.5  # a majority
_MENDERS: Final[dict[str, Mender]] = {"auth": "policy", "not_found": "user", "invalid_argument": "schema"}
"""By class of error; any other, such as a timeout, is the tool's own."""
_Failed = tuple[LoggedRequest, int]
"""A request and the place of its failed call."""


def error_table(
    log: CaseLog, searches: Sequence[ToolSearch], *, words: Vocabulary, language: Language = "en"
) -> tuple[ErrorRow, ...]:
    """The errors of all tools, those that cost most requests first, then most calls.

    A tool that the project does not define has no text that could be mended: its lines are only nearest.
    """
    by_tool = {
        search.tool: search if words.is_known(search.tool) else replace(search, said=())
        for search in searches
    }
    failed: defaultdict[tuple[str, int], list[_Failed]] = defaultdict(list)
    for request in log.requests:
        for index, call in enumerate(request.calls):
            if not call.ok:
                failed[call.tool, call.template].append((request, index))
    rows = [
        _explained(
            _counted(unwrapped(log.errors.get(template, "")), calls),
            template,
            by_tool.get(tool),
            words.tool(tool),
            language,
        )
        for (tool, template), calls in failed.items()
    ]
    return tuple(sorted(rows, key=lambda row: (-row.n_lost, -row.n_calls, row.tool, row.error)))[:MAX_ERRORS]


def _counted(text: str, calls: Sequence[_Failed]) -> ErrorRow:
    """The row of an error, without what explains it."""
    requests = {(request.file, request.offset): request for request, _ in calls}.values()
    failed = [request.calls[index] for request, index in calls]
    tool, error_class = failed[0].tool, failed[0].error_class
    repeated = (sum(call.tool == tool for call in request.calls[:index]) for request, index in calls)
    return ErrorRow(
        tool=tool,
        error=text,
        error_class=error_class,
        mender="tool" if error_class in TRANSIENT else _MENDERS.get(error_class, "tool"),
        n_calls=len(calls),
        n_lost=sum(request.lost for request in requests),
        n_cases=len({request.case for request in requests}),
        n_recovered=sum(call.recovered for call in failed),
        n_repeated=sum(n >= 2 for n in repeated),
    )


def _explained(
    row: ErrorRow, template: int, search: ToolSearch | None, tool: Tool | None, language: Language
) -> ErrorRow:
    """What lines say about an error: the merged ones, then about the rest of its calls the proposed ones."""
    if search is None:
        return replace(row, task=task_of(tool, row))
    places = (number for number, place in enumerate(search.places) if place.call.template == template)
    failed, bad = bits_of(places, search.calls.n), ~search.calls.good
    against = reduce(or_, (line.deviate for line in search.merged), 0)
    merged = [_merged(line, failed) for line in search.merged if _is_about(line.deviate & bad, failed)]
    rest, nearest = failed & ~against, list[Cause]()
    if _is_most(against & failed, failed):
        row = replace(row, mender="merged")
    elif _is_proposed(search, rest):
        row = replace(row, mender="text")
    else:
        row = replace(row, n_documented=_documented(search.merged, rest))
        nearest = _nearest(search, rest)
    return replace(
        row,
        merged=tuple(map(cause_text, merged)),
        nearest=tuple(cause_text(cause, language) for cause in nearest),
        task=task_of(tool, row, merged=merged, nearest=nearest),
    )


def _is_about(against: int, failed: int) -> bool:
    """Whether failures against a line are most of an error's, or mostly of this error."""
    return _is_most(against & failed, failed) or _is_most(against & failed, against)


def _merged(line: MergedSides, failed: int) -> Cause:
    against = line.deviate & failed
    n_since = (against & line.since).bit_count()
    return Cause(line.line, against.bit_count(), n_since, line.merged)


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


def _nearest(search: ToolSearch, failed: int) -> list[Cause]:
    """The nearest lines that are not proposed, from which most of an error's calls deviate."""
    said = reduce(or_, (found.deviate for found in search.said), 0)
    proposed = {found.line for found in search.said}
    near = (found for found in search.tested if found.line not in proposed and _is_near(found, failed, said))
    nearest = sorted(near, key=lambda found: -_likeness(found, failed))[:_MAX_NEAREST]
    return [
        Cause(found.line, (found.deviate & failed).bit_count(), found.deviate.bit_count())
        for found in nearest
    ]


def _is_near(found: LineHypothesis, failed: int, said: int) -> bool:
    """Whether most of an error's calls deviate from a line, beside what is said, and few others do."""
    return _is_most(found.deviate & failed & ~said, failed) and _is_most(
        found.deviate & failed, found.deviate
    )


def _is_most(part: int, whole: int) -> bool:
    return part.bit_count() > _MOST * whole.bit_count()


def _likeness(found: LineHypothesis, failed: int) -> float:
    return (found.deviate & failed).bit_count() / ((found.deviate | failed).bit_count() or 1)
