"""What is worth saying about tools that are used with success: found, tested together, put in order."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from coreloop.mine.sample import Sample
from coreloop.mine.statistics import benjamini_hochberg
from coreloop.pattern.contrasts import Contrast, find_contrasts, without_repeats
from coreloop.pattern.lift import find_lifts, use_for
from coreloop.pattern.sources import find_sources
from coreloop.proposals.advice import parse_advice
from coreloop.proposals.statements import (
    MAX_NEAREST,
    MAX_Q,
    NearStatement,
    Statement,
    not_sure,
    too_few,
)


@dataclass(frozen=True, slots=True)
class FoundStatements:
    """What was found.

    Attributes
    ----------
    statements : tuple of Statement
        Best first: what single calls show before what whole requests show, then by failures that would be
        avoided, by calls that would be saved, by calls or requests behind it.
    q_values : tuple of float
        Of the sequences, in their order.
    n_tests : int
        Everything that was tested, the sequences too.
    nearest : tuple of NearStatement
        Those that fell closest.
    """

    statements: tuple[Statement, ...]
    q_values: tuple[float, ...]
    n_tests: int
    nearest: tuple[NearStatement, ...] = ()


def find_statements(sample: Sample, sequence_p_values: Sequence[float] = ()) -> FoundStatements:
    """Find statements in a sample; all tests of a run are corrected together.

    Parameters
    ----------
    sample : Sample
        Requests call by call.
    sequence_p_values : sequence of float
        Of sequences against the rest of their category.
    """
    contrasts, lifts = find_contrasts(sample), find_lifts(sample)
    tested = [contrast for contrast in contrasts if not contrast.n_missing]
    p_values = [*(one.p_value for one in tested), *(one.p_value for one in lifts), *sequence_p_values]
    q_values = benjamini_hochberg(p_values)
    of_contrasts = list(zip(tested, q_values, strict=False))
    of_lifts = list(zip(lifts, q_values[len(tested) :], strict=False))
    sure = without_repeats((one, q) for one, q in of_contrasts if q <= MAX_Q and one.is_worth_saying())
    found = [
        *find_sources(sample),
        *(one.statement(sample, q_value=q) for one, q in sure),
        *use_for([(one, q) for one, q in of_lifts if q <= MAX_Q and one.is_worth_saying()], sample),
    ]
    first = {statement.key: statement for statement in sorted(found, key=_rank, reverse=True)}
    told = [one for one in first.values() if not _is_told_by_source(one, found)]
    return FoundStatements(
        statements=tuple(sorted(told, key=_rank)),
        q_values=tuple(q_values[len(tested) + len(lifts) :]),
        n_tests=len(p_values),
        nearest=_nearest(of_contrasts, contrasts),
    )


def _is_told_by_source(statement: Statement, found: Sequence[Statement]) -> bool:
    """Whether it says to call first what one of the tool's arguments comes from anyway."""
    said = parse_advice(statement.line)
    if said is None or said.form != "first":
        return False
    same = [one for one in found if one.tool == statement.tool and one.kind == "source"]
    named = {tool for one in same if (source := parse_advice(one.line)) for tool in source.named().tools}
    return named.issuperset(said.named().tools)


def _rank(statement: Statement) -> tuple[bool, float, float, int, str]:
    of_requests = statement.unit == "requests"
    return of_requests, -statement.avoided, -statement.saved, -statement.sides.n, statement.key


def _nearest(
    tested: Sequence[tuple[Contrast, float]], contrasts: Sequence[Contrast]
) -> tuple[NearStatement, ...]:
    unsure = [(one, q) for one, q in tested if q > MAX_Q and one.is_worth_saying()]
    few = sorted((one for one in contrasts if one.n_missing), key=lambda one: one.n_missing)
    return (
        *(_near(one, not_sure(q)) for one, q in sorted(unsure, key=lambda pair: pair[1])[:MAX_NEAREST]),
        *(_near(one, too_few(one.n_missing, "request")) for one in few[:MAX_NEAREST]),
    )


def _near(contrast: Contrast, reason: str) -> NearStatement:
    return NearStatement(contrast.tool, str(contrast.advice), reason)


def keywords_by_tool(statements: Iterable[Statement]) -> dict[str, tuple[str, ...]]:
    """The keywords that some statements say tools are for."""
    said = [(statement.tool, parse_advice(statement.line)) for statement in statements]
    return {
        tool: dict(advice.slots)["keywords"]
        for tool, advice in said
        if advice is not None and advice.form == "use_for"
    }
