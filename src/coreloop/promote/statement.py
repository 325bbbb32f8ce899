"""Whether a statement of a proposals file is one that coreloop writes, and its evidence as a table."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from coreloop.docstrings.signature import takes
from coreloop.docstrings.source import UnprovenError, find_definition, read_source
from coreloop.errors import RefusedError
from coreloop.history.trailers import SECTIONS
from coreloop.mine.statistics import TwoSides, newcombe_interval, wilson_interval
from coreloop.project.settings import Settings
from coreloop.proposals.advice import CAVEAT_FORMS, GUIDE_FORMS, Advice, parse_advice, statement_key
from coreloop.proposals.figures import StatementEvidence
from coreloop.proposals.statement_document import difference_text
from coreloop.proposals.statements import Statement


@dataclass(frozen=True, slots=True, kw_only=True)
class EvidenceRow:
    """What speaks for one entry, as a reviewer compares it with others; ``–`` where nothing is known."""

    as_it_says: str
    otherwise: str = "–"
    difference: str = "–"
    last_days: str = "–"
    avoided: str = "–"
    questions: str = "–"
    seen: str = "–"


_PLAIN_WORD: Final = re.compile(r"[\w-]{1,40}")
"""A value for another tool, whose file is not at hand."""


def is_ours(found: Statement, lines: tuple[str, ...], phase: str) -> bool:
    """Whether text and key of an entry are what coreloop writes for it, in the file of a phase.

    Keywords, arguments and values are another matter.
    """
    said = parse_advice(found.line)
    if said is None or lines != (found.line,) or said.sends_to(found.tool):
        return False
    forms = GUIDE_FORMS if phase == "R" else CAVEAT_FORMS
    is_sound = said.form in forms and (found.kind == "condition") is (phase == "F")
    sides = found.sides
    counts = sides.n_ok <= sides.n > 0 and sides.other_ok <= sides.other_n
    return is_sound and counts and found.key == statement_key(found.tool, found.line, SECTIONS[phase])


def names_strange_keywords(found: Statement, settings: Settings) -> bool:
    """Whether it names a keyword that coreloop.yaml has for no category."""
    said = parse_advice(found.line)
    known = {word for rule in settings.categories for word in rule.any}
    return said is not None and not known.issuperset(said.named().keywords)


def refuse_strange_words(line: str, source: bytes, target: str, settings: Settings) -> None:
    """Refuse a statement about arguments or values that the file on the base branch does not declare.

    Raises
    ------
    RefusedError
        Names the first of them.
    """
    said = parse_advice(line)
    if said is None:
        return
    try:
        reason = next(_strange(said, source, target.partition("::")[2], settings), None)
    except UnprovenError as unproven:
        raise RefusedError(f"{target}: {unproven}") from unproven
    if reason is not None:
        raise RefusedError(f"{target}: {reason}; propose again")


def _strange(said: Advice, source: bytes, symbol: str, settings: Settings) -> Iterator[str]:
    file, named = read_source(source), said.named()
    qualname, _, line = symbol.partition(":")
    definition = find_definition(file.tree, qualname, int(line) if line else None)
    for argument in named.arguments:
        if not takes(definition, argument):
            yield f"{argument} is no argument of it on the base branch"
    given = [value for _, _, value in named.given if value and not _PLAIN_WORD.fullmatch(value)]
    for value in (*named.values, *given):
        is_quoted = any(f"{quote}{value}{quote}" in file.text for quote in "\"'")
        if not is_quoted and value not in settings.axis_slugs:
            yield f"{value} is no value that coreloop.yaml or the file on the base branch declares"


def statement_evidence(found: Statement) -> StatementEvidence:
    """Both sides, as the trailers have them."""
    sides = found.sides
    return StatementEvidence(sides.n_ok, sides.n, found.unit, sides.other_ok, sides.other_n)


def statement_row(found: Statement) -> EvidenceRow:
    """Both sides as a row of the evidence."""
    sides, held = found.sides, found.held
    unit = "values" if found.kind == "source" else found.unit
    otherwise = f"{sides.other_ok} of {sides.other_n}" if sides.other_n else "–"
    last = f"{held.n_ok} of {held.n}" + (f", {held.other_ok} of {held.other_n}" if held.other_n else "")
    return EvidenceRow(
        as_it_says=f"{sides.n_ok} of {sides.n} {unit}",
        otherwise=otherwise,
        difference=difference_text(found),
        last_days=last,
        avoided=f"{found.avoided:.1f}",
        questions=str(found.n_questions),
        seen=f"{found.first_seen:%Y-%m-%d} to {found.last_seen:%Y-%m-%d}",
    )


def restored_row(evidence: StatementEvidence, questions: str) -> EvidenceRow:
    """The same of a statement that only its trailers tell of: the interval is not stratified."""
    sides = TwoSides(evidence.n_ok, evidence.n, evidence.other_ok, evidence.other_n)
    low, high = newcombe_interval([sides]) if evidence.other_n else wilson_interval(evidence.n_ok, evidence.n)
    rate = evidence.n_ok / evidence.n
    what, value = (
        ("difference", rate - evidence.other_ok / evidence.other_n) if evidence.other_n else ("share", rate)
    )
    return EvidenceRow(
        as_it_says=f"{evidence.n_ok} of {evidence.n} {evidence.unit}",
        otherwise=f"{evidence.other_ok} of {evidence.other_n}" if evidence.other_n else "–",
        difference=f"{what} {value:.2f} ({low:.2f} to {high:.2f}, not stratified)",
        questions=questions,
    )
