"""Whether a statement is a line that coreloop writes: its form, its words, and the trailers' figures."""

from collections.abc import Iterator, Mapping
from typing import Final

from coreloop.guard.figures import refuse_counts, refuse_rate
from coreloop.proposals.advice import CAVEAT_FORMS, GUIDE_FORMS, Advice
from coreloop.proposals.declared import refuse_advice
from coreloop.proposals.figures import read_statement_evidence
from coreloop.proposals.words import Words
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
    yield from refuse_advice(advice, words)
    yield from _refuse_evidence(trailers)


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
