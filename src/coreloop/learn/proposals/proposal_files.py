"""The files of proposals of each day: their JSON, and how it is read."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from datetime import date, datetime
from pathlib import Path
from typing import Any, ClassVar, Final, Literal, Self, TypeVar

import msgspec

from coreloop.base.date_range import Days
from coreloop.base.errors import WorkspaceError
from coreloop.base.files import read_file
from coreloop.base.messages import number_of
from coreloop.base.project.workspace import Workspace
from coreloop.learn.proposals.allowed_lines import Vocabulary
from coreloop.learn.proposals.entry import Candidate, Counterexample, Entry, ErrorRow, Statement

MIN_PUBLISHED: Final = 5
"""Requests, or failures, that an entry needs to be listed in a shared file; others are only counted."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DayFile:
    """What the files of a day have in common.

    Attributes
    ----------
    name, prefix, command : str
        Part of the file's name, the prefix of its entries' ids, and the command that writes it.
    local : str
        The field that a shared file lacks.
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
    local: ClassVar[str]
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

    def shared(self, words: Vocabulary) -> Self:
        """The same file for others: only entries of declared names and of enough requests."""
        listed = [
            entry.shared()
            for entry in self.entries
            if entry.n_behind >= MIN_PUBLISHED and entry.is_declared(words)
        ]
        # other keys are plain hashes of what is withheld, which a dictionary attack would reveal
        shown = {entry.id for entry in listed if entry.key}
        ids = {key if id in shown else f"withheld-{id}": id for key, id in self.ids.items()}
        nothing = type(getattr(self, self.local))()
        changes: dict[str, Any] = {"n_folded": len(self.entries) - len(listed), self.local: nothing}
        return replace(self.with_entries(listed), ids=ids, **changes)


@dataclass(frozen=True, slots=True, kw_only=True)
class CandidatesFile(DayFile):
    """``candidates/{YYYY-MM-DD}-candidates.json``; with ``--include-audit-analysis`` also people's notes.

    ``notes`` are by company what the engine should do better; no text is proposed from them.
    """

    name = "candidates"
    prefix = "cand"
    command = "pattern"
    local = "notes"
    candidates: tuple[Candidate, ...]
    notes: dict[str, tuple[str, ...]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class CounterexamplesFile(DayFile):
    """``counterexamples/{YYYY-MM-DD}-counterexamples.json``; ``errors`` in local files only."""

    name = "counterexamples"
    prefix = "ce"
    command = "refine"
    local = "errors"
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
    """Read a file of either kind; raises as `read_night` does."""
    try:
        return read_night(path, CounterexamplesFile)
    except WorkspaceError:
        return read_night(path, CandidatesFile)


@dataclass(frozen=True, slots=True)
class EveryNight:
    """The readable files of proposals, and a line on each file that is skipped."""

    files: Mapping[Path, ProposalsFile]
    damaged: tuple[str, ...] = ()


def read_every_night(workspace: Workspace) -> EveryNight:
    """Read the files of all days; a damaged one is skipped and named."""
    files: dict[Path, ProposalsFile] = {}
    damaged: list[str] = []
    kinds: tuple[type[ProposalsFile], ...] = (CandidatesFile, CounterexamplesFile)
    for kind in kinds:
        for path in sorted((workspace.audit_dir / kind.name).glob(f"*-{kind.name}.json")):
            try:
                files[path] = read_night(path, kind)
            except WorkspaceError as error:
                damaged.append(f"skipped: {error}")
    return EveryNight(files, tuple(damaged))


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

    @property
    def text(self) -> str:
        """Its line, steps or call."""
        return self.entry.text if self.entry is not None else ""

    @property
    def is_draft(self) -> bool:
        """Whether it has a text for a docstring, so that it can be promoted."""
        return self.entry is not None and self.entry.suggested_append is not None


def read_proposed(workspace: Workspace) -> list[Proposed]:
    """Read all proposals of all days, by day; damaged files are skipped."""
    files = read_every_night(workspace).files
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
    """``1 proposal``, or ``2 statements, 1 failing group, 1 without text, 3 left out``."""
    statements = [number_of(len(document.statements), "statement")] if document.statements else []
    n_without = sum(entry.suggested_append is None for entry in document.entries)
    without = [f"{n_without:,} without text"] if n_without else []
    left_out = [f"{document.n_folded:,} left out"] if document.n_folded else []
    return ", ".join([*statements, number_of(number, noun), *without, *left_out])
