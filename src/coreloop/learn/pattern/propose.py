"""A run of Phase P: facts in, two files of proposals out."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date, datetime
from functools import partial
from pathlib import Path
from types import MappingProxyType

from coreloop.base.date_range import Days
from coreloop.base.project.settings import Gates
from coreloop.base.project.tools import resolve_tools
from coreloop.base.project.workspace import Workspace
from coreloop.learn.facts.file import FileFacts
from coreloop.learn.facts.oddities import LogOddities, find_oddities
from coreloop.learn.mine.folder import newest_day
from coreloop.learn.mine.statistics import benjamini_hochberg
from coreloop.learn.mine.window import merge
from coreloop.learn.pattern.cases import p_values
from coreloop.learn.pattern.document import candidates_markdown, redact_candidate, redact_note
from coreloop.learn.pattern.draft import draft_candidate
from coreloop.learn.pattern.find import CandidateSearch, find_candidates
from coreloop.learn.proposals.candidates import Candidate, CandidatesFile, Note
from coreloop.learn.proposals.proposal_files import CANDIDATES, Numbered, new_keys, write_night
from coreloop.learn.proposals.vocabulary import Vocabulary


@dataclass(frozen=True, slots=True)
class Proposals:
    """The proposals of a run.

    Attributes
    ----------
    days : Days
        The window.
    recorded : Days
        From the first to the last day that has a record.
    n_records, n_neutral, n_files : int
        Records in the window, how many of them are neutral, and files that were read.
    newest : date or None
        Day of the newest record, in the window or not.
    candidate_search : CandidateSearch
        Candidates with their texts, best first, and the dropped patterns.
    oddities : LogOddities
        Lines that were not mined, and fields that were read as absent, in all of the files.
    words : Vocabulary
        Definitions of the candidates' tools.
    notes : tuple of Note
        Audit notes.
    """

    days: Days
    recorded: Days
    n_records: int
    n_neutral: int
    n_files: int
    newest: date | None
    candidate_search: CandidateSearch
    oddities: LogOddities
    words: Vocabulary
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
        days=days,
        recorded=window.recorded(),
        n_records=window.n_records(),
        n_neutral=window.n_neutral(),
        n_files=len(files),
        newest=newest_day(files),
        candidate_search=replace(sequences, candidates=candidates, dropped={**sequences.dropped, **dropped}),
        oddities=find_oddities((file.path, file.oddities) for file in files),
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
    words, notes = proposals.words, proposals.notes

    def build(numbered: Numbered[Candidate]) -> tuple[CandidatesFile, str]:
        document = CandidatesFile(
            generated_at=now,
            window=proposals.days,
            candidates=numbered.entries,
            notes=tuple(map(redact_note, notes)) if sanitized else notes,
            ids=numbered.ids,
            n_folded=numbered.n_folded,
        )
        return document, candidates_markdown(document, words)

    redact = partial(redact_candidate, words=words) if sanitized else None
    entries = proposals.candidate_search.candidates
    n_records = proposals.n_records + len(notes)
    return write_night(
        folder, now.date(), entries, kind=CANDIDATES, redact=redact, build=build, n_records=n_records
    )
