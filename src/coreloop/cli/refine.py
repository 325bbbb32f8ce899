"""``dartlab-coreloop refine``."""

from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any, Final

import click

from coreloop.base.messages import number_of
from coreloop.base.project.workspace import open_workspace
from coreloop.base.text import printable
from coreloop.base.untrusted import untrusted
from coreloop.cli.mining_options import (
    MAX_SHOWN,
    mined_facts,
    more_lines,
    night_options,
    oddity_lines,
    window_text,
)
from coreloop.cli.options import int_option, verbose_option
from coreloop.cli.output import Command, Output, for_people, table, wrap
from coreloop.cli.status import night_notes
from coreloop.learn.proposals.entry import (
    Counterexample,
    ErrorRow,
    Statement,
    cost_text,
    difference_text,
    sides_text,
)
from coreloop.learn.proposals.proposal_files import entries_counted
from coreloop.learn.propose import FoundStatements, NightRequest, RefineResult, run_refine
from coreloop.learn.statements.logged_calls import MAX_REQUESTS


@click.command(cls=Command)
@night_options("counterexamples")
@int_option("--min-failures", "Fewest failures of a group.", default=2)
@click.option("--exclude-types", default="", help="Labels and error classes to ignore: timeout,rate_limit.")
@verbose_option
def refine(now: datetime, exclude_types: str, verbose: bool, **options: Any) -> Output:
    """Find what distinguishes failed calls from successful calls.

    Writes {day}-counterexamples.json and {day}-draft.md; changes nothing else.

    Example: refine --since 30d --exclude-types timeout,rate_limit
    """
    request = NightRequest(excluded=tuple(exclude_types.split(",")), **options)
    result = run_refine(open_workspace(Path.cwd()), request, now=now)
    skipped = result.mined.judgments.skipped_lines()
    return Output(
        _facts(result),
        refined_lines(result, is_verbose=verbose),
        [*skipped, *for_people(night_notes(result, request, now=now))],
    )


_MAX_ERRORS: Final = 5
_MAX_STATEMENTS: Final = 4
"""With the heading, what is left out and the two paths: 24 lines, as a terminal has; fewer if hints are."""


def refined_lines(refined: RefineResult, *, is_verbose: bool = False) -> Iterator[str]:
    """Yield a run's results, by default one screen."""
    document, window = refined.document, refined.window
    statements, n_groups = document.statements, len(document.counterexamples)
    n_hints = sum(bool(row.suggestion) for row in document.errors[:_MAX_ERRORS])
    n_shown = MAX_SHOWN if is_verbose else max(1, _MAX_STATEMENTS - n_hints)
    counts = entries_counted(document, n_groups, "failing group")
    yield f"{window_text(window)}; {counts}{'' if refined.stays else ', in the draft'}"
    if window.n_records() > MAX_REQUESTS:
        yield f"errors and statements are of {MAX_REQUESTS:,} records, drawn evenly"
    yield from error_lines(document.errors, max_shown=MAX_SHOWN if is_verbose else _MAX_ERRORS)
    for statement in statements[:n_shown]:
        yield from _statement_lines(statement, is_verbose=is_verbose)
    n_withheld = MAX_SHOWN if is_verbose else max(0, n_shown - len(statements))
    yield from unproposed_lines(refined.found, max_shown=n_withheld)
    yield from oddity_lines(refined.oddities, window.unseen())
    n_statements = len(statements) + len(refined.found.withheld)
    yield from more_lines(n_statements, "statement", n_shown)


def error_lines(errors: Sequence[ErrorRow], *, max_shown: int) -> Iterator[str]:
    """Yield the table of errors: what they cost, who can mend them, and the text without values.

    `MAX_SHOWN` rows have their whole text and the merged lines about them, fewer rows one line each; below is
    what a person could do.
    """
    is_whole, shown = max_shown == MAX_SHOWN, errors[:max_shown]
    columns = (">calls", ">lost", ">recovered", "mender", "tool and error")
    heading, *lines = table("", columns, (_cells(row, is_whole=is_whole) for row in shown))
    yield from [heading] if shown else ()
    for row, line in zip(shown, lines, strict=True):
        yield line
        if is_whole:
            texts = (f"{row.error_class}: {row.error.removeprefix(f'{row.error_class}: ')}", *row.merged)
            yield from (wrap(f"    {text}") for text in texts)
        if row.suggestion:
            yield wrap(f"    {row.suggestion}")
    yield from more_lines(len(errors), "error", max_shown)


def _cells(row: ErrorRow, *, is_whole: bool) -> tuple[str, ...]:
    text = row.tool if is_whole else f"{row.tool}: {row.error or row.error_class}"
    return (*map(str, (row.n_calls, row.n_lost, row.recovered)), row.mender, printable(text))


def _facts(result: RefineResult) -> dict[str, object]:
    """Return a run's results as JSON has them."""
    document, found = result.document, result.found

    def listed(rows: Iterable[Statement | Counterexample | ErrorRow]) -> list[Any]:
        return [row.labelled(result.words) for row in rows]

    return {
        **mined_facts(result),
        "n_days": len(result.found.log.days),
        "n_groups": result.search.n_groups,
        "n_tests": result.found.n_tests,
        "unproposed": {
            "n_settled": found.n_settled,
            "withheld": listed(found.withheld),
            **untrusted({"undefined": found.undefined}),
            "reasons": found.reasons,
        },
        "errors": listed(document.errors),
        "statements": listed(document.statements),
        "counterexamples": listed(document.counterexamples),
    }


def unproposed_lines(found: FoundStatements, *, max_shown: int) -> Iterator[str]:
    """Yield why there are no statements yet, or why those that were found are not proposed."""
    if found.log.is_one_day and found.log.days:
        yield "  no statement yet: all records are of one day, and two are needed"
    if found.n_settled:
        noun = number_of(found.n_settled, "statement")
        yield f"  {noun} not proposed: already promoted, open or rejected (known)"
    if found.undefined:
        about = f"  not proposed: statements about {', '.join(found.undefined)}"
        yield wrap(f"{about}: {'; '.join(found.reasons)}")
        for one in found.withheld[:max_shown]:
            yield wrap(f"    {one.text} ({sides_text(one, one.sides)})")


def _statement_lines(statement: Statement, *, is_verbose: bool) -> Iterator[str]:
    """Yield a statement: the line and the two sides; verbose, also what deviating calls cost."""
    yield f"{statement.id:<20} {printable(statement.tool)}"
    yield wrap(f"    {statement.line.removeprefix('- ')}")
    dates = f"; {statement.seen}" if statement.n_undated else ""
    yield wrap(f"    {sides_text(statement, statement.sides)}{dates}")
    if is_verbose:
        yield wrap(f"    {cost_text(statement)}; {difference_text(statement)}")
    if statement.refused is not None:
        yield wrap(f"    no text: {statement.refused}")
