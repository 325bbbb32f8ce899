"""The table of errors: each tool's errors without values, what they cost, and who can mend them."""

from collections.abc import Sequence
from typing import Final

from coreloop.base.failures import TRANSIENT
from coreloop.base.messages import Language, Phrase
from coreloop.learn.proposals.advice import in_language
from coreloop.learn.proposals.counterexamples import ErrorRow, Mender
from coreloop.learn.statements.log import CaseLog
from coreloop.learn.statements.search import LineHypothesis, ToolSearch
from coreloop.learn.statements.sets import bits_of
from coreloop.observe.reading.signals import unwrapped

MAX_ERRORS: Final = 100
"""Rows of the table: what comes after costs next to nothing."""
_MAX_NEAREST: Final = 2
_MOST: Final = 0.5
_MENDERS: Final[dict[str, Mender]] = {"auth": "policy", "not_found": "user", "invalid_argument": "schema"}
"""By class of error; any other, such as a timeout, is the tool's own."""


def error_table(
    log: CaseLog, searches: Sequence[ToolSearch], *, language: Language = "en"
) -> tuple[ErrorRow, ...]:
    """The errors of all tools, those that cost most requests first, then most calls."""
    by_tool = {search.tool: search for search in searches}
    groups: dict[tuple[str, int], list[tuple[int, int]]] = {}
    for number, request in enumerate(log.requests):
        for index, call in enumerate(request.calls):
            if not call.ok:
                groups.setdefault((call.tool, call.template), []).append((number, index))
    rows = [
        _row(log, tool, template, calls, by_tool.get(tool), language)
        for (tool, template), calls in groups.items()
    ]
    return tuple(sorted(rows, key=lambda row: (-row.n_lost, -row.n_calls, row.tool, row.error)))[:MAX_ERRORS]


def _row(
    log: CaseLog,
    tool: str,
    template: int,
    calls: Sequence[tuple[int, int]],
    search: ToolSearch | None,
    language: Language,
) -> ErrorRow:
    requests = [log.requests[number] for number in dict(calls)]
    failed = [log.requests[number].calls[index] for number, index in calls]
    earlier = (
        sum(call.tool == tool for call in log.requests[number].calls[:index]) for number, index in calls
    )
    error_class = failed[0].error_class
    explained, nearest = _explained(search, template, language) if search is not None else (0.0, ())
    mender = "tool" if error_class in TRANSIENT else _MENDERS.get(error_class, "tool")
    return ErrorRow(
        tool=tool,
        error=unwrapped(log.errors.get(template, "")),
        error_class=error_class,
        n_calls=len(calls),
        n_cases=len({request.case for request in requests}),
        n_lost=sum(request.lost for request in requests),
        n_recovered=sum(call.recovered for call in failed),
        n_repeated=sum(n >= 2 for n in earlier),
        mender="text" if explained > _MOST else mender,
        nearest=nearest,
    )


def _explained(search: ToolSearch, template: int, language: Language) -> tuple[float, tuple[str, ...]]:
    """The share of an error's calls that proposed lines explain; the nearest lines if that is below half."""
    places = (number for number, place in enumerate(search.places) if place.call.template == template)
    failed = bits_of(places, search.calls.n)
    said = 0
    for found in search.said:
        said |= found.deviate
    share = (said & failed).bit_count() / (failed.bit_count() or 1)
    nearest = sorted(search.tested, key=lambda found: -_likeness(found, failed))[:_MAX_NEAREST]
    texts = (
        Phrase(
            "{line}: {failed} of {n} calls against it",
            line=str(in_language(found.line, language)).removeprefix("- "),
            failed=(found.deviate & failed).bit_count(),
            n=found.deviate.bit_count(),
        )
        for found in nearest
        if found.deviate & failed
    )
    return share, () if share > _MOST else tuple(texts)


def _likeness(found: LineHypothesis, failed: int) -> float:
    return (found.deviate & failed).bit_count() / ((found.deviate | failed).bit_count() or 1)
