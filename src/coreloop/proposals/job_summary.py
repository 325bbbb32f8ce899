"""What a nightly run proposes, as Markdown for the summary of a workflow's job, read on a phone."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

from coreloop.proposals.candidates import CandidatesFile
from coreloop.proposals.counterexamples import CounterexamplesFile
from coreloop.proposals.night import read_candidates, read_counterexamples
from coreloop.text import counted, escape_markdown

_SHOWN: Final = 10


def job_summary(candidates: Path, counterexamples: Path) -> str:
    """Both files as two short lists.

    Raises
    ------
    WorkspaceError
        One of them cannot be read.
    """
    guides, caveats = _guides(read_candidates(candidates)), _caveats(read_counterexamples(counterexamples))
    return "\n".join([*guides, "", *caveats, ""])


def promotable(path: Path) -> list[str]:
    """Ids of the candidates that have text with a place to go, best first."""
    found = read_candidates(path).candidates
    return [entry.id for entry in found if entry.suggested_append and entry.suggested_append.target_file]


def _guides(file: CandidatesFile) -> Iterator[str]:
    days = escape_markdown(f"{file.window.since} to {file.window.until}")
    yield f"### {counted(len(file.candidates), 'candidate')}\n\n{days}\n"
    for entry in file.candidates[:_SHOWN]:
        steps = escape_markdown(" > ".join(map(str, entry.tool_pattern)))
        succeeded = f"{entry.n_succeeded} of {entry.n_observed}"
        yield f"- **{escape_markdown(entry.id)}** {succeeded}, {escape_markdown(entry.cat_hash)}: {steps}"
    yield from _more(file.candidates)


def _caveats(file: CounterexamplesFile) -> Iterator[str]:
    yield f"### {counted(len(file.counterexamples), 'counterexample')}\n"
    for entry in file.counterexamples[:_SHOWN]:
        why = f" ({escape_markdown(entry.error_class)})" if entry.error_class else ""
        failed = f"{entry.n_failures} of {entry.n_calls} {entry.unit} failed{why}"
        yield f"- **{escape_markdown(entry.id)}** {escape_markdown(entry.tool)}: {failed}"
    yield from _more(file.counterexamples)


def _more(found: Sequence[object]) -> Iterator[str]:
    if len(found) > _SHOWN:
        yield f"- and {len(found) - _SHOWN} more, in the artifact"
