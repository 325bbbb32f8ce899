"""``pattern`` and ``refine``: a project's records in, the day's file of proposals and its draft out."""

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

import orjson

from coreloop.base.date_range import Days
from coreloop.base.error_classes import BITS
from coreloop.base.errors import UsageError, WorkspaceError
from coreloop.base.files import file_errors, locked, read_file, write_private
from coreloop.base.project.tools import Passed
from coreloop.base.project.workspace import Workspace
from coreloop.descriptions.find_tools import find_tools, logged_names, why_undefined
from coreloop.learn.facts.read_lines import EPOCH_DAY
from coreloop.learn.facts.schema import LogOddities, find_oddities
from coreloop.learn.knowledge.store import good_intents
from coreloop.learn.line import parse_advice
from coreloop.learn.mine.folder import (
    AGENT,
    Mined,
    MiningOptions,
    mine,
    without_collections,
)
from coreloop.learn.mine.window import Window, merge
from coreloop.learn.proposals import draft
from coreloop.learn.proposals.allowed_lines import Vocabulary
from coreloop.learn.proposals.entry import Candidate, Entry, ErrorRow, Search, Statement, with_questions
from coreloop.learn.proposals.proposal_files import (
    CandidatesFile,
    CounterexamplesFile,
    markdown,
    read_night,
)
from coreloop.learn.statements.findings import (
    error_table,
    examples,
    ignored_arguments,
    to_statements,
)
from coreloop.learn.statements.logged_calls import CaseLog, read_log
from coreloop.learn.statements.search import search_tools
from coreloop.learn.verdicts.proposal_state import (
    ProposalState,
    Standpoint,
    kept_states,
    settled_keys,
)
from coreloop.observe.descriptions_in_force import last_sent, sent_tools
from coreloop.observe.journal import remove_days


@dataclass(frozen=True, slots=True, kw_only=True)
class NightRequest:
    """Options of ``pattern`` and ``refine``.

    Attributes
    ----------
    days : Days
        Whole UTC days to mine.
    mining : MiningOptions
        Which records, and how.
    gates : mapping of str to int or float
        Those of the command.
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
    mining: MiningOptions = AGENT
    gates: Mapping[str, Any] = field(default_factory=dict)
    out: Path | None = None
    sanitized: bool = False
    with_notes: bool = False
    excluded: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Night:
    """What a run found in the records of some days.

    Attributes
    ----------
    mined, window : Mined, Window
        All records and verdicts, and the requests of the days.
    words : Vocabulary
        Definitions of the tools that are named.
    search : Search
        The sequences, or failing groups, as found.
    paths : tuple of Path
        The file of proposals and the draft; empty if nothing was written.
    stays : Days or None
        The days of today's file if it stays, since it has proposals and these days do not cover its own.
    """

    mined: Mined
    window: Window
    words: Vocabulary
    search: Search[Any]
    paths: tuple[Path, ...] = ()
    stays: Days | None = None

    @property
    def oddities(self) -> LogOddities:
        """Lines that were not mined, and fields that were read as absent, in all of the files."""
        return find_oddities((file.path, part) for file in self.mined.files for part in file.parts)


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
    """Result of ``refine``; ``found`` has what none of its files has, too."""

    document: CounterexamplesFile
    found: "FoundStatements"


_Result = TypeVar("_Result", PatternResult, RefineResult)


def run_pattern(workspace: Workspace, request: NightRequest, *, now: datetime) -> PatternResult:
    """Find tool sequences that keep succeeding, and write the candidates of the day.

    Parameters
    ----------
    workspace : Workspace
        The project.
    request : NightRequest
        Options.
    now : datetime
        With time zone; its day is part of the file names.

    Raises
    ------
    WorkspaceError
        Records, verdicts or the knowledge database cannot be read, or the folder cannot be written.
    GitError
        The clone is shallow, so what was promoted is not known.
    """
    mined = mine(workspace, request.mining)
    states, playbook = kept_states(workspace, mined.judgments), good_intents(workspace.knowledge_file)
    result = propose(mined, request.days, now=now, states=states, playbook=playbook, **request.gates)
    if request.with_notes:
        from coreloop.learn.knowledge.audit_analysis import read_notes  # a parser that nothing else needs

        notes, skipped = read_notes(workspace.audit_notes_dir)
        result = replace(result, document=replace(result.document, notes=notes), notes_skipped=skipped)
    result = write_night(result, workspace, request)
    return replace(result, removed=_remove_expired(mined, request, now))


@without_collections()
def run_refine(workspace: Workspace, request: NightRequest, *, now: datetime) -> RefineResult:
    """Find failures that repeat, and write the counterexamples of the day; parameters as of `run_pattern`.

    Raises
    ------
    UsageError
        A name in ``excluded`` is neither a failure label nor an error class.
    WorkspaceError, GitError
        As by `run_pattern`.
    """
    excluded = _known_types(request.excluded)
    mined = mine(workspace, request.mining)
    states = kept_states(workspace, mined.judgments)
    result = refine(mined, request.days, now=now, excluded=excluded, states=states, **request.gates)
    if request.sanitized:  # near misses may hold users' values
        result = replace(result, found=result.found._replace(withheld=()))
    return write_night(result, workspace, request)


def propose(
    mined: Mined,
    days: Days,
    *,
    now: datetime,
    states: Sequence[Standpoint] = (),
    playbook: Collection[str] = (),
    **gates: Any,
) -> PatternResult:
    """Find the candidates of a window and draft their texts; writes nothing.

    ``states`` are those of the project's proposals, ``playbook`` is as in `find_candidates`.
    """
    from coreloop.learn.sequences import find_candidates, refuse_against, with_q_values  # imports polars

    window, known = merge(mined.files, days), settled_keys(states)
    search = find_candidates(window, known=known, playbook=playbook, **gates)
    tested = with_q_values(window, search.entries)
    words = _vocabulary(mined.workspace, {step.name for one in tested for step in one.tool_pattern})
    drafts: dict[str, Candidate] = {}
    for candidate in tested:
        drafted = draft.draft_candidate(candidate, words)
        drafts.setdefault(drafted.key, drafted)
    new = tuple(drafted for key, drafted in drafts.items() if key not in known)
    if any(one.suggested_append is not None for one in new):
        rejected = [one for one in states if one.state is ProposalState.REJECTED]
        found = find_statements(window, mined.workspace, words.tools, rejected)
        said = [(one.tool, one.line) for one in found.statements if one.is_declared(found.words)]
        new = tuple(refuse_against(one, window, said, found.names) for one in new)
    return PatternResult(
        document=CandidatesFile(generated_at=now, window=days, candidates=new),
        mined=mined,
        window=window,
        words=words,
        search=replace(search, dropped={**search.dropped, "same_text": len(tested) - len(new)}),
    )


def refine(
    mined: Mined,
    days: Days,
    *,
    now: datetime,
    excluded: Collection[str] = (),
    states: Sequence[Standpoint] = (),
    **gates: Any,
) -> RefineResult:
    """Find the counterexamples of a window that are not settled, and draft their texts; writes nothing.

    ``states`` are those of the project's proposals.
    """
    from coreloop.learn.failures import find_counterexamples  # imports polars

    window = merge(mined.files, days)
    search = find_counterexamples(window, **gates, excluded=excluded, known=settled_keys(states))
    steps = {step.name for example in search.entries for step in (example.call, *example.steps)}
    found = find_statements(window, mined.workspace, steps, states)
    return RefineResult(
        document=CounterexamplesFile(
            generated_at=now,
            window=days,
            statements=found.statements,
            counterexamples=tuple(
                replace(one, tool=found.names.get(one.tool, one.tool)) for one in search.entries
            ),
            errors=found.errors,
        ),
        mined=mined,
        window=window,
        words=found.words,
        found=found,
        search=search,
    )


class FoundStatements(NamedTuple):
    """The lines that requests give reason for, and the table of errors.

    ``withheld`` are about tools without a known definition, so that no docstring could have them, for
    ``reasons``; ``n_settled`` counts lines that are promoted, on a branch or rejected, ``n_tests`` those that
    were tested. ``names`` are the project's names of logged tools.
    """

    log: CaseLog
    names: Mapping[str, str]
    statements: tuple[Statement, ...]
    errors: tuple[ErrorRow, ...]
    withheld: tuple[Statement, ...]
    reasons: list[str]
    n_settled: int
    words: Vocabulary
    n_tests: int

    @property
    def undefined(self) -> tuple[str, ...]:
        """The tools of those that are withheld."""
        return tuple(sorted({statement.tool for statement in self.withheld}))


def find_statements(
    window: Window,
    workspace: Workspace,
    named: Collection[str] = (),
    states: Sequence[Standpoint] = (),
) -> FoundStatements:
    """Find the lines of a window that are not settled; ``named`` are further tools to know the words of."""
    settings = workspace.settings
    names = logged_names(window.tools, workspace)
    log = read_log(window, names)
    sent = sent_tools(workspace.audit_dir, {request.sent for request in log.requests})
    schemas = {(name, names.get(tool.name, tool.name)): tool.schema for name, _, tool in sent}
    words = _vocabulary(workspace, {*named, *log.tools}, log.passed)
    promotions = (one.promotion for one in states if one.promotion is not None)
    merges = {its.key: its.merged_at for its in promotions if not its.reverted}
    rejected = frozenset(one.key for one in states if one.state is ProposalState.REJECTED)
    tools = search_tools(log, words, merges, rejected)
    located = to_statements(tools, log, language=settings.language)
    texts = _texts(workspace, words, {statement.tool for statement, _ in located}, names, window)
    new = [(one, places) for one, places in located if one.key not in settled_keys(states)]
    known = [(one, places) for one, places in new if words.is_known(one.tool)]
    withheld = tuple(one for one, _ in new if not words.is_known(one.tool))
    drafts = [(draft.draft_statement(one, words, merges, texts), places) for one, places in known]
    return FoundStatements(
        log,
        names,
        with_questions(drafts, window),
        (*ignored_arguments(log, words, schemas), *error_table(log, tools, words=words)),
        withheld,
        why_undefined({one.tool: words.tools[one.tool] for one in withheld}, workspace),
        len(located) - len(new),
        words,
        sum(len(tool.tested) for tool in tools),
    )


def _texts(
    workspace: Workspace, words: Vocabulary, tools: Collection[str], names: Mapping[str, str], window: Window
) -> draft.Texts:
    """What stands in the texts of some tools: in the source, and in what models were last sent."""
    texts = defaultdict[str, list[tuple[str, str]]](list)
    for tool in filter(None, map(words.tool, tools)):
        with suppress(WorkspaceError):
            texts[tool.name] += draft.standing_texts(
                read_file(workspace.root / tool.file), tool.qualname, tool.file
            )
    for logged, sent in last_sent(workspace.audit_dir, window.newest_sent()).items():
        lines = (line for text in sent for _, line in draft.lines_of(text))
        texts[names.get(logged, logged)] += [(line, "what models were last sent") for line in lines]
    return texts


def read_examples(workspace: Workspace, entry: Entry) -> tuple[list[str], list[str]]:
    """Calls of a statement's days that failed, and that worked, as of `examples`; read from the records."""
    line = parse_advice(entry.line) if isinstance(entry, Statement) else None
    if line is None:
        return [], []
    days = Days(entry.first_seen.date(), entry.last_seen.date())
    window = merge(mine(workspace).files, days)
    names = logged_names(window.tools, workspace)
    failing, working = examples(read_log(window, names), entry.tool, line)
    return (failing, working) if failing or working else (["its records are gone"], [])


def write_night(result: _Result, workspace: Workspace, request: NightRequest) -> _Result:
    """Write ``{day}-{name}.json`` and its draft, ``{day}-draft.md``, one process at a time.

    Keys in the day's file keep their ids. A run over no records, or over fewer days, writes no file that
    would hide the proposals of an earlier run.

    Raises
    ------
    WorkspaceError
        The folder cannot be written, or the day's file is damaged. Neither file is written in part.
    """
    document = result.document
    if not result.window.n_by_day and not any(getattr(document, name) for name in document.LOCAL):
        return result
    folder = request.out or workspace.audit_dir / document.name
    workspace.keep_private(folder)
    day = document.generated_at.date()
    path, draft = folder / f"{day}-{document.name}.json", folder / f"{day}-draft.md"
    with locked(folder):
        known = read_night(path, type(document)) if path.exists() else document
        document = replace(document, ids=known.ids).with_ids()
        if request.sanitized:
            document = document.shared(result.words)
        is_less = document.window.since > known.window.since or document.window.until < known.window.until
        is_own = request.out is None and not request.sanitized  # what is to be shared is always written
        if is_less and is_own and any(entry.suggested_append for entry in known.entries):
            return replace(result, document=document, stays=known.window)
        write_private(draft, markdown(document, result.words).encode("utf-8", "replace"))
        write_private(path, orjson.dumps(document, option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE))
    return replace(result, document=document, paths=(path, draft))


def _vocabulary(workspace: Workspace, names: Collection[str], passed: Passed = lambda _: ()) -> Vocabulary:
    return Vocabulary(find_tools(names, workspace, passed=passed), workspace.settings)


def _remove_expired(mined: Mined, request: NightRequest, now: datetime) -> Sequence[Path]:
    """Remove the project's own files that are older than `retention_days`, except those of the window."""
    workspace, keep_days = mined.workspace, mined.workspace.settings.retention_days
    if keep_days is None or request.with_notes or request.mining.in_dir is not None:
        return ()
    first_day = min(now.date() - timedelta(days=keep_days), request.days.since)
    limit = (first_day - EPOCH_DAY).days
    newer = {file.path for file in mined.files if max(file.days, default=0) >= limit}
    with file_errors("cannot be removed ({strerror})", workspace.audit_dir):
        remove_days(workspace.contexts_dir, before=first_day)
        return remove_days(workspace.records_dir, before=first_day, kept=newer)


def _known_types(names: Iterable[str]) -> frozenset[str]:
    """Return the labels and classes that a user named.

    Raises
    ------
    UsageError
        A name is neither a label nor a class.
    """
    wanted = frozenset(filter(None, (name.strip() for name in names)))
    unknown = sorted(wanted - set(BITS))
    if unknown:
        raise UsageError(f"{unknown[0]!r} is not a failure type; choose from {', '.join(BITS)}")
    return wanted
