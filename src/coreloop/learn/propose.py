"""``pattern`` and ``refine``: a project's records in, the day's file of proposals and its draft out."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date, datetime, timedelta
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final, TypeVar

import orjson

from coreloop.base.date_range import Days
from coreloop.base.error_classes import known_types
from coreloop.base.files import locked, write_private
from coreloop.base.project.workspace import Workspace
from coreloop.descriptions.find_tools import find_tools, logged_names
from coreloop.learn.facts.schema import LogOddities, find_oddities
from coreloop.learn.knowledge.store import good_bullets
from coreloop.learn.mine.folder import (
    UNWATCHED,
    Mined,
    MiningOptions,
    Watch,
    mine,
    newest_day,
    remove_expired,
    without_collections,
)
from coreloop.learn.mine.window import Window, merge
from coreloop.learn.proposals.allowed_lines import Vocabulary
from coreloop.learn.proposals.draft import Unproposed, draft_candidate, draft_statements
from coreloop.learn.proposals.entry import Candidate, ErrorRow, Statement
from coreloop.learn.proposals.proposal_files import (
    CandidatesFile,
    CounterexamplesFile,
    ProposalsFile,
    markdown,
    read_night,
)
from coreloop.learn.statements.findings import Places, error_table, to_statements
from coreloop.learn.statements.logged_calls import CaseLog, read_log
from coreloop.learn.statements.search import search_tools
from coreloop.learn.verdicts.proposal_state import (
    Standpoint,
    kept_states,
    merge_times,
    rejected_keys,
    settled_keys,
)
from coreloop.observe.journal import remove_days
from coreloop.observe.reading.outcome import RequestOutcome, Unseen

_MAX_EXAMPLES: Final = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class NightRequest:
    """Options of ``pattern`` and ``refine``; for a gate that is None, the project's setting applies.

    Attributes
    ----------
    days : Days
        Whole UTC days to mine.
    mining : MiningOptions
        Which records, and how.
    gates : mapping of str to int or float or None
        Those of the settings that are replaced.
    out : Path, optional
        Folder of the two files; the project's own by default.
    sanitized : bool
        Leave out of the files what is not for others.
    with_notes : bool
        Show audit notes in ``pattern``; then no records are removed.
    excluded : tuple of str
        Failure labels and error classes that ``refine`` leaves out.
    """

    days: Days
    mining: MiningOptions = field(default_factory=MiningOptions)
    gates: Mapping[str, float | None] = field(default_factory=dict)
    out: Path | None = None
    sanitized: bool = False
    with_notes: bool = False
    excluded: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Night:
    """What a run found in the records of some days.

    Attributes
    ----------
    recorded : Days
        From the first to the last day that has a record.
    n_records, n_neutral, n_files : int
        Records in the window, how many of them are neutral, and files with such records.
    newest : date or None
        Day of the newest record, in the window or not.
    oddities : LogOddities
        Lines that were not mined, and fields that were read as absent, in all of the files.
    unseen : Unseen
        What the records of the window do not say.
    skipped_verdicts : mapping of str to int
        Lines of verdicts that could not be read, by reason.
    words : Vocabulary
        Definitions of the tools that are named.
    n_groups : int
        Sequences, or failing groups, that were examined.
    dropped : mapping of str to int
        How many of them each gate dropped.
    paths : tuple of Path
        The file of proposals and the draft; empty if the window has no records.
    """

    recorded: Days
    n_records: int
    n_neutral: int
    n_files: int
    newest: date | None
    oddities: LogOddities
    unseen: Unseen
    skipped_verdicts: Mapping[str, int]
    words: Vocabulary
    n_groups: int
    dropped: Mapping[str, int]
    paths: tuple[Path, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class PatternResult(Night):
    """Result of ``pattern``.

    ``notes_skipped`` are files of audit notes with reasons; ``removed`` are files of records that were older
    than ``retention_days``.
    """

    document: CandidatesFile
    notes_skipped: Mapping[str, str] = field(default_factory=dict)
    removed: Sequence[Path] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class RefineResult(Night):
    """Result of ``refine``.

    ``n_days`` have records, and ``n_tests`` counts all lines that were tested; they and ``unproposed`` are in
    none of its files.
    """

    document: CounterexamplesFile
    n_days: int
    n_tests: int
    unproposed: Unproposed


_Result = TypeVar("_Result", PatternResult, RefineResult)


def run_pattern(
    workspace: Workspace, request: NightRequest, *, now: datetime, watch: Watch = UNWATCHED
) -> PatternResult:
    """Find tool sequences that keep succeeding, and write the candidates of the day.

    Parameters
    ----------
    workspace : Workspace
        The project.
    request : NightRequest
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
    mined = mine(_with_gates(workspace, request), request.mining, watch=watch)
    known = settled_keys(kept_states(workspace, mined.judgments))
    playbook = good_bullets(workspace.knowledge_file)
    result = propose(mined, request.days, now=now, known=known, playbook=playbook)
    if request.with_notes:
        return write_night(_with_notes(result, workspace.audit_notes_dir), workspace, request)
    result = write_night(result, workspace, request)
    return replace(result, removed=_remove_expired(mined, request, now))


@without_collections()
def run_refine(
    workspace: Workspace, request: NightRequest, *, now: datetime, watch: Watch = UNWATCHED
) -> RefineResult:
    """Find failures that repeat, and write the counterexamples of the day; parameters as of `run_pattern`.

    Raises
    ------
    UsageError
        A name in ``excluded`` is neither a failure label nor an error class.
    WorkspaceError, GitError
        As by `run_pattern`.
    """
    excluded = known_types(request.excluded)
    mined = mine(_with_gates(workspace, request), request.mining, watch=watch)
    states = kept_states(workspace, mined.judgments)
    result = refine(mined, request.days, now=now, excluded=excluded, states=states)
    if request.sanitized:  # near misses may hold users' values
        result = replace(result, unproposed=Unproposed(n_settled=result.unproposed.n_settled))
    return write_night(result, workspace, request)


def propose(
    mined: Mined,
    days: Days,
    *,
    now: datetime,
    known: frozenset[str] = frozenset(),
    playbook: Mapping[str, tuple[str, ...]] = MappingProxyType({}),
) -> PatternResult:
    """Find the candidates of a window and draft their texts; writes nothing.

    ``known`` and ``playbook`` are as in `find_candidates`.
    """
    from coreloop.learn.sequences import find_candidates, with_q_values  # imports polars

    window = merge(mined.files, days)
    search = find_candidates(window, mined.workspace.settings.gates, known=known, playbook=playbook)
    tested = with_q_values(window, search.entries)
    words = _vocabulary(mined.workspace, {step.name for one in tested for step in one.tool_pattern})
    drafts: dict[str, Candidate] = {}
    for candidate in tested:
        draft = draft_candidate(candidate, words)
        drafts.setdefault(draft.key, draft)
    new = tuple(draft for key, draft in drafts.items() if key not in known)
    return PatternResult(
        document=CandidatesFile(generated_at=now, window=days, candidates=new),
        words=words,
        n_groups=search.n_groups,
        dropped={**search.dropped, "same_text": len(tested) - len(new)},
        **_records(window, mined),
    )


def refine(
    mined: Mined,
    days: Days,
    *,
    now: datetime,
    excluded: Collection[str] = (),
    states: Sequence[Standpoint] = (),
) -> RefineResult:
    """Find the counterexamples of a window that are not settled, and draft their texts; writes nothing.

    ``states`` are those of the project's proposals.
    """
    from coreloop.learn.failures import find_counterexamples  # imports polars

    window = merge(mined.files, days)
    least = mined.workspace.settings.gates.min_failures
    known = settled_keys(states)
    search = find_counterexamples(window, min_failures=least, excluded=excluded, known=known)
    steps = {step.name for example in search.entries for step in (example.call, *example.steps)}
    found = find_statements(window, mined.workspace, steps, states)
    return RefineResult(
        document=CounterexamplesFile(
            generated_at=now,
            window=days,
            statements=found.statements,
            counterexamples=search.entries,
            errors=found.errors,
        ),
        words=found.words,
        n_days=len(found.log.days),
        n_tests=found.n_tests,
        unproposed=found.unproposed,
        n_groups=search.n_groups,
        dropped=search.dropped,
        **_records(window, mined),
    )


@dataclass(frozen=True, slots=True)
class FoundStatements:
    """The lines that requests give reason for, and the table of errors; as of `RefineResult`."""

    log: CaseLog
    statements: tuple[Statement, ...]
    errors: tuple[ErrorRow, ...]
    unproposed: Unproposed
    words: Vocabulary
    n_tests: int


def find_statements(
    window: Window,
    workspace: Workspace,
    named: Collection[str] = (),
    states: Sequence[Standpoint] = (),
) -> FoundStatements:
    """Find the lines of a window that are not settled; ``named`` are further tools to know the words of."""
    settings = workspace.settings
    log = read_log(window, logged_names(window.tools, workspace))
    words = _vocabulary(workspace, {*named, *log.tools})
    merges = merge_times(states)
    tools = search_tools(log, words, merges, rejected_keys(states))
    located = to_statements(tools, log, language=settings.language)
    statements, unproposed = draft_statements(
        (statement for statement, _ in located), words, settled=settled_keys(states), merges=merges
    )
    return FoundStatements(
        log,
        _with_questions(statements, located, window),
        error_table(log, tools, words=words),
        unproposed,
        words,
        sum(len(tool.tested) for tool in tools),
    )


def write_night(result: _Result, workspace: Workspace, request: NightRequest) -> _Result:
    """Write ``{day}-{name}.json`` and its draft, ``{day}-draft.md``, one process at a time.

    Keys in the day's file keep their ids. A run over no records says nothing, so it writes no file that would
    hide the proposals of an earlier run.

    Raises
    ------
    WorkspaceError
        The folder cannot be written, or the day's file is damaged. Neither file is written in part.
    """
    document = result.document
    if not result.n_records and not getattr(document, document.local):
        return result
    folder = request.out or workspace.audit_dir / document.name
    workspace.keep_private(folder)
    day = document.generated_at.date()
    path, draft = folder / f"{day}-{document.name}.json", folder / f"{day}-draft.md"
    with locked(folder):
        known = read_night(path, type(document)).ids if path.exists() else {}
        document = replace(document, ids=known).with_ids()
        if request.sanitized:
            document = document.shared(result.words)
        write_private(draft, markdown(document, result.words).encode("utf-8", "replace"))
        write_private(path, to_json(document))
    return replace(result, document=document, paths=(path, draft))


def to_json(document: ProposalsFile) -> bytes:
    """The file's bytes: indented JSON, UTF-8."""
    return orjson.dumps(document, option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE)


def _records(window: Window, mined: Mined) -> dict[str, Any]:
    """What `Night` says of the records."""
    return {
        "recorded": window.recorded(),
        "n_records": window.n_records(),
        "n_neutral": window.n_of(RequestOutcome.NEUTRAL),
        "n_files": len(window.files),
        "newest": newest_day(mined.files),
        "oddities": find_oddities((file.path, part.oddities) for file in mined.files for part in file.parts),
        "unseen": window.unseen(),
        "skipped_verdicts": mined.judgments.skipped,
    }


def _vocabulary(workspace: Workspace, names: Collection[str]) -> Vocabulary:
    return Vocabulary(find_tools(names, workspace), workspace.settings)


def _with_questions(
    statements: Sequence[Statement], located: Sequence[tuple[Statement, Places]], window: Window
) -> tuple[Statement, ...]:
    """Statements with example questions of the requests whose calls deviate."""
    places = {statement.key: its[:_MAX_EXAMPLES] for statement, its in located}
    texts = window.question_texts(place for one in statements for place in places[one.key])
    return tuple(
        replace(one, example_questions=tuple(filter(None, map(texts.get, places[one.key]))))
        for one in statements
    )


def _with_gates(workspace: Workspace, request: NightRequest) -> Workspace:
    """The project with the gates that a request names."""
    gates = workspace.settings.gates.chosen(**request.gates)
    return replace(workspace, settings=replace(workspace.settings, gates=gates))


def _with_notes(result: PatternResult, folder: Path) -> PatternResult:
    """The result with the audit notes, shown after the candidates."""
    from coreloop.learn.knowledge.audit_analysis import read_notes  # a parser that nothing else needs

    notes, skipped = read_notes(folder)
    return replace(result, document=replace(result.document, notes=notes), notes_skipped=skipped)


def _remove_expired(mined: Mined, request: NightRequest, now: datetime) -> Sequence[Path]:
    """Remove the project's own files that are older than `retention_days`, except those of the window."""
    keep_days = mined.workspace.settings.retention_days
    if keep_days is None or not request.mining.is_of_agent:
        return ()
    first_day = min(now.date() - timedelta(days=keep_days), request.days.since)
    paths = remove_expired(mined.files, before=first_day)
    remove_days(mined.workspace.contexts_dir, before=first_day)
    return paths
