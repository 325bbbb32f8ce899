"""``dartlab-coreloop refine``."""

import os
import shutil
from collections.abc import Iterable, Sequence
from dataclasses import asdict
from datetime import UTC, date, datetime, timedelta
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import click

from coreloop.base.messages import number_of
from coreloop.base.project.workspace import open_workspace
from coreloop.base.text import aligned, fitted, padded, printable, wrapped
from coreloop.base.untrusted import untrusted
from coreloop.base.validation import fields_of
from coreloop.cli.mining_options import (
    MAX_SHOWN,
    min_chunk_len_option,
    mining_options,
    sanitize_option,
    show_files,
    show_more,
    show_oddities,
    skipped_lines,
    watched,
)
from coreloop.cli.options import FOLDER, days_between, verbose_option, window_options
from coreloop.cli.output import Command, Output

if TYPE_CHECKING:
    from coreloop.learn.mine.run import MiningOptions
    from coreloop.learn.proposals.draft import Unproposed
    from coreloop.learn.proposals.entry import Counterexample, NearStatement, Statement
    from coreloop.learn.proposals.proposal_files import CounterexamplesFile
    from coreloop.learn.proposals.task import ErrorRow
    from coreloop.learn.propose import RefineResult, ToolGaps


@click.command(cls=Command)
@window_options
@click.option("--min-failures", type=click.IntRange(1), help="Fewest failures of a group.  [default: 2]")
@min_chunk_len_option
@click.option(
    "--exclude-types",
    default="",
    help="Failure labels and error classes to ignore, such as timeout,rate_limit.",
)
@click.option("--out", type=FOLDER, help="Output folder.  [default: data/audit/counterexamples]")
@sanitize_option
@click.option(
    "--dry-run",
    is_flag=True,
    expose_value=False,
    help="No effect (for compatibility): refine never opens a pull request.",
)
@mining_options
@verbose_option
def refine(
    since: date | timedelta,
    until: date | timedelta,
    exclude_types: str,
    mining: "MiningOptions",
    verbose: bool,
    **options: Any,
) -> Output:
    """Find what distinguishes failed calls from successful calls.

    Writes {day}-counterexamples.json and {day}-draft.md; changes nothing else.

    Example: refine --since 30d --exclude-types timeout,rate_limit
    """
    from coreloop.base.date_range import Days
    from coreloop.learn.propose import RefineRequest, run_refine

    now = datetime.now(UTC)
    days = Days(*days_between(now.date(), since, until))
    excluded = tuple(exclude_types.split(","))
    request = RefineRequest(days=days, mining=mining, excluded=excluded, environ=os.environ, **options)
    result = run_refine(open_workspace(Path.cwd()), request, now=now, watch=watched())
    notes = skipped_lines(result.skipped_verdicts, "judgments")
    return Output(refined_facts(result), partial(show_refined, result, is_verbose=verbose), notes)


_MAX_ERRORS = 5
_MAX_STATEMENTS = 4
"""With the heading, what is left out and the two paths: 24 lines, as a terminal has."""


def show_refined(refined: "RefineResult", *, is_verbose: bool = False) -> None:
    """Print a run's results, by default one screen, and on stderr the paths of the written files."""
    from coreloop.learn.proposals.proposal_files import entries_counted

    document = refined.document
    click.echo(
        f"{number_of(refined.n_records, 'record')} in {number_of(refined.n_files, 'file')}, "
        f"{refined.recorded.since} to {refined.recorded.until}; "
        f"{entries_counted(document, len(document.counterexamples), 'failing group')}"
    )
    columns = shutil.get_terminal_size().columns
    show_errors(document.errors, columns=columns, max_shown=MAX_SHOWN if is_verbose else _MAX_ERRORS)
    show_statements(
        document.statements, max_shown=MAX_SHOWN if is_verbose else _MAX_STATEMENTS, is_verbose=is_verbose
    )
    n_withheld = MAX_SHOWN if is_verbose else max(0, _MAX_STATEMENTS - len(document.statements))
    show_unproposed(refined.unproposed, n_days=refined.n_days, max_shown=n_withheld)
    if is_verbose or not document.statements:
        show_nearest(refined.nearest)
    _show_gaps(refined.gaps)
    show_oddities(refined.oddities, refined.unseen)
    _show_left_out(document, len(refined.unproposed.withheld), is_verbose=is_verbose)
    show_files(refined.paths, refined.kept)


def _show_left_out(document: "CounterexamplesFile", n_withheld: int, *, is_verbose: bool) -> None:
    """Say what a screen has no room for; the draft has all of it."""
    n_left_out = {
        "error": len(document.errors) - _MAX_ERRORS,
        "statement": len(document.statements) + n_withheld - _MAX_STATEMENTS,
    }
    counts = [number_of(n, noun) for noun, n in n_left_out.items() if n > 0 and not is_verbose]
    if counts:
        click.echo(f"… and {', '.join(counts)}; -v shows them")
    show_more(len(document.counterexamples), "failing group", n_shown=0)


def _show_gaps(gaps: "Sequence[ToolGaps]") -> None:
    for gap in gaps:
        asked = f"{number_of(gap.n_questions, 'question')} asked {number_of(gap.n_asked, 'time')}"
        click.echo(f"  not answered: {asked} about {gap.tool} ({gap.reason}); see: repair show")


def show_errors(errors: "Sequence[ErrorRow]", *, columns: int, max_shown: int) -> None:
    """Print the table of errors: what they cost, who can mend them, and the text without values.

    `MAX_SHOWN` rows have their whole text and the lines that nearly explain them, fewer rows one line each.
    """
    if errors:
        click.echo(
            f"{aligned('calls', 6)} {aligned('lost', 5)} {aligned('recovered', 9)}  "
            f"{padded('mender', 6)}  {'tool and error'}"
        )
    for row in errors[:max_shown]:
        figures = f"{row.n_calls:>6} {row.n_lost:>5} {row.n_recovered:>9}  {padded(row.mender, 6)}"
        if max_shown < MAX_SHOWN:
            click.echo(fitted(printable(f"{figures}  {row.tool}: {row.error or row.error_class}"), columns))
            continue
        click.echo(f"{figures}  {printable(row.tool)}")
        click.echo(wrapped(printable(f"{row.error_class}: {row.error}"), columns, indent=" " * 4))
        for text in (*row.merged, *(f"nearest: {text}" for text in row.nearest)):
            click.echo(wrapped(printable(text), columns, indent=" " * 4))
    if max_shown == MAX_SHOWN:
        show_more(len(errors), "error")


def refined_facts(refined: "RefineResult") -> dict[str, object]:
    """Return a run's results as JSON has them."""
    from coreloop.learn.proposals.vocabulary import labelled

    def entries(listed: "Iterable[Statement | Counterexample]") -> list[dict[str, object]]:
        return [labelled(entry, entry.shared(refined.words)) for entry in listed]

    document, unproposed = refined.document, refined.unproposed
    return {
        "window": document.window,
        **fields_of(refined, "n_days", "n_records", "n_files"),
        "n_groups": refined.n_groups,
        "fell": refined.dropped,
        **asdict(refined.oddities),
        "unseen": refined.unseen,
        "n_tests": refined.n_tests,
        "nearest_statements": [labelled(near, near.shared(refined.words)) for near in refined.nearest],
        "unproposed": {
            "n_settled": unproposed.n_settled,
            "withheld": entries(unproposed.withheld),
            **untrusted({"undefined": unproposed.undefined}),
        },
        "errors": [labelled(row, row.shared(refined.words)) for row in document.errors],
        "statements": entries(document.statements),
        "counterexamples": entries(document.counterexamples),
        **fields_of(document, "n_folded"),
        "knowledge_gaps": refined.gaps,
        "files": refined.paths,
        "kept": refined.kept,
    }


_INDENT: Final = " " * 4


def show_statements(statements: "Sequence[Statement]", *, max_shown: int, is_verbose: bool) -> None:
    """Print the first statements: the line and the two sides; verbose, also what deviating calls cost."""
    columns = shutil.get_terminal_size().columns
    for statement in statements[:max_shown]:
        _show_statement(statement, columns, is_verbose=is_verbose)
    if is_verbose:
        show_more(len(statements), "statement")


def show_nearest(missed: "Sequence[NearStatement]") -> None:
    """Print the statements that came closest to passing, each with the reason why it failed."""
    columns = shutil.get_terminal_size().columns
    for miss in missed:
        text = f"nearest statement: {miss.tool}: {miss.line.removeprefix('- ')} ({miss.reason})"
        click.echo(wrapped(printable(text), columns, indent="  "))


def show_unproposed(unproposed: "Unproposed", *, n_days: int, max_shown: int) -> None:
    """Print why there are no statements yet, or why those that were found are not proposed."""
    from coreloop.learn.statements.search import MIN_DAYS

    columns = shutil.get_terminal_size().columns
    if 0 < n_days < MIN_DAYS:
        click.echo("  no statement yet: all records are of one day, and two are needed")
    if unproposed.n_settled:
        noun = number_of(unproposed.n_settled, "statement")
        click.echo(f"  {noun} not proposed: already promoted, open or rejected (known)")
    if unproposed.undefined:
        names = printable(", ".join(unproposed.undefined))
        text = f"not proposed: statements about {names}: no definition, or several"
        remedy = "name one under tools: in coreloop.yaml"
        click.echo(wrapped(f"{text}; {remedy}", columns, indent="  "))
        for one in unproposed.withheld[:max_shown]:
            line = f"{one.tool}: {one.line.removeprefix('- ')} ({one.sides})"
            click.echo(wrapped(printable(line), columns, indent=_INDENT))


def _show_statement(statement: "Statement", columns: int, *, is_verbose: bool) -> None:
    from coreloop.learn.proposals.entry import cost_text, difference_text, sides_text

    click.echo(f"{statement.id:<20} {printable(statement.tool)}")
    texts = [statement.line.removeprefix("- "), sides_text(statement, statement.sides)]
    if is_verbose:
        texts.append(f"{cost_text(statement)}; {difference_text(statement)}")
    for text in texts:
        click.echo(wrapped(printable(text), columns, indent=_INDENT))
    if statement.refused is not None:
        click.echo(f"{_INDENT}no text: {statement.refused}")
