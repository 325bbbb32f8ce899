"""An entry of a proposals file, treated as untrusted input: the starting point of a promotion."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from datetime import date
from pathlib import Path, PurePosixPath
from typing import Final, Literal

from coreloop.base.errors import RefusedError, UsageError
from coreloop.base.git.trailers import CANDIDATE_ID, CANDIDATE_KEY, SECTIONS, SYMBOL
from coreloop.base.project.settings import Settings
from coreloop.base.project.tools import is_tool_name
from coreloop.base.project.workspace import Workspace
from coreloop.base.records import is_category, step
from coreloop.base.text import printable
from coreloop.learn.line import (
    GUIDE_FORMS,
    SequenceLine,
    calls_fit,
    parse_advice,
    parse_line,
    statement_key,
)
from coreloop.learn.proposals.allowed_lines import refuse_line
from coreloop.learn.proposals.entry import Candidate, Counterexample, Statement, SuggestedAppend
from coreloop.learn.proposals.proposal_files import (
    CandidatesFile,
    ProposalsFile,
    read_every_night,
    read_proposals,
)

Phase = Literal["R", "F"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Proposal:
    """A text for a docstring, with its evidence.

    Attributes
    ----------
    phase : str
        ``R``: what keeps working, ``F``: what keeps failing.
    file, symbol : str
        The docstring: a path below the project's folder, and a qualname.
    day : date
        Day of the proposals file; part of the branch name.
    steps, questions : tuple of str
        The expected steps and the questions of a replay; empty for a statement.
    metrics : mapping of str to str
        Evidence, Observed, Unique-Questions and Success-Rate, as the trailers have them.
    evidence : tuple of str
        The evidence, as every screen shows it.
    """

    phase: Phase
    id: str
    key: str
    engine: str
    axis: str | None = None
    file: str
    symbol: str
    lines: tuple[str, ...]
    day: date
    steps: tuple[str, ...] = ()
    questions: tuple[str, ...] = ()
    metrics: Mapping[str, str]
    evidence: tuple[str, ...]

    @property
    def section(self) -> str:
        """The section of the docstring for its lines."""
        return SECTIONS[self.phase]

    @property
    def target(self) -> str:
        """The docstring, as the trailers have it."""
        return f"{self.file}::{self.symbol}"

    @property
    def subject(self) -> tuple[str, ...] | None:
        """What a statement is about; None for a sequence."""
        advice = parse_advice(self.lines[0])
        return advice.subject() if advice is not None else None


def read_proposal(path: Path, wanted: str, settings: Settings) -> Proposal:
    """Read a statement or candidate, and check every text that will be published.

    Parameters
    ----------
    path : Path
        A candidates or counterexamples file.
    wanted : str
        An id in it.
    settings : Settings
        The targets of the tools.

    Raises
    ------
    WorkspaceError
        The file is absent or not a proposals file.
    UsageError
        It has no such id.
    RefusedError
        The proposal has no text or no target, or a text outside the closed vocabulary.
    """
    document = read_proposals(path)
    entry = next((entry for entry in document.entries if entry.id == wanted), None)
    if entry is None:
        ids = ", ".join(printable(entry.id) for entry in document.entries[:3]) or "no entries"
        raise UsageError(f"{path.name} has no {printable(wanted)}; it has {ids}")
    return checked_proposal(entry, document, settings)


def checked_proposal(
    entry: Statement | Candidate | Counterexample, document: ProposalsFile, settings: Settings
) -> Proposal:
    """Check an entry of a proposals file; raises as `read_proposal` does."""
    if not CANDIDATE_ID.fullmatch(entry.id):
        raise RefusedError(_NOT_OURS)
    append, reason = entry.suggested_append, entry.refused or "no text was drafted"
    if append is None or isinstance(entry, Counterexample):
        raise RefusedError(f"{entry.id} has no text: {printable(reason)}")
    if not CANDIDATE_KEY.fullmatch(entry.key):
        raise RefusedError(_NOT_OURS)
    phase: Phase = "R" if isinstance(document, CandidatesFile) else "F"
    refused = _refuse_text(entry, append, SECTIONS[phase]) or _refuse_target(entry.tool, append, settings)
    refused = refused or (
        _refuse_sequence(entry, append) if isinstance(entry, Candidate) else _refuse_statement(entry, phase)
    )
    if refused is not None:
        raise RefusedError(f"{entry.id} is refused: {refused}")
    proposal = Proposal(
        phase=phase,
        id=entry.id,
        key=entry.key,
        engine=entry.tool,
        file=PurePosixPath(append.target_file or "").as_posix(),
        symbol=append.target_symbol or "",
        lines=tuple(append.body.splitlines()),
        day=document.generated_at.date(),
        metrics=_metrics(entry),
        evidence=entry.evidence,
    )
    if isinstance(entry, Statement):
        return proposal
    steps = tuple(step(call.name, call.selectors, call.selectors) for call in entry.tool_pattern)
    return replace(proposal, axis=entry.axis, steps=steps, questions=entry.example_questions)


def read_by_keys(workspace: Workspace, keys: Collection[str]) -> dict[str, Proposal]:
    """The proposals with some keys, as they were last proposed; those whose files are gone are left out.

    Raises
    ------
    RefusedError
        As `read_proposal` does.
    """
    if not keys:
        return {}
    nights = nights_by_age(workspace)
    entries = {entry.key: (entry, night) for night in nights for entry in night.entries}
    return {key: checked_proposal(*entries[key], workspace.settings) for key in keys if key in entries}


def nights_by_age(workspace: Workspace) -> list[ProposalsFile]:
    """The proposals files of all days, the newest last; unreadable ones are left out."""
    nights, _ = read_every_night(workspace)
    return sorted(nights.values(), key=lambda document: document.generated_at)


_NOT_OURS: Final = "the proposal is refused: its id or key is not coreloop's"
_OTHER_TEXT: Final = "its text is not what coreloop writes for its figures; propose again"


def _refuse_text(entry: Statement | Candidate, append: SuggestedAppend, section: str) -> str | None:
    """Why its names or lines are not of the closed vocabulary."""
    if not is_tool_name(entry.tool):
        return "its engine is not a plain name"
    if isinstance(entry, Candidate) and not is_category(entry.cat_hash):
        return "its category is not a label"
    lines = append.body.splitlines()
    if append.section != section or not lines:
        return f"it has no lines for {section}"
    return next(filter(None, map(refuse_line, lines)), None)


def _refuse_target(tool: str, append: SuggestedAppend, settings: Settings) -> str | None:
    """Why its target is not the description of its tool."""
    if append.target_file is None or append.target_symbol is None:
        return f"it has no target: add {tool} under tools: and propose again"
    file = PurePosixPath(append.target_file)
    if file.is_absolute() or ".." in file.parts or not SYMBOL.fullmatch(append.target_symbol):
        return "its target is not a path.py::name below the project"
    declared = settings.tools[tool].target if tool in settings.tools else None
    symbol = append.target_symbol.partition("[")[0]
    is_own = f"{file}::{symbol}" == declared if declared else tool in {symbol, symbol.rpartition(".")[2]}
    row = f'{tool}: {{target: "{printable(str(file))}::{symbol}"}}'
    todo = "propose again" if declared else f"if it is, add {row} under tools: in coreloop.yaml and commit it"
    return None if is_own else f"its target is not the description of {tool}; {todo}"


def _refuse_sequence(candidate: Candidate, append: SuggestedAppend) -> str | None:
    match [parse_line(line) for line in append.body.splitlines()]:
        case [SequenceLine(category=category), SequenceLine(calls=calls)]:
            pattern = candidate.tool_pattern
            is_named = category != "" and candidate.engine in {call.name for call in pattern}
            if is_named and category == candidate.cat_hash and calls_fit(calls, pattern):
                return None
    return _OTHER_TEXT


def _refuse_statement(statement: Statement, phase: Phase) -> str | None:
    """Why it is not what coreloop writes for it in the file of a phase.

    Arguments and values are checked against the base branch, later.
    """
    advice, sides = parse_advice(statement.line), statement.sides
    append = statement.suggested_append
    if advice is None or append is None or append.body != statement.line:
        return _OTHER_TEXT
    is_guide = statement.kind == "source" and all(item.form in GUIDE_FORMS for item in advice.clauses())
    fits = (phase == "F" or is_guide) and statement.tool not in advice.items("tool")
    counts_fit = sides.n_ok <= sides.n > 0 and sides.other_ok <= sides.other_n
    key = statement_key(statement.tool, statement.line, SECTIONS[phase])
    return None if fits and counts_fit and statement.key == key else _OTHER_TEXT


def _metrics(entry: Statement | Candidate) -> dict[str, str]:
    if isinstance(entry, Statement):
        sides, n_questions = entry.sides, entry.n_questions
        n, rate = sides.n + sides.other_n, sides.n_ok / sides.n
        others = f", otherwise {sides.other_ok} of {sides.other_n}" if sides.other_n else ""
        evidence = f"{sides.n_ok} of {sides.n} calls{others}"
    else:
        n, n_questions, rate = entry.n_observed, entry.n_unique_questions, entry.success_rate
        evidence = f"{entry.n_succeeded} of {entry.n_begun} requests, lower bound {entry.success_low:.2f}"
    figures = {"Observed": str(n), "Unique-Questions": str(n_questions), "Success-Rate": f"{rate:.3f}"}
    return {"Evidence": evidence, **figures}
