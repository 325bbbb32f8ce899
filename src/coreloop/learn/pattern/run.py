"""Phase P as a use case: a project's records in, the day's candidates out; old records are removed."""

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from pathlib import Path
from types import MappingProxyType
from typing import Final

import polars as pl

from coreloop.base.date_range import Days
from coreloop.base.project.settings import Gates
from coreloop.base.project.tools import resolve_tools
from coreloop.base.project.workspace import Workspace
from coreloop.base.records import UNSPECIFIED
from coreloop.learn.facts.file import FileFacts
from coreloop.learn.knowledge.audit_analysis import read_notes
from coreloop.learn.knowledge.playbook import good_bullets
from coreloop.learn.knowledge.store import reading
from coreloop.learn.mine.folder import expired, remove
from coreloop.learn.mine.run import UNWATCHED, Mined, Watch, open_mining
from coreloop.learn.mine.statistics import benjamini_hochberg
from coreloop.learn.mine.window import IS_COUNTED, IS_SUCCESS, Window, draw_number, merge
from coreloop.learn.pattern.draft import draft_candidate
from coreloop.learn.pattern.find_candidates import CandidateSearch, find_candidates
from coreloop.learn.proposals.entry import Candidate
from coreloop.learn.proposals.night import NightRecords, NightRequest, NightResult, records_of
from coreloop.learn.proposals.page import candidates_markdown
from coreloop.learn.proposals.proposal_files import (
    CANDIDATES,
    CandidatesFile,
    Note,
    new_keys,
    newest_night,
    write_night,
)
from coreloop.learn.proposals.vocabulary import Vocabulary
from coreloop.learn.statements.cases import RequestKeys, case_numbers
from coreloop.learn.statements.compare_sides import rank_test
from coreloop.learn.verdicts.proposal_state import kept_states, settled_keys
from coreloop.observe.journal import remove_days


@dataclass(frozen=True, slots=True, kw_only=True)
class Proposals(NightRecords):
    """The candidates of a run with their texts, best first, the dropped patterns, and audit notes."""

    candidate_search: CandidateSearch
    notes: tuple[Note, ...] = ()


def propose(
    files: Sequence[FileFacts],
    days: Days,
    gate: Gates,
    *,
    workspace: Workspace,
    known: frozenset[str] = frozenset(),
    playbook: Mapping[str, tuple[str, ...]] = MappingProxyType({}),
    notes: tuple[Note, ...] = (),
) -> Proposals:
    """Find the candidates of a window and draft their texts; writes nothing.

    ``known`` and ``playbook`` are as in `find_candidates`; ``notes`` are shown after the candidates.
    """
    window = merge(files, days)
    settings = workspace.settings
    sequences = find_candidates(
        window, gate, known=known, playbook=playbook, by_first_tool=not settings.categories
    )
    q_values = benjamini_hochberg(
        p_values(window, sequences.candidates, by_first_tool=not settings.categories)
    )
    tested = [
        replace(candidate, q_value=q_value)
        for candidate, q_value in zip(sequences.candidates, q_values, strict=True)
    ]
    names = {step.name for candidate in tested for step in candidate.tool_pattern}
    tools = resolve_tools(names, root=workspace.root, configured=settings.tools)
    words = Vocabulary(tools, settings)
    drafts = (draft_candidate(candidate, words) for candidate in tested)
    candidates, dropped = new_keys(drafts, known)
    return Proposals(
        **records_of(window, files),
        candidate_search=replace(sequences, candidates=candidates, dropped={**sequences.dropped, **dropped}),
        words=words,
        notes=notes,
    )


def write_proposals(
    proposals: Proposals, folder: Path, *, now: datetime, sanitized: bool
) -> tuple[CandidatesFile, tuple[Path, ...]]:
    """Write ``{day}-candidates.json`` and ``{day}-draft.md``; keys in the day's file keep their ids.

    Without records or notes, a file that is there is kept, and there are no paths.

    Raises
    ------
    WorkspaceError
        The folder cannot be written, or the day's file is damaged. No file is left half written.
    """
    notes = proposals.notes
    document = CandidatesFile(
        generated_at=now,
        window=proposals.days,
        candidates=proposals.candidate_search.candidates,
        notes=tuple(note.shared() for note in notes) if sanitized else notes,
    )
    return write_night(
        folder,
        document,
        candidates_markdown,
        words=proposals.words,
        kind=CANDIDATES,
        sanitized=sanitized,
        n_records=proposals.n_records + len(notes),
    )


_MAX_REQUESTS: Final = 10_000
"""Of the candidates' categories; of more, a fixed draw is compared."""
_MIN_CASES: Final = 2  # the least that the playbook's relaxed gate lets through
_Row = tuple[str, str, int, bool]
"""Group, sequence, case, whether it succeeded."""
_Tally = dict[int, tuple[int, int]]
"""Requests and successes of each case."""


def p_values(window: Window, candidates: Sequence[Candidate], *, by_first_tool: bool) -> list[float]:
    """Test each candidate against the rest of its category (Mann–Whitney on the cases' success rates).

    Parameters
    ----------
    window : Window
        Of the candidates.
    candidates : sequence of Candidate
        As found.
    by_first_tool : bool
        Whether those without a category are compared with sequences that begin with the same tool.

    Returns
    -------
    list of float
        1.0 with fewer than two cases on a side: the least that the playbook's relaxed gate lets through.
    """
    categories = {candidate.cat_hash for candidate in candidates}
    by_group: defaultdict[str, _Tally] = defaultdict(dict)
    by_sequence: defaultdict[tuple[str, str], _Tally] = defaultdict(dict)
    for group, sequence, case, succeeded in _rows(window, categories, by_first_tool=by_first_tool):
        for tally in (by_group[group], by_sequence[group, sequence]):
            n, n_ok = tally.get(case, (0, 0))
            tally[case] = (n + 1, n_ok + succeeded)
    rates = {group: Counter(n_ok / n for n, n_ok in tally.values()) for group, tally in by_group.items()}
    p_values = []
    for candidate in candidates:
        group = _group(candidate.cat_hash, candidate.tool_pattern[0].name, by_first_tool=by_first_tool)
        own = by_sequence[group, candidate.seq_hash]
        p_values.append(_p_value(own, _without(own, by_group[group], rates.get(group, Counter()))))
    return p_values


def _p_value(own: _Tally, rest: Counter[float]) -> float:
    rates = Counter(n_ok / n for n, n_ok in own.values())
    return rank_test(rates, rest) if min(rates.total(), rest.total()) >= _MIN_CASES else 1.0


def _without(own: _Tally, group: _Tally, rates: Counter[float]) -> Counter[float]:
    """The rates of a group's cases without the requests of one sequence; only its cases are counted anew."""
    rest = rates.copy()
    for case, (own_n, own_ok) in own.items():
        n, n_ok = group[case]
        rest[n_ok / n] -= 1
        if n > own_n:
            rest[(n_ok - own_ok) / (n - own_n)] += 1
    return rest


def _group(category: str, first_tool: str, *, by_first_tool: bool) -> str:
    return f"{category} {first_tool}" if by_first_tool and category == UNSPECIFIED else category


def _rows(window: Window, categories: set[str], *, by_first_tool: bool) -> list[_Row]:
    of_categories = pl.col("category").is_in(sorted(categories))
    columns = ("category", "sequence", "session", "case", "template")
    drawn = window.keep(
        lambda rows: rows.filter(IS_COUNTED, of_categories).select(
            *columns, ok=IS_SUCCESS, number=draw_number()
        ),
        lambda rows: rows.bottom_k(_MAX_REQUESTS, by="number"),
    )
    rows = drawn.select("category", "sequence", "ok", "session", "case", "template").rows()
    keys = [
        RequestKeys(session, tuple(case or ()), template, sequence)
        for _, sequence, _, session, case, template in rows
    ]
    texts = window.texts_of("sequence", {row[1] for row in rows}) if by_first_tool else {}
    return [
        (
            _group(category, texts.get(sequence, "").partition("(")[0], by_first_tool=by_first_tool),
            f"seq:{sequence:016x}",
            number,
            succeeded,
        )
        for (category, sequence, succeeded, *_), number in zip(rows, case_numbers(keys)[0], strict=True)
    ]


@dataclass(frozen=True, slots=True, kw_only=True)
class PatternRequest(NightRequest):
    """Options of ``pattern``: its gates, and whether to show audit notes; then no records are removed."""

    min_repeat: int | None = None
    min_unique_questions: int | None = None
    min_success_rate: float | None = None
    with_notes: bool = False


@dataclass(frozen=True, slots=True)
class NotesRead:
    """Audit notes, skipped files with their reasons, and the folder if it is missing."""

    notes: tuple[Note, ...] = ()
    skipped: Mapping[str, str] = field(default_factory=dict)
    missing: Path | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class PatternResult(NightResult):
    """Result of ``pattern``; ``removed`` are files of records that were older than ``retention_days``."""

    proposals: Proposals
    document: CandidatesFile
    notes: NotesRead
    removed: Sequence[Path]


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
    return PatternResult(
        proposals=proposals,
        document=document,
        paths=paths,
        mined=mined,
        notes=notes,
        removed=removed,
        kept=kept,
    )


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
