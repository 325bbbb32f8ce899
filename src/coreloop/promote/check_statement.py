"""Checks that a statement of a proposals file is coreloop's, and its evidence as a table."""

from collections.abc import Sequence
from dataclasses import dataclass

from coreloop.base.errors import RefusedError
from coreloop.base.git.trailers import SECTIONS
from coreloop.base.messages import number_of
from coreloop.base.project.settings import Settings
from coreloop.descriptions.source import UnprovenError, find_definition, read_source
from coreloop.learn.line import GUIDE_FORMS, parse_advice, statement_key
from coreloop.learn.mine.statistics import TwoSides, newcombe_interval, wilson_interval
from coreloop.learn.proposals.declared_words import BaseNames, Words, refuse_words
from coreloop.learn.proposals.entry import MAX_Q, MIN_CASES, Statement, difference_text, not_sure, too_few
from coreloop.learn.proposals.figures import StatementEvidence


@dataclass(frozen=True, slots=True, kw_only=True)
class EvidenceRow:
    """The evidence of an entry as a table row; ``–`` for unknown values."""

    as_it_says: str
    otherwise: str = "–"
    difference: str = "–"
    last_days: str = "–"
    wasted: str = "–"
    questions: str = "–"
    seen: str = "–"


def is_ours(statement: Statement, lines: tuple[str, ...], phase: str) -> bool:
    """Whether text and key of an entry are what coreloop writes for it, in the file of a phase.

    Keywords, arguments and values are checked separately.
    """
    advice = parse_advice(statement.line)
    if advice is None or lines != (statement.line,) or statement.tool in advice.items("tool"):
        return False
    fits_phase = phase == "F" or all(clause.form in GUIDE_FORMS for clause in advice.clauses())
    fits_phase &= phase == "F" or statement.kind == "source"
    sides = statement.sides
    counts_fit = sides.n_ok <= sides.n > 0 and sides.other_ok <= sides.other_n
    key = statement_key(statement.tool, statement.line, SECTIONS[phase])
    return fits_phase and counts_fit and statement.key == key


def refuse_undeclared(
    lines: Sequence[str], source: bytes, target: str, *, tool: str, settings: Settings, names: BaseNames
) -> None:
    """Refuse lines with a tool, argument or value that the base does not have, as the guard does.

    Parameters
    ----------
    lines : sequence of str
        The lines for the docstring of ``tool``.
    source : bytes
        The docstring's file at the base.
    target : str
        ``path.py::qualname``, for the message too.

    Raises
    ------
    RefusedError
        Names the first such word.
    """
    path, _, symbol = target.partition("::")
    qualname, _, number = symbol.partition(":")
    try:
        file = read_source(source)
        definition = find_definition(file.tree, qualname, int(number) if number else None)
    except UnprovenError as unproven:
        raise RefusedError(f"{target}: {unproven}") from unproven
    known = names.among(lines, [path])
    words = Words(settings, file.text, tool, definition, known)
    reason = next((reason for line in lines for reason in refuse_words(line, words)), None)
    if reason is not None:
        raise RefusedError(f"{target}: the guard would stop it: {reason}. Merge that first, or propose again")


def refuse_weak(statement: Statement) -> str | None:
    """Why a statement did not pass the gates of the run that would have proposed it; None if it did.

    A proposals file is untrusted: its figures are asked again, and its counts must agree with them.
    """
    if statement.q_value > MAX_Q:
        return not_sure(statement.q_value)
    for what, sides in (("", statement.sides), (" in the last days", statement.held)):
        if sides.n and sides.other_n and sides.n_ok * sides.other_n <= sides.other_ok * sides.n:
            return f"what follows the line does no better than the rest{what}: {sides}"
    sides = statement.sides
    if min(sides.cases, sides.other_cases) < MIN_CASES:
        return too_few(min(sides.cases, sides.other_cases), statement.case)
    if min(statement.difference, statement.low) <= 0:
        return f"it may make no difference: {difference_text(statement)}"
    return None


def statement_evidence(statement: Statement) -> StatementEvidence:
    """The counts of both sides, for the trailers."""
    sides = statement.sides
    return StatementEvidence(sides.n_ok, sides.n, "calls", sides.other_ok, sides.other_n)


def statement_row(statement: Statement) -> EvidenceRow:
    """The evidence as a table row."""
    sides, held = statement.sides, statement.held
    case = statement.case
    last = f"{held.n_ok:,} of {held.n:,}" + (
        f", {held.other_ok:,} of {held.other_n:,}" if held.other_n else ""
    )
    return EvidenceRow(
        as_it_says=f"{sides.n_ok:,} of {number_of(sides.n, 'call')}, {number_of(sides.cases, case)}",
        otherwise=f"{sides.other_ok:,} of {sides.other_n:,}, {number_of(sides.other_cases, case)}",
        difference=difference_text(statement),
        last_days=last,
        wasted=f"{statement.wasted:.1f}",
        questions=str(statement.n_questions),
        seen=f"{statement.first_seen:%Y-%m-%d} to {statement.last_seen:%Y-%m-%d}",
    )


def restored_row(evidence: StatementEvidence, questions: str) -> EvidenceRow:
    """The table row of a statement restored from trailers, with an unstratified interval."""
    sides = TwoSides(evidence.n_ok, evidence.n, evidence.other_ok, evidence.other_n)
    low, high = newcombe_interval(sides) if evidence.other_n else wilson_interval(evidence.n_ok, evidence.n)
    rate = evidence.n_ok / evidence.n
    name, value = (
        ("difference", rate - evidence.other_ok / evidence.other_n) if evidence.other_n else ("share", rate)
    )
    return EvidenceRow(
        as_it_says=f"{evidence.n_ok} of {evidence.n} {evidence.unit}",
        otherwise=f"{evidence.other_ok} of {evidence.other_n}" if evidence.other_n else "–",
        difference=f"{name} {value:.2f} ({low:.2f} to {high:.2f}, not stratified)",
        questions=questions,
    )
