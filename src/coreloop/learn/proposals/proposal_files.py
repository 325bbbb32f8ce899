"""The two files of a run, the proposals as JSON and their draft, written together."""

from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, field, replace
from datetime import date, datetime
from hashlib import sha256
from pathlib import Path
from typing import Any, Final, Protocol, TypeVar

import msgspec
import orjson

from coreloop.base.date_range import Days
from coreloop.base.errors import WorkspaceError
from coreloop.base.files import locked, read_file, write_private
from coreloop.base.messages import number_of
from coreloop.learn.proposals.entry import Candidate, Counterexample, Entry, Statement
from coreloop.learn.proposals.task import ErrorRow
from coreloop.learn.proposals.vocabulary import Vocabulary, unless

SCHEMA_VERSION: Final = 1
FROM_NOTES: Final = 3
"""Evidence rank of what people wrote by hand."""
MIN_PUBLISHED: Final = 5
"""Requests, or failures, that an entry needs to be listed in a shared file; others are only counted."""


@dataclass(frozen=True, slots=True)
class Note:
    """People's notes on a company: what the engine should do better. No text is proposed from them."""

    stock_code: str
    bullets: tuple[str, ...]
    evidence_rank: int = FROM_NOTES

    def shared(self) -> "Note":
        """Redacted: no part of it is from a closed vocabulary."""
        bullets = tuple(unless(False, text) for text in self.bullets)
        return replace(self, stock_code=unless(False, self.stock_code), bullets=bullets)


@dataclass(frozen=True, slots=True, kw_only=True)
class DayFile:
    """What the files of a day have in common.

    Attributes
    ----------
    ids : dict of str to str
        Key -> id, of all runs of the day: a key keeps its id.
    n_folded : int
        Entries of too few requests to be listed in a shared file; 0 in a local one.
    draft_sha256 : str
        Digest of the draft that was written with it, 64 hex digits.
    """

    schema_version: int = SCHEMA_VERSION
    generated_at: datetime
    window: Days
    statements: tuple[Statement, ...] = ()
    ids: dict[str, str] = field(default_factory=dict)
    n_folded: int = 0
    draft_sha256: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class CandidatesFile(DayFile):
    """``candidates/{YYYY-MM-DD}-candidates.json``; ``notes`` only with ``--include-audit-analysis``."""

    candidates: tuple[Candidate, ...]
    notes: tuple[Note, ...] = ()

    @property
    def entries(self) -> tuple[Statement | Candidate, ...]:
        """The statements, then the candidates, each best first."""
        return (*self.statements, *self.candidates)


@dataclass(frozen=True, slots=True, kw_only=True)
class CounterexamplesFile(DayFile):
    """``counterexamples/{YYYY-MM-DD}-counterexamples.json``; ``errors`` in local files only."""

    counterexamples: tuple[Counterexample, ...]
    errors: tuple[ErrorRow, ...] = ()

    @property
    def entries(self) -> tuple[Statement | Counterexample, ...]:
        """The statements, best first, then the counterexamples, worst first."""
        return (*self.statements, *self.counterexamples)


ProposalsFile = CandidatesFile | CounterexamplesFile
_Entry = TypeVar("_Entry", Candidate, Counterexample)
_File = TypeVar("_File", bound=ProposalsFile)


@dataclass(frozen=True, slots=True)
class ProposalKind:
    """A kind of proposals: the name in file names, the prefix of ids, the error of a damaged file."""

    name: str
    prefix: str
    damaged: str


CANDIDATES: Final = ProposalKind(
    "candidates", "cand", "is damaged ({error}); move it away and run pattern again"
)
COUNTEREXAMPLES: Final = ProposalKind(
    "counterexamples", "ce", "is damaged ({error}); move it away and run refine again"
)


class _Versioned(Protocol):
    @property
    def schema_version(self) -> int: ...


_Read = TypeVar("_Read", bound=_Versioned)


class _Either(msgspec.Struct):
    """The field that only a counterexamples file has."""

    counterexamples: msgspec.Raw = msgspec.Raw()


@dataclass(frozen=True, slots=True)
class _Known:
    """The fields of a day's file that the next run of the day needs."""

    schema_version: int
    ids: dict[str, str] = field(default_factory=dict)


def read_candidates(path: Path) -> CandidatesFile:
    """Read a candidates file.

    Raises
    ------
    WorkspaceError
        The file is absent, damaged, or of a newer version.
    """
    return _read(path, CandidatesFile, CANDIDATES.damaged)


def read_counterexamples(path: Path) -> CounterexamplesFile:
    """Read a counterexamples file; raises as `read_candidates` does."""
    return _read(path, CounterexamplesFile, COUNTEREXAMPLES.damaged)


def read_proposals(path: Path) -> ProposalsFile:
    """Read a file of either kind; raises as `read_candidates` does."""
    refusal = "is not a candidates file ({error})"
    either = _decoded(path, _Either, refusal)
    if not bytes(either.counterexamples):
        return _read(path, CandidatesFile, refusal)
    return _read(path, CounterexamplesFile, refusal)


@dataclass(frozen=True, slots=True)
class EveryNight:
    """The readable files of proposals, and a line on each file that is skipped."""

    files: Mapping[Path, ProposalsFile]
    damaged: tuple[str, ...] = ()


def read_every_night(candidates_dir: Path, counterexamples_dir: Path) -> EveryNight:
    """Read the files of all days; one that is damaged or of a newer version is skipped and named."""
    files: dict[Path, ProposalsFile] = {}
    damaged: list[str] = []
    for folder, kind, read in (
        (candidates_dir, CANDIDATES, read_candidates),
        (counterexamples_dir, COUNTEREXAMPLES, read_counterexamples),
    ):
        for path in sorted(folder.glob(f"*-{kind.name}.json")):
            try:
                files[path] = read(path)
            except WorkspaceError as error:
                damaged.append(f"skipped: {error}")
    return EveryNight(files, tuple(damaged))


def _read(path: Path, kind: type[_Read], refusal: str) -> _Read:
    document = _decoded(path, kind, refusal)
    if document.schema_version > SCHEMA_VERSION:
        raise WorkspaceError(f"has schema version {document.schema_version}; upgrade coreloop", path=path)
    return document


_Decoded = TypeVar("_Decoded")


def _decoded(path: Path, kind: type[_Decoded], refusal: str) -> _Decoded:
    try:
        return msgspec.json.decode(read_file(path), type=kind)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise WorkspaceError(refusal.format(error=error), path=path) from error


def to_json(document: ProposalsFile) -> bytes:
    """The file's bytes: indented JSON, UTF-8."""
    return orjson.dumps(document, option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE)


def new_keys(drafted: Iterable[_Entry], known: Collection[str]) -> tuple[tuple[_Entry, ...], dict[str, int]]:
    """Drop entries with a known or repeated key; also return their number as ``{"same_text": n}``."""
    entries = list(drafted)
    first = {entry.key: entry for entry in reversed(entries)}
    new = tuple(entry for entry in entries if first[entry.key] is entry and entry.key not in known)
    return new, {"same_text": len(entries) - len(new)} if len(new) < len(entries) else {}


def assign_ids(keys: Iterable[str], known: Mapping[str, str], *, prefix: str, day: date) -> dict[str, str]:
    """Assign readable ids to keys.

    Parameters
    ----------
    keys : iterable of str
        Best first.
    known : mapping of key to id
        Ids from earlier runs of the day; a key keeps its id.
    prefix : str
        ``cand`` or ``ce``.
    day : date
        Day of the run.

    Returns
    -------
    dict of str to str
        ``known`` and ``{prefix}-YYYY-MM-DD-NNN`` for each new key, numbered after the highest known id.
    """
    numbers = (id.rpartition("-")[2] for id in known.values())
    highest = max((int(number) for number in numbers if number.isdecimal()), default=0)
    new = dict.fromkeys(key for key in keys if key not in known)
    return {**known, **{key: f"{prefix}-{day}-{number:03d}" for number, key in enumerate(new, highest + 1)}}


def write_night(
    folder: Path,
    document: _File,
    page: Callable[[_File, Vocabulary], str],
    *,
    words: Vocabulary,
    kind: ProposalKind,
    sanitized: bool,
    n_records: int,
) -> tuple[_File, tuple[Path, ...]]:
    """Write ``{day}-{kind}.json`` and its draft, ``{day}-draft.md``, one process at a time.

    A run over no records says nothing, so it writes no file that would hide the proposals of an earlier run.

    Parameters
    ----------
    folder : Path
        Folder of the files.
    document : CandidatesFile or CounterexamplesFile
        Its entries are best first, without ids; they share one numbering.
    page : callable
        Makes the draft.
    words : Vocabulary
        What may be shown.
    kind : ProposalKind
        Of the entries.
    sanitized : bool
        Redact the entries for a shared file, and list only those of enough requests.
    n_records : int
        Records of the run's window.

    Returns
    -------
    tuple
        The content of the JSON file, and the paths of it and of the draft; none if `newest_night` is kept.

    Raises
    ------
    WorkspaceError
        The folder cannot be written, or the day's file is damaged. Neither file is written in part.
    """
    day, is_empty = document.generated_at.date(), not document.entries
    path, draft = folder / f"{day}-{kind.name}.json", folder / f"{day}-draft.md"
    with locked(folder):
        known = _read(path, _Known, kind.damaged).ids if path.exists() else {}
        ids = assign_ids((entry.key for entry in document.entries), known, prefix=kind.prefix, day=day)
        entries: list[Entry] = [replace(entry, id=ids[entry.key]) for entry in document.entries]
        n_folded = 0
        if sanitized:
            listed = [entry.shared(words) for entry in entries if entry.n_behind >= MIN_PUBLISHED]
            withheld = set(ids.values()) - {entry.id for entry in listed if entry.key}
            ids = {f"withheld-{id}" if id in withheld else key: id for key, id in ids.items()}
            entries, n_folded = listed, len(entries) - len(listed)
        parts: dict[str, Any] = {
            "statements": tuple(entry for entry in entries if isinstance(entry, Statement)),
            kind.name: tuple(entry for entry in entries if not isinstance(entry, Statement)),
        }
        document = replace(document, ids=ids, n_folded=n_folded, **parts)
        text = page(document, words).encode("utf-8", "replace")
        document = replace(document, draft_sha256=sha256(text).hexdigest())
        if not n_records and is_empty and newest_night(folder, kind) is not None:
            return document, ()
        write_private(draft, text)
        write_private(path, to_json(document))
    return document, (path, draft)


def newest_night(folder: Path, kind: ProposalKind) -> Path | None:
    """Return the newest file of a kind in a folder, or None if absent."""
    return max(folder.glob(f"????-??-??-{kind.name}.json"), default=None)


def entries_counted(document: ProposalsFile, number: int, noun: str) -> str:
    """``1 proposal``, or ``2 statements, 1 failing group, 1 without text``."""
    statements = [number_of(len(document.statements), "statement")] if document.statements else []
    n_without = sum(entry.suggested_append is None for entry in document.entries)
    without = [f"{n_without:,} without text"] if n_without else []
    return ", ".join([*statements, number_of(number, noun), *without])
