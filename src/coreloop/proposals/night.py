"""A night's two files, the proposals as JSON and their draft: read by all, written together."""

from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, field, replace
from datetime import date
from hashlib import sha256
from pathlib import Path
from typing import Final, Generic, Protocol, Self, TypeVar

import msgspec
import orjson

from coreloop.errors import WorkspaceError
from coreloop.files import locked, read_file, write_private_together
from coreloop.proposals.candidates import Candidate, CandidatesFile
from coreloop.proposals.counterexamples import Counterexample, CounterexamplesFile
from coreloop.proposals.entry import SCHEMA_VERSION
from coreloop.proposals.statements import Statement
from coreloop.text import counted

MIN_PUBLISHED: Final = 5
"""Requests, or failures, behind an entry that others may read; what fewer people did is only counted."""

ProposalsFile = CandidatesFile | CounterexamplesFile
_Entry = TypeVar("_Entry", bound=Candidate | Counterexample | Statement)
_Kind = TypeVar("_Kind")
_File = TypeVar("_File", bound=ProposalsFile)


@dataclass(frozen=True, slots=True)
class ProposalKind:
    """One of the two kinds: its file's name, the prefix of its ids, and the command that writes it."""

    name: str
    prefix: str
    command: str

    @property
    def damaged(self) -> str:
        """What is said of a file that cannot be read."""
        return f"is damaged ({{error}}); move it away and run {self.command} again"


CANDIDATES: Final = ProposalKind("candidates", "cand", "pattern")
COUNTEREXAMPLES: Final = ProposalKind("counterexamples", "ce", "refine")


class _Versioned(Protocol):
    @property
    def schema_version(self) -> int: ...


_Read = TypeVar("_Read", bound=_Versioned)


class _Either(msgspec.Struct):
    """Has the one field that tells the two kinds of files apart."""

    counterexamples: msgspec.Raw = msgspec.Raw()


@dataclass(frozen=True, slots=True)
class _Known:
    """As much of a day's file as the next run of the day needs."""

    schema_version: int
    ids: dict[str, str] = field(default_factory=dict)


def read_candidates(path: Path) -> CandidatesFile:
    """Read a candidates file.

    Raises
    ------
    WorkspaceError
        It is not there, or not one that this version can read.
    """
    return _read(path, CandidatesFile, CANDIDATES.damaged)


def read_counterexamples(path: Path) -> CounterexamplesFile:
    """Read a counterexamples file; raises as `read_candidates` does."""
    return _read(path, CounterexamplesFile, COUNTEREXAMPLES.damaged)


def read_proposals(path: Path) -> ProposalsFile:
    """Read a file of either kind that somebody named; raises as `read_candidates` does."""
    refusal = "is no candidates file ({error})"
    either = _decoded(path, _Either, refusal)
    if not bytes(either.counterexamples):
        return _read(path, CandidatesFile, refusal)
    return _read(path, CounterexamplesFile, refusal)


def _read(path: Path, kind: type[_Read], refusal: str) -> _Read:
    document = _decoded(path, kind, refusal)
    if document.schema_version > SCHEMA_VERSION:
        raise WorkspaceError(f"has schema version {document.schema_version}; upgrade coreloop", path=path)
    return document


_Any = TypeVar("_Any")


def _decoded(path: Path, kind: type[_Any], refusal: str) -> _Any:
    try:
        return msgspec.json.decode(read_file(path), type=kind)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise WorkspaceError(refusal.format(error=error), path=path) from error


def to_json(document: ProposalsFile) -> bytes:
    """The file's bytes: indented JSON, UTF-8."""
    return orjson.dumps(document, option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE)


def new_keys(drafted: Iterable[_Entry], known: Collection[str]) -> tuple[tuple[_Entry, ...], dict[str, int]]:
    """The first of each key that is not known, and how many others there are, with the same text."""
    every = list(drafted)
    first = {entry.key: entry for entry in reversed(every)}
    kept = tuple(entry for entry in every if first[entry.key] is entry and entry.key not in known)
    return kept, {"same_text": len(every) - len(kept)} if len(kept) < len(every) else {}


def assign_ids(keys: Iterable[str], known: Mapping[str, str], *, prefix: str, day: date) -> dict[str, str]:
    """Readable ids for keys.

    Parameters
    ----------
    keys : iterable of str
        Best first.
    known : mapping of key to id
        Ids that earlier runs of the day gave; a key keeps its id.
    prefix : str
        ``cand`` or ``ce``.
    day : date
        Day of the run.

    Returns
    -------
    dict of str to str
        ``known`` and ``{prefix}-YYYY-MM-DD-NNN`` for each new key, from the highest number on.
    """
    numbers = (id.rpartition("-")[2] for id in known.values())
    highest = max((int(number) for number in numbers if number.isdecimal()), default=0)
    new = dict.fromkeys(key for key in keys if key not in known)
    return {**known, **{key: f"{prefix}-{day}-{place:03d}" for place, key in enumerate(new, highest + 1)}}


@dataclass(frozen=True, slots=True)
class Numbered(Generic[_Entry]):
    """Entries with their ids, as they may be written.

    Attributes
    ----------
    entries : tuple
        Best first; those that others may read, redacted, where the file is for others.
    ids : dict of str to str
        Key -> id, of every run of the day; of a key that is withheld from others only the number stays.
    n_folded : int
        Entries that too few requests or failures stand behind to be listed for others.
    """

    entries: tuple[_Entry, ...]
    ids: dict[str, str]
    n_folded: int = 0

    def of(self, kind: type[_Kind]) -> tuple[_Kind, ...]:
        """Those of one kind, best first."""
        return tuple(entry for entry in self.entries if isinstance(entry, kind))

    def redacted(self, redact: Callable[[_Entry], _Entry]) -> Self:
        """As others may read them."""
        listed = tuple(redact(entry) for entry in self.entries if entry.n_behind >= MIN_PUBLISHED)
        withheld = set(self.ids.values()) - {entry.id for entry in listed if entry.key}
        shown = {f"withheld-{id}" if id in withheld else key: id for key, id in self.ids.items()}
        return replace(self, entries=listed, ids=shown, n_folded=len(self.entries) - len(listed))


def write_night(
    folder: Path,
    day: date,
    entries: Iterable[_Entry],
    *,
    kind: ProposalKind,
    redact: Callable[[_Entry], _Entry] | None,
    build: Callable[[Numbered[_Entry]], tuple[_File, str]],
) -> tuple[_File, tuple[Path, Path]]:
    """Write ``{day}-{kind}.json`` and its draft, ``{day}-draft.md``, one process at a time.

    Parameters
    ----------
    folder : Path
        Where they go.
    day : date
        Day of the run.
    entries : iterable of Candidate, Counterexample or Statement
        Best first, without ids; they share one numbering.
    kind : ProposalKind
        Of the entries.
    redact : callable, optional
        Makes an entry one that others may read; None for files that stay on this machine.
    build : callable
        From the numbered entries to the file's model and the draft.

    Returns
    -------
    tuple
        What the JSON file holds, and the paths of it and of the draft.

    Raises
    ------
    WorkspaceError
        The folder cannot be written, or the day's file is damaged. Nothing is half written.
    """
    path, draft = folder / f"{day}-{kind.name}.json", folder / f"{day}-draft.md"
    with locked(folder):
        numbered = _numbered(list(entries), path, day, kind)
        document, text = build(numbered if redact is None else numbered.redacted(redact))
        page = text.encode("utf-8", "replace")
        document = replace(document, draft_sha256=sha256(page).hexdigest())
        write_private_together({draft: page, path: to_json(document)})
    return document, (path, draft)


def _numbered(entries: list[_Entry], path: Path, day: date, kind: ProposalKind) -> Numbered[_Entry]:
    known = _read(path, _Known, kind.damaged).ids if path.exists() else {}
    ids = assign_ids((entry.key for entry in entries), known, prefix=kind.prefix, day=day)
    return Numbered(tuple(replace(entry, id=ids[entry.key]) for entry in entries), ids)


def folded_note(count: int, noun: str) -> str:
    """What a draft says of the entries that have too few requests, or failures, to be listed for others."""
    return f"\nNot listed: {count} of fewer than {MIN_PUBLISHED} {noun}.\n" if count else ""


def entries_counted(document: ProposalsFile, number: int, noun: str) -> str:
    """``1 candidate``, or ``2 statements, 1 candidate``."""
    statements = f"{counted(len(document.statements), 'statement')}, " if document.statements else ""
    return f"{statements}{counted(number, noun)}"
