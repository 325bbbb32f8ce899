"""Output of ``refine``."""

import shutil
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

import click
import orjson

from coreloop.base.messages import number_of, say
from coreloop.base.text import fitted, printable, wrapped
from coreloop.cli.show import MAX_SHOWN, show_oddities
from coreloop.cli.show_statements import show_nearest, show_statements, show_unproposed
from coreloop.learn.proposals.counterexamples import Counterexample, CounterexamplesFile, ErrorRow
from coreloop.learn.proposals.night import MIN_PUBLISHED, entries_counted
from coreloop.learn.refine.document import title
from coreloop.learn.refine.gaps import ToolGaps
from coreloop.learn.refine.propose import Refined

_HEADING = "id                    failed otherwise   low  class or labels"
_ERRORS = " calls  lost recovered  mender  tool"
_GATES = {
    "min_failures": "too few failures",
    "known": "already promoted, open or rejected",
    "same_text": "same text as another or known counterexample",
}


def show_refined(
    refined: Refined,
    document: CounterexamplesFile,
    paths: tuple[Path, Path],
    *,
    gaps: Sequence[ToolGaps] = (),
    as_json: bool,
) -> None:
    """Print a run's results to stdout and the paths of the written files to stderr."""
    if as_json:
        click.echo(_facts(refined, document, paths, gaps))
        return
    days, counterexamples = refined.days, document.counterexamples
    click.echo(
        say(
            "{records} in {files}, {since} to {until}; {groups}, {entries}",
            records=number_of(refined.n_records, "record"),
            files=number_of(refined.n_files, "file"),
            since=days.since,
            until=days.until,
            groups=number_of(refined.counterexample_search.n_groups, "failing group"),
            entries=entries_counted(document, len(counterexamples), "counterexample"),
        )
    )
    show_errors(document.errors, columns=shutil.get_terminal_size().columns)
    show_statements(document.statements, max_shown=MAX_SHOWN)
    _show_counterexamples(refined, document)
    show_unproposed(refined.unproposed, n_days=refined.n_days)
    show_nearest(refined.nearest)
    _show_gaps(gaps)
    show_oddities(refined.oddities)
    for path in paths:
        click.echo(say("wrote {path}", path=path), err=True)


def _show_counterexamples(refined: Refined, document: CounterexamplesFile) -> None:
    counterexamples = document.counterexamples
    if counterexamples:
        click.echo(say(_HEADING))
    columns = shutil.get_terminal_size().columns
    for counterexample in counterexamples[:MAX_SHOWN]:
        _show(counterexample, columns)
    if len(counterexamples) > MAX_SHOWN:
        click.echo(
            say(
                "… and {n_counterexamples} more, in the draft",
                n_counterexamples=len(counterexamples) - MAX_SHOWN,
            )
        )
    if document.n_folded:
        noun = say(number_of(document.n_folded, "counterexample"))
        click.echo(
            say(
                "  {noun} of fewer than {min_published} failures left out",
                noun=noun,
                min_published=MIN_PUBLISHED,
            )
        )
    for gate, count in refined.counterexample_search.dropped.items():
        if count:
            click.echo(
                say(
                    "  {count} not proposed: {gates} ({gate})",
                    count=count,
                    gates=say(_GATES[gate]),
                    gate=gate,
                )
            )
    for miss in refined.counterexample_search.nearest:
        counts = say(
            "{n_failures} of {n_calls} {unit} failed",
            n_failures=miss.n_failures,
            n_calls=miss.n_calls,
            unit=miss.unit,
        )
        rate = miss.n_failures / miss.n_calls
        click.echo(
            fitted(
                printable(
                    say(
                        "      nearest: {counts} ({rate:.3f}): {title}",
                        counts=counts,
                        rate=rate,
                        title=title(miss),
                    )
                ),
                columns,
            )
        )


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
                reason=gap.reason,
            )
        )


def show_errors(errors: Sequence[ErrorRow], *, columns: int) -> None:
    """Print the table of errors: what they cost, who can mend them, and the text without values."""
    if errors:
        click.echo(say(_ERRORS))
    for row in errors[:MAX_SHOWN]:
        click.echo(
            f"{row.n_calls:>6} {row.n_lost:>5} {row.n_recovered:>9}  {row.mender:<6}  {printable(row.tool)}"
        )
        click.echo(wrapped(printable(f"{row.error_class}: {row.error}"), columns, indent=" " * 4))
        for text in row.nearest:
            click.echo(wrapped(printable(say("nearest: {text}", text=text)), columns, indent=" " * 4))
    if len(errors) > MAX_SHOWN:
        click.echo(
            say("… and {errors} more, in the draft", errors=number_of(len(errors) - MAX_SHOWN, "error"))
        )


def _show(entry: Counterexample, columns: int) -> None:
    without = entry.n_without
    failed = f"{entry.n_failures}/{entry.n_calls}"
    otherwise = f"{without.n_failures}/{without.n_calls}" if entry.kind == "call" else "-"
    label = entry.error_class if entry.kind == "call" else ", ".join(entry.labels)
    click.echo(f"{entry.id:<18} {failed:>9} {otherwise:>9} {entry.harm_low:>5.2f}  {label}")
    error = f": {entry.error_template}" if entry.error_template else ""  # its values are placeholders
    click.echo(wrapped(printable(f"{title(entry)}{error}"), columns, indent=" " * 4))


def _facts(
    refined: Refined, document: CounterexamplesFile, paths: tuple[Path, Path], gaps: Sequence[ToolGaps]
) -> str:
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
    }
    return orjson.dumps(facts, option=orjson.OPT_INDENT_2, default=str).decode()
