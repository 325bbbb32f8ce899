"""The proposals of a nightly run as Markdown for a workflow's job summary, short enough for a phone."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

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
    days = escape_markdown(f"{file.window.since} to {file.window.until}")
    yield f"### {entries_counted(file, len(file.candidates), 'proposal')}\n\n{days}\n"
    yield from _listed(file.entries)


def _caveats(file: CounterexamplesFile) -> Iterator[str]:
    yield f"### {entries_counted(file, len(file.counterexamples), 'failing group')}\n"
    yield from _listed(file.entries)


def _listed(entries: Sequence[Statement | Candidate | Counterexample]) -> Iterator[str]:
    for entry in entries[:_SHOWN]:
        yield f"- **{escape_markdown(entry.id)}** {_described(entry)}"
    if len(entries) > _SHOWN:
        yield f"- and {len(entries) - _SHOWN:,} more, in the artifact"


def _described(entry: Statement | Candidate | Counterexample) -> str:
    if isinstance(entry, Statement):
        return f"{sides_text(entry, entry.sides)}: {escape_markdown(statement_line(entry))}"
    if isinstance(entry, Candidate):
        steps = escape_markdown(" > ".join(map(str, entry.tool_pattern)))
        share = f"{entry.n_succeeded} of {entry.n_observed}"
        return f"{share}, {escape_markdown(entry.cat_hash)}: {steps}"
    error_class = f" ({escape_markdown(entry.error_class)})" if entry.error_class else ""
    failed = f"{entry.n_failures} of {entry.n_calls} {entry.unit} failed"
    return f"{escape_markdown(entry.tool)}: {failed}{error_class}"
