"""The files of proposals of each day: their JSON, how it is read, and their draft for people."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import date, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Final, Literal, Self, TypeVar

import msgspec

from coreloop.base.date_range import Days
from coreloop.base.errors import WorkspaceError
from coreloop.base.files import read_file
from coreloop.base.messages import number_of
from coreloop.base.project.workspace import Workspace
from coreloop.base.text import escape_markdown, printable
from coreloop.base.untrusted import bounded
from coreloop.learn.proposals.entry import (
    Candidate,
    Counterexample,
    Entry,
    ErrorRow,
    Statement,
    SuggestedAppend,
)

if TYPE_CHECKING:
    from coreloop.learn.proposals.allowed_lines import Vocabulary

MIN_PUBLISHED: Final = 5
"""Requests, or failures, that an entry needs to be listed in a shared file; others are only counted."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DayFile:
    """What the files of a day have in common.

    Attributes
    ----------
    name, prefix, command : str
        Part of the file's name, the prefix of its entries' ids, and the command that writes it.
    LOCAL : mapping
        The field that a shared file lacks, without what it has.
    statements : tuple of Statement
        Best first.
    ids : dict of str to str
        Key -> id, of all runs of the day: a key keeps its id.
    n_folded : int
        Entries that a shared file does not list: of undeclared names, or of too few requests.
    """

    name: ClassVar[str]
    prefix: ClassVar[str]
    command: ClassVar[str]
    LOCAL: ClassVar[dict[str, Any]]
    schema_version: Literal[1] = 1
    generated_at: datetime
    window: Days
    statements: tuple[Statement, ...] = ()
    ids: dict[str, str] = field(default_factory=dict)
    n_folded: int = 0

    @property
    def entries(self) -> tuple[Entry, ...]:
        """The statements, then the others, each best first, or worst first."""
        return (*self.statements, *getattr(self, self.name))

    def with_entries(self, entries: Iterable[Entry]) -> Self:
        """The same file with other entries."""
        listed = tuple(entries)
        statements = tuple(entry for entry in listed if isinstance(entry, Statement))
        parts: dict[str, Any] = {"statements": statements, self.name: listed[len(statements) :]}
        return replace(self, **parts)

    def with_ids(self) -> Self:
        """The same file, its entries numbered after the highest id of the day's earlier runs."""
        numbers = (id.rpartition("-")[2] for id in self.ids.values())
        highest = max((int(number) for number in numbers if number.isdecimal()), default=0)
        new = dict.fromkeys(entry.key for entry in self.entries if entry.key not in self.ids)
        start = f"{self.prefix}-{self.generated_at.date()}"
        ids = self.ids | {key: f"{start}-{number:03d}" for number, key in enumerate(new, highest + 1)}
        entries = (replace(entry, id=ids[entry.key]) for entry in self.entries)
        return replace(self.with_entries(entries), ids=ids)

    def shared(self, words: "Vocabulary") -> Self:
        """The same file for others: only entries of declared names and of enough requests."""
        listed = [
            entry.shared()
            for entry in self.entries
            if entry.n_behind >= MIN_PUBLISHED and entry.is_declared(words)
        ]
        # other keys are plain hashes of what is withheld, which a dictionary attack would reveal
        shown = {entry.id for entry in listed if entry.key}
        ids = {key if id in shown else f"withheld-{id}": id for key, id in self.ids.items()}
        n_folded = len(self.entries) - len(listed)
        return replace(self.with_entries(listed), ids=ids, n_folded=n_folded, **self.LOCAL)


@dataclass(frozen=True, slots=True, kw_only=True)
class CandidatesFile(DayFile):
    """``candidates/{YYYY-MM-DD}-candidates.json``; with ``--include-audit-analysis`` also people's notes.

    ``notes`` are by company what the engine should do better; no text is proposed from them.
    """

    name = "candidates"
    prefix = "cand"
    command = "pattern"
    LOCAL: ClassVar[dict[str, Any]] = {"notes": {}}
    candidates: tuple[Candidate, ...]
    notes: dict[str, tuple[str, ...]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class CounterexamplesFile(DayFile):
    """``counterexamples/{YYYY-MM-DD}-counterexamples.json``; ``errors`` in local files only."""

    name = "counterexamples"
    prefix = "ce"
    command = "refine"
    LOCAL: ClassVar[dict[str, Any]] = {"errors": ()}
    counterexamples: tuple[Counterexample, ...]
    errors: tuple[ErrorRow, ...] = ()


ProposalsFile = CandidatesFile | CounterexamplesFile
_File = TypeVar("_File", bound=DayFile)


def read_night(path: Path, kind: type[_File]) -> _File:
    """Read a file of a kind.

    Raises
    ------
    WorkspaceError
        The file is absent, damaged, or of another version.
    """
    try:
        return msgspec.json.decode(read_file(path), type=kind)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        todo = f"move it away and run {kind.command} again"
        raise WorkspaceError(f"is damaged ({error}); {todo}", path=path) from error


def read_proposals(path: Path) -> ProposalsFile:
    """Read a file of either kind; raises as `read_night` does, of the kind that the name says."""
    if path.name.endswith(f"{CounterexamplesFile.name}.json"):
        return read_night(path, CounterexamplesFile)
    return read_night(path, CandidatesFile)


def read_every_night(workspace: Workspace) -> tuple[dict[Path, ProposalsFile], list[str]]:
    """Read the files of proposals of all days; also a line on each that is damaged and skipped."""
    files: dict[Path, ProposalsFile] = {}
    damaged: list[str] = []
    kinds: tuple[type[ProposalsFile], ...] = (CandidatesFile, CounterexamplesFile)
    for kind in kinds:
        for path in sorted((workspace.audit_dir / kind.name).glob(f"*-{kind.name}.json")):
            try:
                files[path] = read_night(path, kind)
            except WorkspaceError as error:
                damaged.append(f"skipped: {error}")
    return files, damaged


def damaged_files(workspace: Workspace) -> list[str]:
    """A line on each file of proposals that is skipped, with what to do."""
    return read_every_night(workspace)[1]


@dataclass(frozen=True, slots=True)
class Proposed:
    """A proposal of a day.

    Attributes
    ----------
    entry, path : Entry or None, Path or None
        What its file says; None of an earlier run of the day, whose rejection can be withdrawn.
    is_listed : bool
        Whether the newest file of its kind lists it.
    """

    id: str
    key: str
    day: date
    entry: Entry | None = None
    path: Path | None = None
    is_listed: bool = False


def read_proposed(workspace: Workspace) -> list[Proposed]:
    """Read all proposals of all days, by day; damaged files are skipped."""
    files, _ = read_every_night(workspace)
    newest = {type(document): path for path, document in files.items()}
    proposed = []
    for path, document in files.items():
        entries = {entry.key: entry for entry in document.entries}
        for key, id in {**document.ids, **{key: entry.id for key, entry in entries.items()}}.items():
            is_listed = key in entries and path == newest[type(document)]
            day = document.generated_at.date()
            proposed.append(Proposed(id, key, day, entries.get(key), path, is_listed))
    return sorted(proposed, key=lambda one: (one.day, one.id))


def entries_counted(document: ProposalsFile, number: int, noun: str) -> str:
    """``1 proposal``, or ``2 statements, 1 failing group, 1 without text, 3 left out``; groups have none."""
    statements = [number_of(len(document.statements), "statement")] if document.statements else []
    own = (entry for entry in document.entries if not isinstance(entry, Counterexample))
    n_without = sum(entry.suggested_append is None for entry in own)
    without = [f"{n_without:,} without text"] if n_without else []
    left_out = [f"{document.n_folded:,} left out"] if document.n_folded else []
    return ", ".join([*statements, number_of(number, noun), *without, *left_out])


# --- For people: the draft as Markdown, and the short summary of a workflow's job.
# What the records say, questions and errors, and names that are not declared, stands in `_untrusted_block`.

_SHOWN: Final = 10
_UNDECLARED: Final = "it has a name that neither coreloop.yaml nor the source declares"


def markdown(document: ProposalsFile, words: "Vocabulary") -> str:
    """The draft: of candidates, with audit notes below, or of counterexamples, with errors above."""
    above = below = ""
    if isinstance(document, CounterexamplesFile):
        above = "".join(_error_rows(document.errors, words))
    elif document.notes:
        texts = [f"{code}: {bullet}" for code, bullets in document.notes.items() for bullet in bullets]
        below = f"\n## Audit notes: to read, not to promote\n\n{_untrusted_block(texts)}"
    n, window = document.n_folded, document.window
    folded = f"\nNot listed: {n} of undeclared names, or of fewer than {MIN_PUBLISHED} requests.\n"
    parts = (
        f"# {document.name.capitalize()}, {window.since} to {window.until}\n\n",
        "Proposals only: nothing was changed.\n",
        "" if document.entries else "\nNothing passed the gates.\n",
        above,
        *(section(entry, words) for entry in document.entries),
        folded if document.n_folded else "",
        below,
    )
    return "".join(parts)


def section(entry: Entry, words: "Vocabulary") -> str:
    """An entry's section of a draft: its figures, its text or why there is none, and what the records say."""
    is_declared = entry.is_declared(words)
    target = entry.suggested_append
    figures = [f"key `{entry.key}`", *entry.evidence, *([f"target: {_target(target)}"] if target else [])]
    suggested = entry.suggested_append if is_declared else None
    said = [text for text in (*entry.said, *entry.example_questions) if text]
    if not is_declared:
        said.insert(0, entry.text)
    parts = (
        f"## {entry.id}: {escape_markdown(entry.text) if is_declared else _UNDECLARED}",
        "\n".join(f"- {figure}" for figure in figures),
        _indented_block(suggested.section, suggested.body)
        if suggested is not None
        else f"Refused: {entry.refused or _UNDECLARED}.",
        f"From the records, with example questions:\n\n{_untrusted_block(said or ['(no text recorded)'])}",
    )
    return "\n" + "\n\n".join(parts)


def _target(suggested: SuggestedAppend) -> str:
    if suggested.target_file is not None:
        return f"{suggested.target_file}::{suggested.target_symbol}"
    return "not known; name the tool under tools: in coreloop.yaml"


def _error_rows(errors: Sequence[ErrorRow], words: "Vocabulary") -> Iterator[str]:
    """The table of errors; below it what merged lines explain, and what a coding agent could be asked for."""
    if not errors:
        return
    yield "\n## Errors\n\n| row | tool | class | calls | requests lost | recovered | who can mend it |\n"
    yield "|---|---|---|---|---|---|---|\n"
    for number, row in enumerate(errors, 1):
        figures = f"{row.n_calls} | {row.n_lost} | {row.recovered} | {row.mender}"
        tool = escape_markdown(row.tool) if words.is_known(row.tool) else "–"
        yield f"| {number} | {tool} | {row.error_class} | {figures} |\n"
    yield "\nThe errors, by row:\n\n"
    yield _untrusted_block(f"{number} {row.tool}: {row.error}" for number, row in enumerate(errors, 1))
    merged = [f"row {number}: {line}" for number, row in enumerate(errors, 1) for line in row.merged]
    tasks = [row.task for row in errors if row.task]
    texts = [f"row {number}: {row.suggestion}" for number, row in enumerate(errors, 1) if row.suggestion]
    heads = "For a person", "Explained by lines that are merged", "For a coding agent"
    for head, lines in zip(heads, (texts, merged, tasks), strict=True):
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
    proposed = [guide for guide in guides.candidates if guide.suggested_append is not None]
    parts = (
        f"### {entries_counted(caveats, len(caveats.counterexamples), 'failing group')}\n\n{days}\n",
        *_listed(caveats.entries),
        f"\n### {entries_counted(guides, len(proposed), 'proposal')}\n",
        *_listed(proposed),
        "",
    )
    return "\n".join(parts)


def _listed(entries: Sequence[Entry]) -> Iterator[str]:
    for entry in entries[:_SHOWN]:
        id, evidence, text = map(escape_markdown, (entry.id, entry.evidence[0], entry.text))
        yield f"- **{id}** {evidence}: {text}"
    if len(entries) > _SHOWN:
        yield f"- and {len(entries) - _SHOWN:,} more, in the artifact"


def _indented_block(section: str, body: str) -> str:
    """Format docstring lines under their heading as a Markdown code block."""
    lines = [section, "-" * len(section), *body.splitlines()]
    return "\n".join("    " + line for line in lines)


def _untrusted_block(texts: Iterable[str]) -> str:
    """Quote texts as a block of Markdown, a line each; none of them can end it, since all are indented."""
    lines = (f"    {bounded(printable(text))}\n" for text in texts)
    return f"```untrusted\n{''.join(lines)}```\n"
