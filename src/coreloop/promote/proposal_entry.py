"""An entry of a proposals file, treated as untrusted input: the starting point of a promotion."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date
from pathlib import Path, PurePosixPath
from typing import Literal

from coreloop.base.errors import RefusedError, UsageError
from coreloop.base.git.trailers import CANDIDATE_ID, CANDIDATE_KEY, SECTIONS, SYMBOL
from coreloop.base.project.settings import Settings
from coreloop.base.project.tools import is_tool_name
from coreloop.base.records import is_category, step
from coreloop.base.text import printable
from coreloop.learn.line import (
    AdvisedCalls,
    Line,
    When,
    calls_fit,
    parse_line,
)
from coreloop.learn.proposals.allowed_lines import refuse_line
from coreloop.learn.proposals.entry import Candidate, Statement
from coreloop.learn.proposals.figures import trailer_figures
from coreloop.learn.proposals.proposal_files import CandidatesFile, read_proposals
from coreloop.promote.check_statement import (
    EvidenceRow,
    is_ours,
    refuse_weak,
    statement_evidence,
    statement_row,
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
        The docstring: a path below the project's folder, and a qualname (``name:LINE`` if defined twice).
    section, lines : str and tuple of str
        The lines to append, and their section.
    day : date
        Day of the proposals file; part of the branch name.
    steps, questions : tuple of str
        The expected steps and the questions of a replay; empty for a statement.
    metrics : mapping of str to str
        Evidence, Observed, Unique-Questions and Success-Rate, as the trailers have them.
    row : EvidenceRow
        The evidence.
    """

    phase: Phase
    id: str
    key: str
    engine: str
    axis: str | None
    file: str
    symbol: str
    section: str
    lines: tuple[str, ...]
    day: date
    steps: tuple[str, ...] = ()
    questions: tuple[str, ...] = ()
    metrics: Mapping[str, str]
    row: EvidenceRow

    @property
    def target(self) -> str:
        """The docstring, as the trailers have it."""
        return f"{self.file}::{self.symbol}"


def read_proposal(path: Path, wanted: str, settings: Settings, *, is_configured: bool = True) -> Proposal:
    """Read a statement, candidate or counterexample, and check every text that will be published.

    Parameters
    ----------
    path : Path
        A candidates or counterexamples file.
    wanted : str
        An id in it.
    settings : Settings
        The categories' keywords; a text may not contain others.
    is_configured : bool
        Whether there is a coreloop.yaml; its absence explains missing keywords.

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
    day = document.generated_at.date()
    if isinstance(entry, Statement):
        phase: Phase = "R" if isinstance(document, CandidatesFile) else "F"
        return _statement(entry, day, phase, settings)
    if isinstance(entry, Candidate):
        return _guide(entry, day, settings)
    # versions before statements drafted texts for failing calls, too
    raise _no_text(entry.id, entry.refused or "an earlier version drafted its text; run refine again")


def _guide(candidate: Candidate, day: date, settings: Settings) -> Proposal:
    _check_names(candidate.id, candidate.key, candidate.engine)
    if not is_category(candidate.cat_hash):
        raise RefusedError(f"{candidate.id} is refused: its category is not a label")
    text = _checked_text(candidate, candidate.engine, SECTIONS["R"], settings)
    if not _is_guide(text.values(), candidate):
        raise RefusedError(_not_ours(candidate.id))
    return Proposal(
        phase="R",
        id=candidate.id,
        key=candidate.key,
        engine=candidate.engine,
        axis=candidate.axis,
        file=text.file,
        symbol=text.symbol,
        section=SECTIONS["R"],
        lines=text.lines,
        day=day,
        steps=tuple(step(call.name, call.selectors, call.selectors) for call in candidate.tool_pattern),
        questions=candidate.example_questions,
        metrics={
            **trailer_figures(
                f"{candidate.n_succeeded} of {candidate.n_observed} requests, "
                f"lower bound {candidate.success_low:.2f}",
                candidate.n_observed,
                candidate.n_unique_questions,
            ),
            "Success-Rate": f"{candidate.success_rate:.3f}",
        },
        row=_guide_row(candidate),
    )


def _is_guide(values: tuple[Line | None, ...], candidate: Candidate) -> bool:
    """Whether the lines are the candidate's; files of older versions include the evidence.

    The keywords are checked separately.
    """
    match values:
        case [When() as when, AdvisedCalls(calls)]:
            pattern = candidate.tool_pattern
            is_named = candidate.engine in {call.name for call in pattern}
            return is_named and when.category in {"", candidate.cat_hash} and calls_fit(calls, pattern)
    return False


def _statement(statement: Statement, day: date, phase: Phase, settings: Settings) -> Proposal:
    _check_names(statement.id, statement.key, statement.tool)
    text = _checked_text(statement, statement.tool, SECTIONS[phase], settings)
    if not is_ours(statement, text.lines, phase):
        raise RefusedError(_not_ours(statement.id))
    if weak := refuse_weak(statement):
        raise RefusedError(f"{statement.id} is refused: {weak}; propose again")
    sides = statement.sides
    return Proposal(
        phase=phase,
        id=statement.id,
        key=statement.key,
        engine=statement.tool,
        axis=None,
        file=text.file,
        symbol=text.symbol,
        section=SECTIONS[phase],
        lines=text.lines,
        day=day,
        metrics={
            **trailer_figures(
                str(statement_evidence(statement)), sides.n + sides.other_n, statement.n_questions
            ),
            "Success-Rate": f"{sides.n_ok / sides.n:.3f}",
        },
        row=statement_row(statement),
    )


def _guide_row(candidate: Candidate) -> EvidenceRow:
    rest = _share(candidate.rest_ok, candidate.rest_n) if candidate.rest_n else "–"
    relaxed = ", gate relaxed by the playbook" if candidate.evidence_rank > 1 else ""
    return EvidenceRow(
        as_it_says=f"{candidate.n_succeeded} of {candidate.n_observed} requests{relaxed}",
        otherwise=f"{rest} of category {candidate.cat_hash}",
        difference=f"rate {candidate.success_rate:.2f}, lower bound {candidate.success_low:.2f}",
        questions=str(candidate.n_unique_questions),
        seen=_seen(candidate),
    )


def _no_text(id: str, refused: str) -> RefusedError:
    return RefusedError(f"{id} has no text: {printable(refused)}")


def _not_ours(id: str) -> str:
    return f"{id} is refused: its text is not what coreloop writes for its figures; propose again"


def _share(some: int, n: int) -> str:
    return f"{some} of {n}"


def _seen(entry: Candidate) -> str:
    return f"{entry.first_seen:%Y-%m-%d} to {entry.last_seen:%Y-%m-%d}"


def _check_names(id: str, key: str, engine: str) -> None:
    if not (CANDIDATE_ID.fullmatch(id) and CANDIDATE_KEY.fullmatch(key)):
        raise RefusedError("the proposal is refused: its id or key is not coreloop's")
    if not is_tool_name(engine):
        raise RefusedError(f"{id} is refused: its engine is not a plain name")


@dataclass(frozen=True, slots=True)
class _Text:
    file: str
    symbol: str
    lines: tuple[str, ...]

    def values(self) -> tuple[Line | None, ...]:
        return tuple(map(parse_line, self.lines))


def _checked_text(entry: Statement | Candidate, engine: str, section: str, settings: Settings) -> _Text:
    """File, symbol and lines, after all checks."""
    id, suggested = entry.id, entry.suggested_append
    if suggested is None:
        raise _no_text(id, entry.refused or "no text was drafted")
    if suggested.target_file is None or suggested.target_symbol is None:
        raise RefusedError(f"{id} has no target: add {engine} under tools: and propose again")
    lines = tuple(suggested.body.splitlines())
    reason = next(filter(None, map(refuse_line, lines)), None)
    if reason is not None:
        raise RefusedError(f"{id} is refused: {reason}")
    if suggested.section != section or not lines:
        raise RefusedError(f"{id} is refused: it has no lines for {section}")
    file = PurePosixPath(suggested.target_file)
    if file.is_absolute() or ".." in file.parts or not SYMBOL.fullmatch(suggested.target_symbol):
        raise RefusedError(f"{id} is refused: its target is not a path.py::name below the project")
    declared = settings.tools[engine].target if engine in settings.tools else None
    named = suggested.target_symbol.partition(":")[0].rpartition(".")[2]
    target = f"{suggested.target_file}::{suggested.target_symbol}"
    if target != declared if declared else named != engine:
        raise RefusedError(f"{id} is refused: its target is not the docstring of {engine}; propose again")
    return _Text(file.as_posix(), suggested.target_symbol, lines)
