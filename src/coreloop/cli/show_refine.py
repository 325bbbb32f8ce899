"""Output of ``refine``."""

import shutil
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

import click
import orjson

from coreloop.base.messages import Phrase, join, number_of, say
from coreloop.base.text import aligned, fitted, padded, printable, wrapped
from coreloop.cli.show import MAX_SHOWN, show_files, show_more, show_oddities
from coreloop.cli.show_statements import show_nearest, show_statements, show_unproposed
from coreloop.learn.proposals.counterexamples import Counterexample, CounterexamplesFile, ErrorRow
from coreloop.learn.proposals.night import MIN_PUBLISHED, entries_counted
from coreloop.learn.refine.document import title
from coreloop.learn.refine.gaps import ToolGaps
from coreloop.learn.refine.propose import Refined

_MAX_ERRORS = 5
_MAX_STATEMENTS = 4
"""With the heading, what is left out and the two paths: 24 lines, as a terminal has."""
_GATES = {
    "min_failures": "too few failures",
    "known": "already promoted, open or rejected",
    "same_text": "same text as another or known group",
}


def show_refined(
    refined: Refined,
    document: CounterexamplesFile,
    paths: tuple[Path, ...],
    *,
    kept: Path | None = None,
    gaps: Sequence[ToolGaps] = (),
    is_verbose: bool = False,
) -> None:
    """Print a run's results, by default one screen, and on stderr the paths of the written files."""
    counterexamples = document.counterexamples
    click.echo(
        say(
            "{records} in {files}, {since} to {until}; {entries}",
            records=number_of(refined.n_records, "record"),
            files=number_of(refined.n_files, "file"),
            since=refined.recorded.since,
            until=refined.recorded.until,
            entries=entries_counted(document, len(counterexamples), "failing group"),
        )
    )
    columns = shutil.get_terminal_size().columns
    show_errors(document.errors, columns=columns, max_shown=MAX_SHOWN if is_verbose else _MAX_ERRORS)
    show_statements(
        document.statements, max_shown=MAX_SHOWN if is_verbose else _MAX_STATEMENTS, is_verbose=is_verbose
    )
    if is_verbose:
        _show_counterexamples(refined, document)
    n_withheld = MAX_SHOWN if is_verbose else max(0, _MAX_STATEMENTS - len(document.statements))
    show_unproposed(refined.unproposed, n_days=refined.n_days, max_shown=n_withheld)
    if is_verbose or not document.statements:
        show_nearest(refined.nearest)
    _show_gaps(gaps)
    show_oddities(refined.oddities)
    if not is_verbose:
        _show_left_out(document, len(refined.unproposed.withheld))
    show_files(paths, kept)


def _show_left_out(document: CounterexamplesFile, n_withheld: int) -> None:
    """Say what a screen has no room for; the files have all of it."""
    n_left_out = {
        "error": len(document.errors) - _MAX_ERRORS,
        "statement": len(document.statements) + n_withheld - _MAX_STATEMENTS,
        "failing group": len(document.counterexamples),
    }
    counts = [number_of(n, noun) for noun, n in n_left_out.items() if n > 0]
    if counts:
        click.echo(say("… and {counts}; -v shows them", counts=join(counts)))


def _show_counterexamples(refined: Refined, document: CounterexamplesFile) -> None:
    counterexamples, columns = document.counterexamples, shutil.get_terminal_size().columns
    if counterexamples:
        click.echo(
            f"{'id':<18} {aligned(say('failed'), 9)} {aligned(say('otherwise'), 9)} "
            f"{aligned(say('low'), 5)}  {say('class or labels')}"
        )
    for counterexample in counterexamples[:MAX_SHOWN]:
        _show(counterexample, columns)
    show_more(len(counterexamples), "failing group")
    if document.n_folded:
        noun = say(number_of(document.n_folded, "failing group"))
        click.echo(
            say(
                "  {noun} of fewer than {min_published} failures left out",
                noun=noun,
                min_published=MIN_PUBLISHED,
            )
        )
    for gate, n in refined.counterexample_search.dropped.items():
        if n:
            click.echo(
                say("  {count} not proposed: {gates} ({gate})", count=n, gates=say(_GATES[gate]), gate=gate)
            )
    for miss in refined.counterexample_search.nearest:
        counts = say(
            "{n_failures} of {n_calls} {unit} failed",
            n_failures=miss.n_failures,
            n_calls=miss.n_calls,
            unit=Phrase(miss.unit),
        )
        rate = miss.n_failures / miss.n_calls
        text = say(
            "      nearest: {counts} ({rate:.3f}): {title}", counts=counts, rate=rate, title=title(miss)
        )
        click.echo(fitted(printable(text), columns))


def _show_gaps(gaps: Sequence[ToolGaps]) -> None:
    for gap in gaps:
        asked = say(
            "{questions} asked {times}",
            questions=number_of(gap.n_questions, "question"),
            times=number_of(gap.n_asked, "time"),
        )
        click.echo(
            say(
                "  not answered: {asked} about {tool} ({reason}); see: repair gaps",
                asked=asked,
                tool=gap.tool,
                reason=Phrase(gap.reason),
            )
        )


def show_errors(errors: Sequence[ErrorRow], *, columns: int, max_shown: int) -> None:
    """Print the table of errors: what they cost, who can mend them, and the text without values.

    `MAX_SHOWN` rows have their whole text and the lines that nearly explain them, fewer rows one line each.
    """
    if errors:
        click.echo(
            f"{aligned(say('calls'), 6)} {aligned(say('lost'), 5)} {aligned(say('recovered'), 9)}  "
            f"{padded(say('mender'), 6)}  {say('tool and error')}"
        )
    for row in errors[:max_shown]:
        figures = f"{row.n_calls:>6} {row.n_lost:>5} {row.n_recovered:>9}  {padded(say(row.mender), 6)}"
        if max_shown < MAX_SHOWN:
            click.echo(fitted(printable(f"{figures}  {row.tool}: {row.error or row.error_class}"), columns))
            continue
        click.echo(f"{figures}  {printable(row.tool)}")
        click.echo(wrapped(printable(f"{row.error_class}: {row.error}"), columns, indent=" " * 4))
        for text in row.nearest:
            click.echo(wrapped(printable(say("nearest: {text}", text=say(text))), columns, indent=" " * 4))
    if max_shown == MAX_SHOWN:
        show_more(len(errors), "error")


def _show(entry: Counterexample, columns: int) -> None:
    without = entry.n_without
    failed = f"{entry.n_failures}/{entry.n_calls}"
    otherwise = f"{without.n_failures}/{without.n_calls}" if entry.kind == "call" else "-"
    label = entry.error_class if entry.kind == "call" else ", ".join(entry.labels)
    click.echo(f"{entry.id:<18} {failed:>9} {otherwise:>9} {entry.harm_low:>5.2f}  {label}")
    error = f": {entry.error_template}" if entry.error_template else ""  # its values are placeholders
    click.echo(wrapped(printable(f"{title(entry)}{error}"), columns, indent=" " * 4))


def refined_json(
    refined: Refined,
    document: CounterexamplesFile,
    paths: tuple[Path, ...],
    gaps: Sequence[ToolGaps],
    kept: Path | None = None,
) -> str:
    """Return a run's results as JSON."""
    facts = {
        "window": document.window,
        "n_days": refined.n_days,
        "n_records": refined.n_records,
        "n_files": refined.n_files,
        "n_groups": refined.counterexample_search.n_groups,
        "fell": refined.counterexample_search.dropped,
        "nearest": refined.counterexample_search.nearest,
        **asdict(refined.oddities),
        "n_tests": refined.n_tests,
        "nearest_statements": refined.nearest,
        "unproposed": refined.unproposed,
        "errors": [{**asdict(row), "task": row.task} for row in document.errors],
        "statements": document.statements,
        "counterexamples": document.counterexamples,
        "n_folded": document.n_folded,
        "knowledge_gaps": gaps,
        "files": [str(path) for path in paths],
        "kept": kept and str(kept),
    }
    return orjson.dumps(facts, option=orjson.OPT_INDENT_2, default=str).decode()
