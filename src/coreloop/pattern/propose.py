"""One run of Phase P: a folder of records in, two files of proposals out."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date, datetime
from functools import partial
from pathlib import Path
from types import MappingProxyType

from coreloop.days import Days
from coreloop.mine.folder import newest_day
from coreloop.mine.oddities import LogOddities, find_oddities
from coreloop.mine.rollup import Rollup
from coreloop.mine.sample import read_sample
from coreloop.mine.statistics import fisher_exact
from coreloop.mine.window import merge
from coreloop.pattern.document import candidates_markdown, redact_entry, redact_note
from coreloop.pattern.draft import draft_candidate
from coreloop.pattern.find import FoundCandidates, find_candidates
from coreloop.pattern.statements import FoundStatements, find_statements, keywords_by_tool
from coreloop.project.settings import Gates
from coreloop.project.tools import resolve_tools
from coreloop.project.workspace import Workspace
from coreloop.proposals.candidates import SECTION, Candidate, CandidatesFile, Note
from coreloop.proposals.night import CANDIDATES, Numbered, new_keys, write_night
from coreloop.proposals.statement_draft import (
    MAX_EXAMPLES,
    draft_statement,
    named_tools,
    with_questions,
)
from coreloop.proposals.statements import Statement
from coreloop.proposals.vocabulary import Vocabulary


@dataclass(frozen=True, slots=True)
class Proposals:
    """What one run found.

    Attributes
    ----------
    days : Days
        The window.
    n_records, n_neutral, n_files : int
        Records in the window, those of them that count neither way, and files that were read.
    newest : date or None
        Day of the newest record of all, in the window or not.
    found : FoundCandidates
        Candidates with their texts, best first, and the groups that fell.
    said : FoundStatements
        Statements with their targets, best first.
    oddities : LogOddities
        Lines that were not mined, and fields that were read as absent, in all of the files.
    words : Vocabulary
        What is known of the candidates' tools.
    notes : tuple of Note
        What people wrote by hand.
    """

    days: Days
    n_records: int
    n_neutral: int
    n_files: int
    newest: date | None
    found: FoundCandidates
    said: FoundStatements
    oddities: LogOddities
    words: Vocabulary
    notes: tuple[Note, ...] = ()


def propose(
    rollups: Sequence[Rollup],
    days: Days,
    gate: Gates,
    *,
    workspace: Workspace,
    known: frozenset[str] = frozenset(),
    playbook: Mapping[str, tuple[str, ...]] = MappingProxyType({}),
    notes: tuple[Note, ...] = (),
) -> Proposals:
    """Find the candidates of a window and draft their texts; writes nothing.

    ``known`` and ``playbook`` are as in `find_candidates`; ``notes`` stand beside the candidates.
    """
    window = merge(rollups, days)
    settings = workspace.settings
    sequences = find_candidates(
        window, gate, known=known, playbook=playbook, by_first_tool=not settings.categories
    )
    sample = read_sample(window)
    said = find_statements(sample, [_p_value(candidate) for candidate in sequences.candidates])
    weighed = [
        replace(candidate, q_value=q_value)
        for candidate, q_value in zip(sequences.candidates, said.q_values, strict=True)
    ]
    names = {step.name for candidate in weighed for step in candidate.tool_pattern}
    names |= named_tools(said.statements)
    tools = resolve_tools(names, root=workspace.root, configured=settings.tools)
    words = Vocabulary(tools, settings)
    keywords = keywords_by_tool(said.statements)
    drafted, fell = new_keys((draft_candidate(one, words, keywords=keywords) for one in weighed), known)
    lines = tuple(
        draft_statement(one, words, section=SECTION) for one in said.statements if one.key not in known
    )
    places = {one.key: sample.places(one.tool, most=MAX_EXAMPLES) for one in lines}
    return Proposals(
        days=days,
        n_records=window.n_records(),
        n_neutral=window.n_neutral(),
        n_files=len(rollups),
        newest=newest_day(rollups),
        found=replace(sequences, candidates=drafted, fell={**sequences.fell, **fell}),
        said=replace(said, statements=with_questions(lines, places, window)),
        oddities=find_oddities((rollup.path, rollup.oddities) for rollup in rollups),
        words=words,
        notes=notes,
    )


def _p_value(candidate: Candidate) -> float:
    return fisher_exact(candidate.n_succeeded, candidate.n_observed, candidate.rest_ok, candidate.rest_n)


def write_proposals(
    proposals: Proposals, folder: Path, *, now: datetime, sanitized: bool
) -> tuple[CandidatesFile, tuple[Path, Path]]:
    """Write ``{day}-candidates.json`` and ``{day}-draft.md``; a key that the day knows keeps its id.

    Raises
    ------
    WorkspaceError
        The folder cannot be written, or the day's file is damaged. Nothing is half written.
    """
    words, notes = proposals.words, proposals.notes

    def build(numbered: Numbered[Statement | Candidate]) -> tuple[CandidatesFile, str]:
        document = CandidatesFile(
            generated_at=now,
            window=proposals.days,
            statements=numbered.of(Statement),
            candidates=numbered.of(Candidate),
            notes=tuple(map(redact_note, notes)) if sanitized else notes,
            ids=numbered.ids,
            n_folded=numbered.n_folded,
        )
        return document, candidates_markdown(document, words)

    redacting = partial(redact_entry, words=words) if sanitized else None
    found: list[Statement | Candidate] = [*proposals.said.statements, *proposals.found.candidates]
    return write_night(folder, now.date(), found, kind=CANDIDATES, redact=redacting, build=build)
