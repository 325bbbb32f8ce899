"""Whether a statement is a line that coreloop writes: its form, its words, and the trailers' figures."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Final

from coreloop.guard.figures import refuse_counts, refuse_rate
from coreloop.guard.words import Words
from coreloop.proposals.advice import CAVEAT_FORMS, GUIDE_FORMS, Advice
from coreloop.proposals.figures import read_statement_evidence
from coreloop.text import printable

_FORMS: Final = {"R": GUIDE_FORMS, "F": CAVEAT_FORMS}


def refuse_statement(advice: Advice, trailers: Mapping[str, str], words: Words) -> Iterator[str]:
    """Why a line of a closed form is not the line of the promotion that the trailers describe.

    Parameters
    ----------
    advice : Advice
        The parsed line.
    trailers : mapping of str to str
        Of the commit, complete.
    words : Words
        What the base declares.
    """
    if advice.form not in _FORMS[trailers["Phase"]]:
        yield f"the line is not a form of phase {trailers['Phase']}"
    if trailers["Replay"] != "not-applicable":
        yield f"the trailer Replay is {printable(trailers['Replay'])}, but statements cannot be replayed"
    yield from refuse_words(advice, words)
    yield from _refuse_evidence(trailers)


def refuse_words(advice: Advice, words: Words) -> Iterator[str]:
    """Why a line has names or values that the base does not have."""
    named = advice.named()
    yield from refuse_arguments(named.arguments, words)
    for value in named.values:
        if not words.is_declared(value):
            yield _undeclared(value)
    for tool, argument, value in named.given:
        if not words.may_pass(tool, argument):
            yield f"{printable(argument)} is not an argument of {printable(tool)}"
        if value and not words.may_name(value):
            yield _undeclared(value)
    for keyword in named.keywords:
        if not words.has_keyword(keyword):
            yield f"{printable(keyword)} is not a keyword in coreloop.yaml"
    for tool in named.tools:
        yield from refuse_tool(tool, words)
    if advice.sends_to(words.tool):
        yield f"the line refers {printable(words.tool)} to itself"


def refuse_arguments(arguments: Iterable[str], words: Words) -> Iterator[str]:
    """Arguments must be those of the docstring's tool."""
    for argument in arguments:
        if not words.takes(argument):
            yield f"{printable(argument)} is not an argument of {printable(words.tool)}"


def refuse_tool(tool: str, words: Words) -> Iterator[str]:
    """Tools must exist at the base."""
    if not words.has_tool(tool):
        yield f"{printable(tool)} is not a tool of coreloop.yaml or the base; name it under tools:"


def _undeclared(value: str) -> str:
    return f"{printable(value)} is not a value that coreloop.yaml or the source declares"


def _refuse_evidence(trailers: Mapping[str, str]) -> Iterator[str]:
    """The figures are in the trailers alone, and must agree with each other."""
    evidence = read_statement_evidence(trailers["Evidence"])
    if evidence is None:
        yield "the trailer Evidence is not that of a statement"
        return
    observed = evidence.n + evidence.other_n
    if trailers["Phase"] == "F" and evidence.unit != "calls":
        yield "the trailer Evidence of a caveat counts requests, not calls"
    yield from refuse_counts(observed, trailers)
    yield from refuse_rate(evidence.n_ok, evidence.n, evidence.unit, trailers)
