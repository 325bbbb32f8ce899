"""Phase P as a use case: a project's records in, the day's candidates out; old records are removed."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from pathlib import Path

from coreloop.base.date_range import Days
from coreloop.base.project.workspace import Workspace
from coreloop.learn.knowledge.audit_analysis import read_notes
from coreloop.learn.knowledge.playbook import good_bullets
from coreloop.learn.knowledge.store import reading
from coreloop.learn.mine.folder import expired, remove
from coreloop.learn.mine.run import UNWATCHED, Mined, MiningOptions, Watch, open_mining
from coreloop.learn.pattern.propose import Proposals, propose, write_proposals
from coreloop.learn.proposals.entry import Note
from coreloop.learn.proposals.proposal_files import CANDIDATES, CandidatesFile, newest_night
from coreloop.learn.verdicts.proposal_state import kept_states, settled_keys
from coreloop.observe.journal import remove_days


@dataclass(frozen=True, slots=True, kw_only=True)
class PatternRequest:
    """Options of ``pattern``; for a gate that is None, the project's setting applies.

    Attributes
    ----------
    days : Days
        Whole UTC days to mine.
    mining : MiningOptions
        Which records, and how.
    min_repeat, min_unique_questions, min_chunk_len : int, optional
        Gates.
    min_success_rate : float, optional
        Gate, 0–1.
    out : Path, optional
        Folder of the two files; the project's own by default.
    sanitized : bool
        Redact the files for sharing.
    with_notes : bool
        Show audit notes, too; then no records are removed.
    """

    days: Days
    mining: MiningOptions = field(default_factory=MiningOptions)
    min_repeat: int | None = None
    min_unique_questions: int | None = None
    min_chunk_len: int | None = None
    min_success_rate: float | None = None
    out: Path | None = None
    sanitized: bool = False
    with_notes: bool = False


@dataclass(frozen=True, slots=True)
class NotesRead:
    """Audit notes, skipped files with their reasons, and the folder if it is missing."""

    notes: tuple[Note, ...] = ()
    skipped: Mapping[str, str] = field(default_factory=dict)
    missing: Path | None = None


@dataclass(frozen=True, slots=True)
class PatternResult:
    """Result of ``pattern``.

    Attributes
    ----------
    paths : tuple of Path
        The candidates file and the draft; empty if the window has no records and an older file is kept.
    mined : Mined
        Closed; its counts and verdicts can still be read.
    removed : sequence of Path
        Files of records that were older than ``retention_days``.
    kept : Path or None
        The older file of candidates that is kept.
    """

    proposals: Proposals
    document: CandidatesFile
    paths: tuple[Path, ...]
    mined: Mined
    notes: NotesRead
    removed: Sequence[Path]
    kept: Path | None = None


def run_pattern(
    workspace: Workspace, request: PatternRequest, *, now: datetime, watch: Watch = UNWATCHED
) -> PatternResult:
    """Find tool sequences that keep succeeding, and write the candidates of the day.

    Parameters
    ----------
    workspace : Workspace
        The project.
    request : PatternRequest
        Options.
    now : datetime
        With time zone; its day is part of the file names.
    watch : Watch, optional
        Callbacks of the mining.

    Raises
    ------
    WorkspaceError
        Records, verdicts or the knowledge database cannot be read, or the folder cannot be written.
    GitError
        The clone is shallow, so what was promoted is not known.
    """
    gates = workspace.settings.gates.chosen(
        min_repeat=request.min_repeat,
        min_unique_questions=request.min_unique_questions,
        min_success_rate=request.min_success_rate,
    )
    chunk_len = request.min_chunk_len
    with open_mining(workspace, request.mining, min_chunk_len=chunk_len, watch=watch) as mined:
        known = settled_keys(kept_states(workspace, mined.judgments))
        playbook = _good_bullets(workspace)
        notes = _read_notes(workspace) if request.with_notes else NotesRead()
        proposals = propose(
            mined.files,
            request.days,
            gates,
            workspace=workspace,
            known=known,
            playbook=playbook,
            notes=notes.notes,
        )
        folder = request.out or workspace.candidates_dir
        workspace.keep_private(folder)
        document, paths = write_proposals(proposals, folder, now=now, sanitized=request.sanitized)
        removed = () if request.with_notes else _remove_expired(workspace, mined, request, now)
    kept = None if paths else newest_night(folder, CANDIDATES)
    return PatternResult(proposals, document, paths, mined, notes, removed, kept)


def _remove_expired(
    workspace: Workspace, mined: Mined, request: PatternRequest, now: datetime
) -> Sequence[Path]:
    """Remove the project's own files that are older than `retention_days`, except those of the window."""
    keep_days = workspace.settings.retention_days
    if keep_days is None or not request.mining.is_of_agent:
        return ()
    first_day = min(now.date() - timedelta(days=keep_days), request.days.since)
    paths = expired(mined.files, before=first_day)
    for path in paths:
        remove(path)
    remove_days(workspace.contexts_dir, before=first_day)
    return paths


def _good_bullets(workspace: Workspace) -> dict[str, tuple[str, ...]]:
    """The playbook's proven advice, if the project has a knowledge database."""
    if not workspace.knowledge_file.exists():
        return {}
    with reading(workspace.knowledge_file) as connection:
        return good_bullets(connection)


def _read_notes(workspace: Workspace) -> NotesRead:
    folder = workspace.audit_notes_dir
    read = read_notes(folder)
    notes = tuple(Note(code, bullets) for code, bullets in read.bullets.items())
    return NotesRead(notes, read.skipped, None if folder.is_dir() else folder)
