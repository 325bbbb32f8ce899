"""What a promotion starts from: one entry of a proposals file, treated as untrusted input."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date
from pathlib import Path, PurePosixPath
from typing import Literal

from coreloop.errors import RefusedError, UsageError
from coreloop.failures import CLASSES, LABELS
from coreloop.history.trailers import CANDIDATE_ID, CANDIDATE_KEY, SECTIONS, SYMBOL
from coreloop.project.settings import Settings
from coreloop.project.tools import is_tool_name
from coreloop.promote.statement import (
    EvidenceRow,
    is_ours,
    names_strange_keywords,
    statement_evidence,
    statement_row,
)
from coreloop.proposals.candidates import Candidate, CandidatesFile
from coreloop.proposals.counterexamples import Counterexample
from coreloop.proposals.evidence import caveat_evidence, failures, guide_evidence
from coreloop.proposals.figures import caveat_figures, guide_figures, statement_figures
from coreloop.proposals.grammar import (
    Calls,
    Fails,
    FailsApart,
    FailsCall,
    FailsSequence,
    Line,
    When,
    calls_fit,
    parse_line,
)
from coreloop.proposals.lines import refuse_line
from coreloop.proposals.night import read_proposals
from coreloop.proposals.statements import Statement
from coreloop.records import is_category, step
from coreloop.text import printable

Phase = Literal["R", "F"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Proposal:
    """One text for one docstring, with what speaks for it.

    Attributes
    ----------
    phase : str
        ``R``: what keeps working, ``F``: what keeps failing.
    file, symbol : str
        Where the docstring is: a path below the project's folder, a qualname (``name:LINE`` where one is
        defined twice).
    section, lines : str and tuple of str
        What is appended where.
    day : date
        Of the proposals file; it names the branch.
    steps, questions : tuple of str
        What a replay asks and expects; none for a caveat or a statement.
    figures : mapping of str to str
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
    figures: Mapping[str, str]
    row: EvidenceRow

    @property
    def target(self) -> str:
        """The docstring, as the trailers have it."""
        return f"{self.file}::{self.symbol}"


def read_proposal(path: Path, wanted: str, settings: Settings, *, is_configured: bool = True) -> Proposal:
    """Read one statement, candidate or counterexample and check every text that will be shown to others.

    Parameters
    ----------
    path : Path
        A candidates or counterexamples file.
    wanted : str
        An id in it.
    settings : Settings
        The categories' keywords: others may not be written.
    is_configured : bool
        Whether there is a coreloop.yaml; a refusal says so where keywords are missing.

    Raises
    ------
    WorkspaceError
        The file is not there or is no file of proposals.
    UsageError
        It has no such id.
    RefusedError
        The proposal has no text or no target, or a text is not of the closed vocabulary.
    """
    document = read_proposals(path)
    found = next((entry for entry in document.entries if entry.id == wanted), None)
    if found is None:
        ids = ", ".join(printable(entry.id) for entry in document.entries[:3]) or "none at all"
        raise UsageError(f"{path.name} has no {printable(wanted)}; it has {ids}")
    day = document.generated_at.date()
    if isinstance(found, Statement):
        phase: Phase = "R" if isinstance(document, CandidatesFile) else "F"
        return _statement(found, day, phase, settings, is_configured=is_configured)
    if isinstance(found, Candidate):
        guide = _guide(found, day, settings)
        _check_keywords(found, guide.lines[0], settings, is_configured=is_configured)
        return guide
    return _caveat(found, day, settings)


def _guide(found: Candidate, day: date, settings: Settings) -> Proposal:
    _check_names(found.id, found.key, found.engine)
    if not is_category(found.cat_hash):
        raise RefusedError(f"{found.id} is refused: its category is no label")
    text = _checked_text(found, found.engine, SECTIONS["R"], settings)
    if not _is_guide(text.values(), found):
        raise RefusedError(_not_ours(found.id))
    return Proposal(
        phase="R",
        id=found.id,
        key=found.key,
        engine=found.engine,
        axis=found.axis,
        file=text.file,
        symbol=text.symbol,
        section=SECTIONS["R"],
        lines=text.lines,
        day=day,
        steps=tuple(step(one.name, one.selectors, one.selectors) for one in found.tool_pattern),
        questions=found.example_questions,
        figures={
            **guide_figures(guide_evidence(found)),
            "Success-Rate": f"{found.success_rate:.3f}",
        },
        row=_guide_row(found),
    )


def _is_guide(values: tuple[Line | None, ...], found: Candidate) -> bool:
    """Whether the lines are those of the candidate, in files of older versions with the evidence among them.

    The keywords are another matter.
    """
    match values:
        case [When() as when, Calls(calls), *rest] if rest in ([], [guide_evidence(found)]):
            named = found.engine in {one.name for one in found.tool_pattern}
            return named and when.fits(found.cat_hash, when.keywords) and calls_fit(calls, found.tool_pattern)
    return False


def _statement(
    found: Statement, day: date, phase: Phase, settings: Settings, *, is_configured: bool
) -> Proposal:
    _check_names(found.id, found.key, found.tool)
    text = _checked_text(found, found.tool, SECTIONS[phase], settings)
    if not is_ours(found, text.lines, phase):
        raise RefusedError(_not_ours(found.id))
    if names_strange_keywords(found, settings):
        raise _strange_keywords(found.id, "", is_configured=is_configured)
    sides = found.sides
    return Proposal(
        phase=phase,
        id=found.id,
        key=found.key,
        engine=found.tool,
        axis=None,
        file=text.file,
        symbol=text.symbol,
        section=SECTIONS[phase],
        lines=text.lines,
        day=day,
        figures={
            **statement_figures(statement_evidence(found), found.n_questions),
            "Success-Rate": f"{sides.n_ok / sides.n:.3f}",
        },
        row=statement_row(found),
    )


def _check_keywords(found: Candidate, line: str, settings: Settings, *, is_configured: bool) -> None:
    when = parse_line(line)
    if not isinstance(when, When) or when.fits(found.cat_hash, settings.keywords(found.cat_hash)):
        return
    raise _strange_keywords(found.id, f" for category {found.cat_hash}", is_configured=is_configured)


def _strange_keywords(id: str, of_whom: str, *, is_configured: bool) -> RefusedError:
    if not is_configured:
        missing = "there is no coreloop.yaml in this folder or above it; run this in the project's folder"
    else:
        missing = f"coreloop.yaml has no such keywords{of_whom}; run pattern again"
    return RefusedError(f"{id} is refused: its text names keywords, and {missing}")


def _guide_row(found: Candidate) -> EvidenceRow:
    rest = f"{found.rest_ok} of {found.rest_n}" if found.rest_n else "–"
    relaxed = ", gate relaxed by the playbook" if found.evidence_rank > 1 else ""
    return EvidenceRow(
        as_it_says=f"{found.n_succeeded} of {found.n_observed} requests{relaxed}",
        otherwise=f"{rest} of category {found.cat_hash}",
        difference=f"rate {found.success_rate:.2f}, lower bound {found.success_low:.2f}",
        questions=str(found.n_unique_questions),
        seen=_seen(found),
    )


def _caveat(found: Counterexample, day: date, settings: Settings) -> Proposal:
    _check_names(found.id, found.key, found.tool)
    if not {*found.labels, *filter(None, [found.error_class])} <= {*LABELS, *CLASSES}:
        raise RefusedError(f"{found.id} is refused: its labels are not those of the failure taxonomy")
    text = _checked_text(found, found.tool, SECTIONS["F"], settings)
    fails = _fails(text.values(), found)
    if fails is None:
        raise RefusedError(_not_ours(found.id))
    succeeded = found.n_calls - found.n_failures
    return Proposal(
        phase="F",
        id=found.id,
        key=found.key,
        engine=found.tool,
        axis=next(iter(found.selectors.values()), None),
        file=text.file,
        symbol=text.symbol,
        section=SECTIONS["F"],
        lines=text.lines,
        day=day,
        figures={
            **caveat_figures(fails, caveat_evidence(found)),
            "Success-Rate": f"{succeeded / found.n_calls if found.n_calls else 0:.3f}",
        },
        row=_caveat_row(found),
    )


def _fails(values: tuple[Line | None, ...], found: Counterexample) -> Fails | None:
    """The Fails line, where the lines are those of the counterexample."""
    without = found.n_without
    otherwise = (without.n_failures, without.n_calls)
    match values:
        case [FailsSequence() as fails, evidence]:
            sound = found.kind == "sequence" and calls_fit(fails.calls, found.steps)
        case [FailsApart() as fails, evidence]:
            named = {*found.arg_keys, *without.arg_keys}
            sound = set(fails.names) <= named and fails.otherwise == otherwise
        case [FailsCall() as fails, evidence]:
            sound = fails.call.fits(found.call) and fails.otherwise in {None, otherwise}
        case _:
            return None
    figures = fails.counts == failures(found) and evidence == caveat_evidence(found)
    return fails if sound and figures else None


def _caveat_row(found: Counterexample) -> EvidenceRow:
    without = found.n_without
    return EvidenceRow(
        as_it_says=f"{found.n_failures} of {found.n_calls} {found.unit} failed",
        otherwise=f"{without.n_failures} of {without.n_calls} failed",
        difference=f"failing share, lower bound {found.harm_low:.2f}",
        seen=_seen(found),
    )


def _not_ours(id: str) -> str:
    return f"{id} is refused: its text is not what coreloop writes for its figures; propose again"


def _seen(found: Candidate | Counterexample) -> str:
    return f"{found.first_seen:%Y-%m-%d} to {found.last_seen:%Y-%m-%d}"


def _check_names(id: str, key: str, engine: str) -> None:
    if not (CANDIDATE_ID.fullmatch(id) and CANDIDATE_KEY.fullmatch(key)):
        raise RefusedError("the proposal is refused: its id or key is not one that coreloop gives")
    if not is_tool_name(engine):
        raise RefusedError(f"{id} is refused: its engine is no plain name")


@dataclass(frozen=True, slots=True)
class _Text:
    file: str
    symbol: str
    lines: tuple[str, ...]

    def values(self) -> tuple[Line | None, ...]:
        return tuple(map(parse_line, self.lines))


def _checked_text(
    found: Statement | Candidate | Counterexample, engine: str, section: str, settings: Settings
) -> _Text:
    """File, symbol and lines, once nothing is wrong with them."""
    id, suggested = found.id, found.suggested_append
    if suggested is None:
        raise RefusedError(f"{id} has no text: {printable(found.refused or 'none was drafted')}")
    if suggested.target_file is None or suggested.target_symbol is None:
        raise RefusedError(f"{id} has no target: name {engine} under tools: and propose again")
    lines = tuple(suggested.body.splitlines())
    reason = next(filter(None, map(refuse_line, lines)), None)
    if reason is not None:
        raise RefusedError(f"{id} is refused: {reason}")
    if suggested.section != section or not lines:
        raise RefusedError(f"{id} is refused: it has no lines, or not for {section}")
    file = PurePosixPath(suggested.target_file)
    if file.is_absolute() or ".." in file.parts or not SYMBOL.fullmatch(suggested.target_symbol):
        raise RefusedError(f"{id} is refused: its target is no path.py::name below the project")
    declared = settings.tools[engine].target if engine in settings.tools else None
    named = suggested.target_symbol.partition(":")[0].rpartition(".")[2]
    target = f"{suggested.target_file}::{suggested.target_symbol}"
    if target != declared if declared else named != engine:
        raise RefusedError(f"{id} is refused: its target is not the docstring of {engine}; propose again")
    return _Text(file.as_posix(), suggested.target_symbol, lines)
