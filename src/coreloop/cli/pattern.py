"""``dartlab-coreloop pattern``."""

from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from typing import Any

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
from coreloop.cli.options import SHARE, int_option
from coreloop.cli.output import Command, Output, for_people, table, wrap
from coreloop.cli.status import night_notes
from coreloop.descriptions.find_tools import why_undefined
from coreloop.learn.mine.folder import newest_day
from coreloop.learn.proposals.entry import Candidate
from coreloop.learn.proposals.proposal_files import entries_counted
from coreloop.learn.propose import NightRequest, PatternResult, run_pattern
from coreloop.observe.reading.outcome import RequestOutcome


@click.command(cls=Command)
@night_options("candidates")
@int_option("--min-repeat", "Fewest requests of a pattern.", default=3)
@int_option("--min-unique-questions", "Fewest distinct questions of a pattern.", default=3)
@click.option("--min-success-rate", type=SHARE, default=1.0, help="Lowest success rate.  [default: 1.0]")
@click.option(
    "--include-audit-analysis",
    "with_notes",
    is_flag=True,
    help="Include the notes in data/dart/auditAnalysis; retention_days then removes nothing.",
)
def pattern(now: datetime, **options: Any) -> Output:
    """Find sequences of tools that keep succeeding.

    Writes {day}-candidates.json and {day}-draft.md. If coreloop.yaml sets retention_days, removes and names
    older files of records. Playbooks of `knowledge` ease the gates.

    Example: pattern --since 7d --min-repeat 5
    """
    workspace = open_workspace(Path.cwd())
    request = NightRequest(**options)
    result = run_pattern(workspace, request, now=now)
    notes = [
        *(_notes(result, workspace.audit_notes_dir) if options["with_notes"] else ()),
        *result.mined.judgments.skipped_lines(),
    ]
    for path in result.removed:
        days = workspace.settings.retention_days
        notes.append(f"removed {path}: all of it is older than retention_days ({days})")
    notes += for_people(night_notes(result, request, now=now))
    return Output(proposals_facts(result), proposal_lines(result), notes)


def _notes(result: PatternResult, folder: Path) -> Iterator[str]:
    if not folder.is_dir():
        yield f"no audit notes: {folder} is missing"
    for name, reason in result.notes_skipped.items():
        yield f"skipped {printable(name)}: {reason}"
    yield "dry run: with audit notes nothing is removed, and no text is proposed from them"


_GATES = {
    "min_repeat": "too few requests",
    "min_success_rate": "success rate too low",
    "min_unique_questions": "too few distinct questions",
    "steps_not_recorded": "steps truncated in every record",
    "known": "already promoted, open or rejected",
    "same_text": "same text as a better or known proposal",
}


def proposal_lines(result: PatternResult) -> Iterator[str]:
    """Yield a run's results."""
    document, window = result.document, result.window
    n_proposed = sum(candidate.suggested_append is not None for candidate in document.candidates)
    n_sequences = number_of(result.search.n_groups, "sequence")
    yield f"{window_text(window)}; {n_sequences}, {entries_counted(document, n_proposed, 'proposal')}"
    if not window.n_by_day:
        day = newest_day(result.mined.files)
        yield f"  no records in these days; {f'the newest is from {day}' if day else 'the log is empty'}"
    strong = [one for one in document.candidates if not (one.refused or "").startswith("weak: ")]
    yield from _candidate_lines(strong[:MAX_SHOWN])
    yield from more_lines(len(strong), "sequence")
    if n_weak := len(document.candidates) - len(strong):
        weak = number_of(n_weak, "sequence")
        yield f"  {weak} without text: no better than the rest of their category (see the draft)"
    for gate, count in result.search.dropped.items():
        if count:
            yield f"  {count} not proposed: {_GATES[gate]} ({gate})"
    yield from _other_lines(result)


def _candidate_lines(candidates: list[Candidate]) -> Iterator[str]:
    columns = ("id", ">ok", ">questions", "low/base", "category")
    heading, *lines = table("", columns, map(_cells, candidates))
    yield from [heading] if candidates else ()
    for candidate, line in zip(candidates, lines, strict=True):
        yield line
        yield wrap(f"    {' > '.join(map(str, candidate.tool_pattern))}")
        if candidate.refused is not None:
            yield f"    no text: {candidate.refused}"


def _cells(candidate: Candidate) -> tuple[str, ...]:
    rates = f"{candidate.success_low:.2f}/{candidate.base_rate:.2f}"
    counts = f"{candidate.n_succeeded}/{candidate.n_begun}", f"{candidate.n_unique_questions}"
    return candidate.id, *counts, rates, candidate.cat_hash


def _other_lines(result: PatternResult) -> Iterator[str]:
    """Yield neutral records, unreadable lines, entries without a definition, and notes."""
    document = result.document
    if n_neutral := result.window.n_of(RequestOutcome.NEUTRAL):
        yield (
            f"  {number_of(n_neutral, 'record')} counted as neither success nor failure: handed to "
            "a human, an answer shorter than min_chunk_len, or a network or rate-limit error"
        )
    yield from oddity_lines(result.oddities, result.window.unseen())
    own = [one for one in document.entries if one.suggested_append and not one.suggested_append.target_file]
    lost = {one.tool: result.words.tools[one.tool] for one in own}
    if reasons := why_undefined(lost, result.mined.workspace):
        yield f"  {len(own)} with no definition found: {'; '.join(reasons)}"
    if document.notes:
        bullets = number_of(sum(map(len, document.notes.values())), "bullet")
        yield f"  {bullets} of {number_of(len(document.notes), 'audit note')}, in the draft"


def proposals_facts(result: PatternResult) -> dict[str, object]:
    """Return a run's results as JSON has them."""
    document = result.document
    return {
        **mined_facts(result),
        "n_neutral": result.window.n_of(RequestOutcome.NEUTRAL),
        "newest": newest_day(result.mined.files),
        "n_patterns": result.search.n_groups,
        "candidates": [one.labelled(result.words) for one in document.candidates],
        **untrusted({"notes": document.notes}),
    }
