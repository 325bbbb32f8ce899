"""Statements about the successful use of tools: found, tested together and ranked."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from operator import itemgetter

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
class StatementSearch:
    """Result of `find_statements`.

    Attributes
    ----------
    statements : tuple of Statement
        Best first: statements about calls before statements about requests, then by failures that would be
        avoided, by calls that would be saved, by number of calls or requests.
    q_values : tuple of float
        Of the sequences, in their order.
    n_tests : int
        Number of tests, including the sequences.
    nearest : tuple of NearStatement
        The nearest misses.
    """

    statements: tuple[Statement, ...]
    q_values: tuple[float, ...]
    n_tests: int
    nearest: tuple[NearStatement, ...] = ()


def find_statements(sample: Sample, sequence_p_values: Sequence[float] = ()) -> StatementSearch:
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
    p_values = [
        *(contrast.p_value for contrast in tested),
        *(lift.p_value for lift in lifts),
        *sequence_p_values,
    ]
    q_values = benjamini_hochberg(p_values)
    of_contrasts = list(zip(tested, q_values, strict=False))
    of_lifts = list(zip(lifts, q_values[len(tested) :], strict=False))
    significant = without_repeats(
        (contrast, q) for contrast, q in of_contrasts if q <= MAX_Q and contrast.is_worth_saying()
    )
    statements = [
        *find_sources(sample),
        *(contrast.statement(sample, q_value=q) for contrast, q in significant),
        *use_for([(lift, q) for lift, q in of_lifts if q <= MAX_Q and lift.is_worth_saying()], sample),
    ]
    by_key = {statement.key: statement for statement in sorted(statements, key=_rank, reverse=True)}
    new = [statement for statement in by_key.values() if not _is_implied_by_source(statement, statements)]
    return StatementSearch(
        statements=tuple(sorted(new, key=_rank)),
        q_values=tuple(q_values[len(tested) + len(lifts) :]),
        n_tests=len(p_values),
        nearest=_nearest(of_contrasts, contrasts),
    )


def _is_implied_by_source(statement: Statement, statements: Sequence[Statement]) -> bool:
    """Whether it says to call a tool first from which an argument is taken anyway."""
    parsed = parse_advice(statement.line)
    if parsed is None or parsed.form != "first":
        return False
    lines = [other.line for other in statements if other.tool == statement.tool and other.kind == "source"]
    givers = {tool for line in lines if (source := parse_advice(line)) for tool in source.named().tools}
    return givers.issuperset(parsed.named().tools)


def _rank(statement: Statement) -> tuple[bool, float, float, int, str]:
    of_requests = statement.unit == "requests"
    return of_requests, -statement.avoided, -statement.saved, -statement.sides.n, statement.key


def _nearest(
    tested: Sequence[tuple[Contrast, float]], contrasts: Sequence[Contrast]
) -> tuple[NearStatement, ...]:
    unsure = [(contrast, q) for contrast, q in tested if q > MAX_Q and contrast.is_worth_saying()]
    few = sorted((contrast for contrast in contrasts if contrast.n_missing), key=lambda few: few.n_missing)
    return (
        *(_near(contrast, not_sure(q)) for contrast, q in sorted(unsure, key=itemgetter(1))[:MAX_NEAREST]),
        *(_near(contrast, too_few(contrast.n_missing, "request")) for contrast in few[:MAX_NEAREST]),
    )


def _near(contrast: Contrast, reason: str) -> NearStatement:
    return NearStatement(contrast.tool, str(contrast.advice), reason)


def keywords_by_tool(statements: Iterable[Statement]) -> dict[str, tuple[str, ...]]:
    """The keywords of statements of the form "Use for", by tool."""
    parsed = [(statement.tool, parse_advice(statement.line)) for statement in statements]
    return {
        tool: dict(advice.slots)["keywords"]
        for tool, advice in parsed
        if advice is not None and advice.form == "use_for"
    }
