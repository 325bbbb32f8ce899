"""Phase F as a use case: a project's records in, the day's counterexamples out."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from pathlib import Path
from types import MappingProxyType

from coreloop.base.date_range import Days
from coreloop.base.error_classes import known_types
from coreloop.base.project.tools import logged_names, resolve_tools
from coreloop.base.project.workspace import Workspace
from coreloop.learn.facts.file import FileFacts
from coreloop.learn.line import statement_key
from coreloop.learn.mine.run import UNWATCHED, Watch, open_mining
from coreloop.learn.mine.window import merge
from coreloop.learn.proposals.entry import CAVEATS, Counterexample, NearStatement, Statement
from coreloop.learn.proposals.night import NightRecords, NightRequest, NightResult, records_of
from coreloop.learn.proposals.page import counterexamples_markdown
from coreloop.learn.proposals.proposal_files import (
    COUNTEREXAMPLES,
    CounterexamplesFile,
    new_keys,
    newest_night,
    write_night,
)
from coreloop.learn.proposals.statement_draft import Unproposed, draft_statements, with_questions
from coreloop.learn.proposals.step import Step
from coreloop.learn.proposals.task import ErrorRow
from coreloop.learn.proposals.vocabulary import Vocabulary
from coreloop.learn.refine.find_failures import CounterexampleSearch, find_counterexamples
from coreloop.learn.refine.gaps import ToolGaps, read_tool_gaps
from coreloop.learn.statements.error_table import error_table
from coreloop.learn.statements.logged_calls import CaseLog, called_tools, read_log
from coreloop.learn.statements.merge import nearest_statements, to_statements
from coreloop.learn.statements.search import search_tools
from coreloop.learn.verdicts.proposal_state import kept_states, rejected_keys, settled_keys


@dataclass(frozen=True, slots=True, kw_only=True)
class Refined(NightRecords):
    """The proposals of a run: the errors, statements and counterexamples.

    ``n_days`` have records, ``nearest`` are statements that too few cases speak for, and ``n_tests`` counts
    all that were tested.
    """

    n_days: int
    errors: tuple[ErrorRow, ...]
    counterexample_search: CounterexampleSearch
    statements: tuple[Statement, ...]
    nearest: tuple[NearStatement, ...]
    n_tests: int
    unproposed: Unproposed


def refine(
    files: Sequence[FileFacts],
    days: Days,
    *,
    workspace: Workspace,
    min_failures: int,
    excluded: Collection[str] = (),
    known: frozenset[str] = frozenset(),
    rejected: frozenset[str] = frozenset(),
    merges: Mapping[str, datetime] = MappingProxyType({}),
) -> Refined:
    """Find the counterexamples of a window except ``known`` keys, and draft their texts; writes nothing.

    ``merges`` and ``rejected`` are as in `coreloop.learn.statements.search.search_tools`.
    """
    window = merge(files, days)
    search = find_counterexamples(window, min_failures=min_failures, excluded=excluded, known=known)
    logged = logged_names(called_tools(window), root=workspace.root, configured=workspace.settings.tools)
    log = read_log(window, logged)
    words = _vocabulary(search, log, workspace)
    tools = search_tools(log, words, merges, rejected)
    found = to_statements(tools, log, language=workspace.settings.language)
    places = {statement.key: its_places for statement, its_places in found}
    statements, unproposed = draft_statements(
        (statement for statement, _ in found), words, section=CAVEATS, settled=known, merges=merges
    )
    explained = _with_logged({statement.tool for statement in statements}, logged)
    known_tools = {statement.tool for statement, _ in found if statement.key in known}
    merged_tools = {search.tool for search in tools if any(line.deviate for line in search.merged)}
    settled = _with_logged(known_tools | merged_tools, logged)
    return Refined(
        **records_of(window, files),
        n_days=len(log.days),
        errors=error_table(log, tools, words=words, language=workspace.settings.language),
        counterexample_search=_drafted(search, words, known, explained=explained, settled=settled),
        statements=with_questions(statements, places, window),
        nearest=nearest_statements(tools, log),
        n_tests=sum(len(tool.tested) for tool in tools),
        unproposed=unproposed,
        words=words,
    )


def _vocabulary(search: CounterexampleSearch, log: CaseLog, workspace: Workspace) -> Vocabulary:
    """The words of all tools that a proposal may name."""
    names = {example.tool for example in search.counterexamples} | log.tools
    names |= {step.name for example in search.counterexamples for step in example.steps}
    settings = workspace.settings
    return Vocabulary(resolve_tools(names, root=workspace.root, configured=settings.tools), settings)


def _drafted(
    search: CounterexampleSearch,
    words: Vocabulary,
    known: frozenset[str],
    *,
    explained: set[str],
    settled: set[str],
) -> CounterexampleSearch:
    """The counterexamples with their texts, without those of known keys."""
    drafts = (
        draft_counterexample(example, words, explained=explained, settled=settled)
        for example in search.counterexamples
    )
    counterexamples, dropped = new_keys(drafts, known)
    return replace(search, counterexamples=counterexamples, dropped={**search.dropped, **dropped})


def _with_logged(tools: set[str], logged: Mapping[str, str]) -> set[str]:
    """Tools, and the names under which clients log them."""
    return tools | {name for name, tool in logged.items() if tool in tools}


def write_refined(
    refined: Refined, folder: Path, *, now: datetime, sanitized: bool
) -> tuple[CounterexamplesFile, tuple[Path, ...]]:
    """Write ``{day}-counterexamples.json`` and ``{day}-draft.md``; keys in the day's file keep their ids.

    Without records, a file that is there is kept, and there are no paths.

    Raises
    ------
    WorkspaceError
        The folder cannot be written, or the day's file is damaged. No file is left half written.
    """
    document = CounterexamplesFile(
        generated_at=now,
        window=refined.days,
        errors=() if sanitized else refined.errors,
        statements=refined.statements,
        counterexamples=refined.counterexample_search.counterexamples,
    )
    return write_night(
        folder,
        document,
        counterexamples_markdown,
        words=refined.words,
        kind=COUNTEREXAMPLES,
        sanitized=sanitized,
        n_records=refined.n_records,
    )


def draft_counterexample(
    example: Counterexample,
    words: Vocabulary,
    *,
    explained: Collection[str] = (),
    settled: Collection[str] = (),
) -> Counterexample:
    """Give a counterexample the reason why it has no text of its own, and a key that may be published.

    Parameters
    ----------
    example : Counterexample
        The result of the search.
    words : Vocabulary
        Definitions of the tools.
    explained : collection of str
        Tools with a statement that explains when they fail.
    settled : collection of str
        Tools whose statement is promoted, on a branch or rejected.
    """
    steps = example.steps or (example.call,)
    return replace(
        example, key=_public_key(example, words, steps), refused=_reason(example, explained, settled)
    )


def _reason(example: Counterexample, explained: Collection[str], settled: Collection[str]) -> str:
    if example.kind == "sequence":
        return "all calls of the sequence succeeded; records do not show which of them to blame"
    if example.tool in explained:
        return "a statement says when this tool fails"
    if example.tool in settled:
        return "a statement says when this tool fails: it is promoted, open or rejected already"
    if not example.n_without.n_calls and example.n_failures == example.n_calls:
        return "every call failed: fix the tool or remove it"
    return "nothing distinguishes its failed calls from the others yet"


def _public_key(example: Counterexample, words: Vocabulary, steps: Sequence[Step]) -> str:
    """The key; with undeclared values, the key of the calls as written, since a hash could be guessed."""
    if words.tool(example.tool) is None or words.declares_all(steps):
        return example.key
    calls = " -> ".join(str(words.call(step)) for step in steps)
    error = example.error_class or "", example.error_template or ""
    return statement_key(example.kind, calls, *error, CAVEATS)


@dataclass(frozen=True, slots=True, kw_only=True)
class RefineRequest(NightRequest):
    """Options of ``refine``.

    Attributes
    ----------
    min_failures : int, optional
        Failures that a group needs; the project's gate by default.
    excluded : tuple of str
        Failure labels and error classes to leave out.
    environ : mapping of str to str
        May say where the knowledge gaps are, see `coreloop.learn.refine.gaps.read_tool_gaps`.
    """

    min_failures: int | None = None
    excluded: tuple[str, ...] = ()
    environ: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class RefineResult(NightResult):
    """Result of ``refine``; ``gaps`` is in none of its files."""

    refined: Refined
    document: CounterexamplesFile
    gaps: tuple[ToolGaps, ...] = ()


def run_refine(
    workspace: Workspace, request: RefineRequest, *, now: datetime, watch: Watch = UNWATCHED
) -> RefineResult:
    """Find failures that repeat, and write the counterexamples of the day.

    Parameters
    ----------
    workspace : Workspace
        The project.
    request : RefineRequest
        Options.
    now : datetime
        With time zone; its day is part of the file names.
    watch : Watch, optional
        Callbacks of the mining.

    Raises
    ------
    UsageError
        A name in ``excluded`` is neither a failure label nor an error class.
    WorkspaceError
        Records or verdicts cannot be read, or the folder cannot be written.
    GitError
        The clone is shallow, so what was promoted is not known.
    """
    excluded = known_types(request.excluded)
    gates = workspace.settings.gates.chosen(min_failures=request.min_failures)
    chunk_len = request.min_chunk_len
    with open_mining(workspace, request.mining, min_chunk_len=chunk_len, watch=watch) as mined:
        states = kept_states(workspace, mined.judgments)
        refined = refine(
            mined.files,
            request.days,
            workspace=workspace,
            min_failures=gates.min_failures,
            excluded=excluded,
            known=settled_keys(states),
            rejected=rejected_keys(states),
            merges=mined.merges(),
        )
        if request.sanitized:  # near misses may hold users' values
            refined = replace(
                refined,
                nearest=(),
                errors=(),
                unproposed=replace(refined.unproposed, undefined=(), withheld=()),
            )
        folder = request.out or workspace.counterexamples_dir
        workspace.keep_private(folder)
        document, paths = write_refined(refined, folder, now=now, sanitized=request.sanitized)
    gaps = tuple(read_tool_gaps(workspace, request.environ))
    kept = None if paths else newest_night(folder, COUNTEREXAMPLES)
    return RefineResult(refined=refined, document=document, paths=paths, mined=mined, gaps=gaps, kept=kept)
