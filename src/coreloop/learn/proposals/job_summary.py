"""The proposals of a nightly run as Markdown for a workflow's job summary, short enough for a phone."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

from coreloop.base.messages import Phrase, say
from coreloop.base.text import escape_markdown
from coreloop.learn.proposals.candidates import Candidate, CandidatesFile
from coreloop.learn.proposals.counterexamples import Counterexample, CounterexamplesFile
from coreloop.learn.proposals.proposal_files import entries_counted, read_candidates, read_counterexamples
from coreloop.learn.proposals.statement_document import sides_text, statement_line
from coreloop.learn.proposals.statements import Statement

_SHOWN: Final = 10


def job_summary(candidates: Path, counterexamples: Path) -> str:
    """Summarise a candidates file and a counterexamples file.

    Raises
    ------
    WorkspaceError
        A file is absent or unreadable.
    """
    guides, caveats = _guides(read_candidates(candidates)), _caveats(read_counterexamples(counterexamples))
    return "\n".join([*guides, "", *caveats, ""])


def _guides(file: CandidatesFile) -> Iterator[str]:
    days = escape_markdown(say("{since} to {until}", since=file.window.since, until=file.window.until))
    yield f"### {say(entries_counted(file, len(file.candidates), 'proposal'))}\n\n{days}\n"
    yield from _listed(file.entries)


def _caveats(file: CounterexamplesFile) -> Iterator[str]:
    yield f"### {say(entries_counted(file, len(file.counterexamples), 'failing group'))}\n"
    yield from _listed(file.entries)


def _listed(entries: Sequence[Statement | Candidate | Counterexample]) -> Iterator[str]:
    for entry in entries[:_SHOWN]:
        yield f"- **{escape_markdown(entry.id)}** {_described(entry)}"
    if len(entries) > _SHOWN:
        yield say("- and {n:,} more, in the artifact", n=len(entries) - _SHOWN)


def _described(entry: Statement | Candidate | Counterexample) -> str:
    if isinstance(entry, Statement):
        return f"{say(sides_text(entry, entry.sides))}: {escape_markdown(statement_line(entry))}"
    if isinstance(entry, Candidate):
        steps = escape_markdown(" > ".join(map(str, entry.tool_pattern)))
        share = say("{figure} of {needed}", figure=entry.n_succeeded, needed=entry.n_observed)
        return f"{share}, {escape_markdown(entry.cat_hash)}: {steps}"
    error_class = f" ({escape_markdown(entry.error_class)})" if entry.error_class else ""
    failed = say(
        "{n_failures} of {n_calls} {unit} failed",
        n_failures=entry.n_failures,
        n_calls=entry.n_calls,
        unit=Phrase(entry.unit),
    )
    return f"{escape_markdown(entry.tool)}: {failed}{error_class}"
