"""What commands print: tables for people, JSON for programs."""

import os
import shutil
from collections.abc import Iterator, Mapping
from dataclasses import asdict
from pathlib import Path

import click
import orjson

from coreloop.base.messages import Phrase, number_of, say
from coreloop.base.text import aligned, fitted, padded, printable, wrapped
from coreloop.learn.facts.oddities import Absent, LogOddities
from coreloop.learn.pattern.draft import is_weak
from coreloop.learn.pattern.find import NearMiss
from coreloop.learn.pattern.propose import Proposals
from coreloop.learn.proposals.candidates import Candidate, CandidatesFile
from coreloop.learn.proposals.night import MIN_PUBLISHED, entries_counted
from coreloop.learn.proposals.statements import Statement

MAX_SHOWN = 10
_GATES = {
    "min_repeat": "too few requests",
    "min_success_rate": "success rate too low",
    "min_unique_questions": "too few distinct questions",
    "steps_not_recorded": "steps truncated in every record",
    "known": "already promoted, open or rejected",
    "same_text": "same text as a better or known proposal",
}


def show_proposals(
    proposals: Proposals,
    document: CandidatesFile,
    paths: tuple[Path, ...],
    *,
    kept: Path | None = None,
    as_json: bool,
) -> None:
    """Print a run's results to stdout and the paths of the written files to stderr."""
    if as_json:
        click.echo(proposals_json(proposals, document, paths, kept))
        return
    _show_head(proposals, document)
    _show_table(document)
    for gate, count in proposals.candidate_search.dropped.items():
        if count:
            click.echo(
                say(
                    "  {count} not proposed: {gates} ({gate})",
                    count=count,
                    gates=say(_GATES[gate]),
                    gate=gate,
                )
            )
            _show_nearest([miss for miss in proposals.candidate_search.nearest if miss.gate == gate])
    _show_rest(proposals, document)
    show_files(paths, kept)


def show_files(paths: tuple[Path, ...], kept: Path | None) -> None:
    """Say on stderr which files a run wrote or, since its days have no record, kept."""
    for path in paths:
        click.echo(say("wrote {path}", path=path), err=True)
    if kept is not None:
        click.echo(say("kept {path}: no record in these days, so nothing was written", path=kept), err=True)


def _show_head(proposals: Proposals, document: CandidatesFile) -> None:
    days = proposals.recorded
    click.echo(
        say(
            "{records} in {files}, {since} to {until}; {groups}, {entries}",
            records=number_of(proposals.n_records, "record"),
            files=number_of(proposals.n_files, "file"),
            since=days.since,
            until=days.until,
            groups=number_of(proposals.candidate_search.n_groups, "sequence"),
            entries=entries_counted(document, len(document.candidates), "proposal"),
        )
    )
    if not proposals.n_records:
        newest = (
            say("the newest is from {newest}", newest=proposals.newest)
            if proposals.newest
            else say("the log is empty")
        )
        click.echo(say("  no records in these days; {newest}", newest=newest))


def _show_table(document: CandidatesFile) -> None:
    weak = [candidate for candidate in document.candidates if is_weak(candidate)]
    strong = [candidate for candidate in document.candidates if not is_weak(candidate)]
    if strong:
        click.echo(
            f"{'id':<20} {aligned(say('ok'), 9)} {aligned(say('questions'), 9)}  "
            f"{padded(say('low/base'), 9)}  {say('category')}"
        )
    columns = shutil.get_terminal_size().columns
    for candidate in strong[:MAX_SHOWN]:
        _show_candidate(candidate, columns)
    show_more(len(strong), "proposal")
    if weak:
        click.echo(
            say(
                "  {proposals} without text: no better than the rest of their category (see the draft)",
                proposals=number_of(len(weak), "proposal"),
            )
        )
    if document.n_folded:
        noun = say(number_of(document.n_folded, "proposal"))
        click.echo(
            say(
                "  {noun} of fewer than {min_published} requests left out",
                noun=noun,
                min_published=MIN_PUBLISHED,
            )
        )


def _show_nearest(missed: list[NearMiss]) -> None:
    columns = shutil.get_terminal_size().columns
    for miss in missed:
        counts = say(
            "{n_success} of {n_observed} succeeded ({success_rate:.3f})",
            n_success=miss.n_success,
            n_observed=miss.n_observed,
            success_rate=miss.success_rate,
        )
        questions = (
            f", {say(number_of(miss.n_questions, 'question'))}" if miss.n_questions is not None else ""
        )
        line = say(
            "      nearest: {counts}{questions}, {category}: {steps}",
            counts=counts,
            questions=questions,
            category=miss.category,
            steps=miss.steps,
        )
        click.echo(fitted(printable(line), columns))


def _show_rest(proposals: Proposals, document: CandidatesFile) -> None:
    """Print neutral records, unreadable lines, entries without a definition, and notes."""
    if proposals.n_neutral:
        click.echo(
            say(
                "  {records} counted as neither success nor failure: handed to a human, an "
                "answer shorter than min_chunk_len, or a network or rate-limit error",
                records=number_of(proposals.n_neutral, "record"),
            )
        )
    show_oddities(proposals.oddities)
    n_without_target = sum(map(_lacks_target, document.entries))
    if n_without_target:
        click.echo(
            say(
                "  {n_without_target} with no definition found: name the tools in "
                "coreloop.yaml (see the draft)",
                n_without_target=n_without_target,
            )
        )
    if document.notes:
        bullets = sum(len(note.bullets) for note in document.notes)
        click.echo(
            say(
                "  {bullets} of {notes}, in the draft",
                bullets=number_of(bullets, "bullet"),
                notes=number_of(len(document.notes), "audit note"),
            )
        )


def show_more(number: int, noun: str) -> None:
    """Say how many of a table only the draft shows."""
    if number > MAX_SHOWN:
        click.echo(say("… and {counted} more, in the draft", counted=number_of(number - MAX_SHOWN, noun)))


def show_oddities(oddities: LogOddities) -> None:
    """Print skipped lines and unusable fields, each with its first location."""
    for reason, count in sorted(oddities.skipped.items()):
        first = printable(oddities.skipped_first[reason])
        click.echo(
            say(
                "  {lines} skipped: {reason}, first in {first}",
                lines=number_of(count, "line"),
                reason=Phrase(reason),
                first=first,
            )
        )
    for line in absent_lines(oddities.read_as_absent):
        click.echo(f"  {line}")


def absent_lines(absent: Mapping[str, Absent]) -> Iterator[str]:
    """``3 records have an unusable overrides_used, first in 2026-04-25.jsonl line 12: read as absent``."""
    for name, field in absent.items():
        verb = "has" if field.n == 1 else "have"
        first = printable(field.first)
        yield say(
            "{records} {verb} an unusable {name}, first in {first}: read as absent",
            records=number_of(field.n, "record"),
            verb=verb,
            name=name,
            first=first,
        )


def warn_of_skipped(skipped: Mapping[str, int], noun: str) -> None:
    """Print on stderr how many lines were skipped, by reason."""
    for reason, count in sorted(skipped.items()):
        click.echo(
            say(
                "{lines} of {noun} skipped: {reason}",
                lines=number_of(count, "line"),
                noun=say(noun),
                reason=Phrase(reason),
            ),
            err=True,
        )


def _lacks_target(entry: Statement | Candidate) -> bool:
    return entry.suggested_append is not None and entry.suggested_append.target_file is None


def proposals_json(
    proposals: Proposals, document: CandidatesFile, paths: tuple[Path, ...], kept: Path | None = None
) -> str:
    """Return a run's results as JSON."""
    facts = {
        "window": document.window,
        "n_records": proposals.n_records,
        "n_neutral": proposals.n_neutral,
        "n_files": proposals.n_files,
        "newest": proposals.newest,
        "n_patterns": proposals.candidate_search.n_groups,
        "fell": proposals.candidate_search.dropped,
        "nearest": proposals.candidate_search.nearest,
        **asdict(proposals.oddities),
        "candidates": document.candidates,
        "notes": document.notes,
        "n_folded": document.n_folded,
        "files": [_spelled(path) for path in paths],
        "kept": kept and _spelled(kept),
    }
    return orjson.dumps(facts, option=orjson.OPT_INDENT_2).decode()


def _spelled(path: Path) -> str:
    return os.fsencode(path).decode("utf-8", "replace")


def _show_candidate(candidate: Candidate, columns: int) -> None:
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
                say(
                    "{indent}gate relaxed by the playbook: {bullet}", indent=indent, bullet=printable(bullet)
                ),
                columns,
            )
        )
    if candidate.refused is not None:
        click.echo(say("{indent}no text: {refused}", indent=indent, refused=say(candidate.refused)))
