"""A night's proposals for people: the draft as Markdown, and the short summary of a workflow's job.

What the records say, questions and errors, and names that are not declared, stands in `untrusted_block`.
"""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

from coreloop.base.text import escape_markdown, indented_block, printable
from coreloop.base.untrusted import untrusted_block
from coreloop.learn.proposals.allowed_lines import Vocabulary
from coreloop.learn.proposals.entry import Candidate, Entry, ErrorRow
from coreloop.learn.proposals.proposal_files import (
    MIN_PUBLISHED,
    CandidatesFile,
    CounterexamplesFile,
    ProposalsFile,
    entries_counted,
    read_night,
)

_SHOWN: Final = 10
_UNDECLARED: Final = "it has a name that neither coreloop.yaml nor the source declares"


def markdown(document: ProposalsFile, words: Vocabulary) -> str:
    """The draft: of candidates, with audit notes below, or of counterexamples, with errors above."""
    above = below = ""
    nothing, noun = "Nothing passed the gates.", "requests"
    if isinstance(document, CounterexamplesFile):
        nothing, noun = "Nothing failed often enough.", "failures"
        above = "".join(_error_rows(document.errors, words))
    elif document.notes:
        texts = [f"{code}: {bullet}" for code, bullets in document.notes.items() for bullet in bullets]
        below = f"\n## Audit notes: to read, not to promote\n\n{untrusted_block(texts)}"
    folded = (
        f"\nNot listed: {document.n_folded} of undeclared names, or of fewer than {MIN_PUBLISHED} {noun}.\n"
    )
    window = document.window
    parts = (
        f"# {document.name.capitalize()}, {window.since} to {window.until}\n\n",
        "Proposals only: nothing was changed.\n",
        "" if document.entries else f"\n{nothing}\n",
        above,
        *(section(entry, words) for entry in document.entries),
        folded if document.n_folded else "",
        below,
    )
    return "".join(parts)


def section(entry: Entry, words: Vocabulary) -> str:
    """An entry's section of a draft: its figures, its text or why there is none, and what the records say."""
    is_declared = entry.is_declared(words)
    figures = [f"key `{entry.key}`", *entry.evidence, f"target: {_target(entry)}"]
    relaxed = []
    if isinstance(entry, Candidate) and entry.bullets:
        relaxed.append(f"The gate was relaxed by the playbook:\n\n{untrusted_block(entry.bullets)}")
    suggested = entry.suggested_append if is_declared else None
    said = [text for text in (*entry.said, *entry.questions) if text]
    if not is_declared:
        said.insert(0, entry.text)
    parts = (
        f"## {entry.id}: {escape_markdown(entry.text) if is_declared else _UNDECLARED}",
        "\n".join(f"- {figure}" for figure in figures),
        *relaxed,
        indented_block(suggested.section, suggested.body)
        if suggested is not None
        else f"Refused: {entry.refused or _UNDECLARED}.",
        f"From the records, with example questions:\n\n{untrusted_block(said or ['(no text recorded)'])}",
    )
    return "\n" + "\n\n".join(parts)


def _target(entry: Entry) -> str:
    suggested = entry.suggested_append
    if suggested is None:
        return "none"
    if suggested.target_file is not None:
        return f"{suggested.target_file}::{suggested.target_symbol}"
    return "not known; name the tool under tools: in coreloop.yaml"


def _error_rows(errors: Sequence[ErrorRow], words: Vocabulary) -> Iterator[str]:
    """The table of errors; below it what merged lines explain, and what a coding agent could be asked for."""
    if not errors:
        return
    yield "\n## Errors\n\n| row | tool | class | calls | requests lost | recovered | who can mend it |\n"
    yield "|---|---|---|---|---|---|---|\n"
    for number, row in enumerate(errors, 1):
        figures = f"{row.n_calls} | {row.n_lost} | {row.n_recovered} | {row.mender}"
        tool = escape_markdown(row.tool) if words.is_known(row.tool) else "–"
        yield f"| {number} | {tool} | {row.error_class} | {figures} |\n"
    yield "\nThe errors, by row:\n\n"
    yield untrusted_block(f"{number} {row.tool}: {row.error}" for number, row in enumerate(errors, 1))
    merged = [f"row {number}: {line}" for number, row in enumerate(errors, 1) for line in row.merged]
    tasks = [row.task for row in errors if row.task]
    for head, lines in (("Explained by lines that are merged", merged), ("For a coding agent", tasks)):
        if lines:
            yield f"\n{head}:\n\n" + "".join(f"    {printable(line)}\n" for line in lines)


def job_summary(candidates: Path, counterexamples: Path) -> str:
    """Summarise a candidates file and a counterexamples file.

    Raises
    ------
    WorkspaceError
        A file is absent or unreadable.
    """
    guides = read_night(candidates, CandidatesFile)
    caveats = read_night(counterexamples, CounterexamplesFile)
    days = escape_markdown(f"{guides.window.since} to {guides.window.until}")
    parts = (
        f"### {entries_counted(guides, len(guides.candidates), 'proposal')}\n\n{days}\n",
        *_listed(guides.entries),
        f"\n### {entries_counted(caveats, len(caveats.counterexamples), 'failing group')}\n",
        *_listed(caveats.entries),
        "",
    )
    return "\n".join(parts)


def _listed(entries: Sequence[Entry]) -> Iterator[str]:
    for entry in entries[:_SHOWN]:
        id, evidence, text = map(escape_markdown, (entry.id, entry.evidence[0], entry.text))
        yield f"- **{id}** {evidence}: {text}"
    if len(entries) > _SHOWN:
        yield f"- and {len(entries) - _SHOWN:,} more, in the artifact"
