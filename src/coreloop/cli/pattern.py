"""``dartlab-coreloop pattern``."""

import shutil
from collections.abc import Iterator
from dataclasses import asdict
from datetime import UTC, date, datetime, timedelta
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from coreloop.base.messages import number_of
from coreloop.base.project.workspace import Workspace, open_workspace
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
from coreloop.cli.options import FOLDER, SHARE, days_between, window_options
from coreloop.cli.output import Command, Output

if TYPE_CHECKING:
    from coreloop.learn.mine.run import MiningOptions
    from coreloop.learn.proposals.entry import Candidate, Statement
    from coreloop.learn.proposals.proposal_files import CandidatesFile
    from coreloop.learn.propose import PatternResult


@click.command(cls=Command)
@window_options
@click.option("--min-repeat", type=click.IntRange(1), help="Fewest requests of a pattern.  [default: 3]")
@click.option(
    "--min-unique-questions",
    type=click.IntRange(1),
    help="Fewest distinct questions of a pattern.  [default: 3]",
)
@min_chunk_len_option
@click.option("--min-success-rate", type=SHARE, help="Lowest success rate of a pattern.  [default: 1.0]")
@click.option("--out", type=FOLDER, help="Output folder.  [default: data/audit/candidates]")
@sanitize_option
@click.option(
    "--include-audit-analysis",
    "with_notes",
    is_flag=True,
    help="Include the notes in data/dart/auditAnalysis; retention_days then removes nothing.",
)
@click.option(
    "--dry-run",
    is_flag=True,
    expose_value=False,
    help="No effect (for compatibility): pattern never opens a pull request; retention_days still applies.",
)
@mining_options
def pattern(
    since: date | timedelta, until: date | timedelta, mining: "MiningOptions", **options: Any
) -> Output:
    """Find where arguments come from, and sequences that keep succeeding.

    Writes {day}-candidates.json and {day}-draft.md. If coreloop.yaml sets retention_days, removes and names
    older files of records. The gates can be set in coreloop.yaml too.

    Example: pattern --since 7d --min-repeat 5
    """
    from coreloop.base.date_range import Days
    from coreloop.learn.propose import PatternRequest, run_pattern

    now = datetime.now(UTC)
    workspace = open_workspace(Path.cwd())
    days = Days(*days_between(now.date(), since, until))
    request = PatternRequest(days=days, mining=mining, **options)
    result = run_pattern(workspace, request, now=now, watch=watched())
    _show_notes(result)
    notes = [
        *skipped_lines(result.skipped_verdicts, "judgments"),
        *_removed(result, workspace, with_notes=options["with_notes"]),
    ]
    return Output(proposals_facts(result), partial(show_proposals, result), notes)


def _show_notes(result: "PatternResult") -> None:
    if result.notes_missing is not None:
        click.echo(f"no audit notes: {result.notes_missing} is missing", err=True)
    for name, reason in result.notes_skipped.items():
        click.echo(f"skipped {printable(name)}: {reason}", err=True)


def _removed(result: "PatternResult", workspace: Workspace, *, with_notes: bool) -> Iterator[str]:
    if with_notes:
        yield "dry run: with audit notes nothing is removed, and no text is proposed from them"
    for path in result.removed:
        days = workspace.settings.retention_days
        yield f"removed {path}: all of it is older than retention_days ({days})"


_GATES = {
    "min_repeat": "too few requests",
    "min_success_rate": "success rate too low",
    "min_unique_questions": "too few distinct questions",
    "steps_not_recorded": "steps truncated in every record",
    "known": "already promoted, open or rejected",
    "same_text": "same text as a better or known proposal",
}


def show_proposals(result: "PatternResult") -> None:
    """Print a run's results to stdout and the paths of the written files to stderr."""
    _show_head(result)
    _show_table(result.document)
    for gate, count in result.dropped.items():
        if count:
            click.echo(f"  {count} not proposed: {_GATES[gate]} ({gate})")
    _show_rest(result)
    show_files(result.paths, result.kept)


def _show_head(result: "PatternResult") -> None:
    from coreloop.learn.proposals.proposal_files import entries_counted

    days, document = result.recorded, result.document
    click.echo(
        f"{number_of(result.n_records, 'record')} in {number_of(result.n_files, 'file')}"
        f", {days.since} to {days.until}; "
        f"{number_of(result.n_groups, 'sequence')}, "
        f"{entries_counted(document, len(document.candidates), 'proposal')}"
    )
    if not result.n_records:
        newest = f"the newest is from {result.newest}" if result.newest else "the log is empty"
        click.echo(f"  no records in these days; {newest}")


def _show_table(document: "CandidatesFile") -> None:
    from coreloop.learn.proposals.draft import is_weak
    from coreloop.learn.proposals.proposal_files import MIN_PUBLISHED

    weak = [candidate for candidate in document.candidates if is_weak(candidate)]
    strong = [candidate for candidate in document.candidates if not is_weak(candidate)]
    if strong:
        click.echo(
            f"{'id':<20} {aligned('ok', 9)} {aligned('questions', 9)}  {padded('low/base', 9)}  {'category'}"
        )
    columns = shutil.get_terminal_size().columns
    for candidate in strong[:MAX_SHOWN]:
        _show_candidate(candidate, columns)
    show_more(len(strong), "proposal")
    if weak:
        click.echo(
            f"  {number_of(len(weak), 'proposal')} without text: no better than the rest of their "
            "category (see the draft)"
        )
    if document.n_folded:
        noun = number_of(document.n_folded, "proposal")
        click.echo(f"  {noun} of fewer than {MIN_PUBLISHED} requests left out")


def _show_rest(result: "PatternResult") -> None:
    """Print neutral records, unreadable lines, entries without a definition, and notes."""
    document = result.document
    if result.n_neutral:
        click.echo(
            f"  {number_of(result.n_neutral, 'record')} counted as neither success nor "
            "failure: handed to a human, an answer shorter than min_chunk_len, or a network or "
            "rate-limit error"
        )
    show_oddities(result.oddities, result.unseen)
    n_without_target = sum(map(_lacks_target, document.entries))
    if n_without_target:
        click.echo(
            f"  {n_without_target} with no definition found: name the tools in coreloop.yaml (see the draft)"
        )
    if document.notes:
        bullets = sum(len(note.bullets) for note in document.notes)
        click.echo(
            f"  {number_of(bullets, 'bullet')} of {number_of(len(document.notes), 'audit note')}, "
            "in the draft"
        )


def _lacks_target(entry: "Statement | Candidate") -> bool:
    return entry.suggested_append is not None and entry.suggested_append.target_file is None


def proposals_facts(result: "PatternResult") -> dict[str, object]:
    """Return a run's results as JSON has them."""
    from coreloop.learn.proposals.vocabulary import labelled

    document, words = result.document, result.words
    return {
        "window": document.window,
        **fields_of(result, "n_records", "n_neutral", "n_files", "newest"),
        "n_patterns": result.n_groups,
        "fell": result.dropped,
        **asdict(result.oddities),
        "unseen": result.unseen,
        "candidates": [labelled(one, one.shared(words)) for one in document.candidates],
        **untrusted({"notes": document.notes}),
        **fields_of(document, "n_folded"),
        "files": result.paths,
        "kept": result.kept,
    }


def _show_candidate(candidate: "Candidate", columns: int) -> None:
    successes = round(candidate.success_rate * candidate.n_observed)
    click.echo(
        f"{candidate.id:<20} {f'{successes}/{candidate.n_observed}':>9} {candidate.n_unique_questions:>9}  "
        f"{candidate.success_low:.2f}/{candidate.base_rate:.2f}  {candidate.cat_hash}"
    )
    steps = printable(" > ".join(map(str, candidate.tool_pattern)))
    indent = " " * 4
    click.echo(wrapped(steps, columns, indent=indent))
    for bullet in candidate.bullets:
        click.echo(
            fitted(
                f"{indent}gate relaxed by the playbook: {printable(bullet)}",
                columns,
            )
        )
    if candidate.refused is not None:
        click.echo(f"{indent}no text: {candidate.refused}")
