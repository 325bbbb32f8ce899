"""Whether appended lines are what coreloop writes: closed forms, known words, and the trailers' figures."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from coreloop.project.settings import Settings
from coreloop.proposals.figures import caveat_figures, guide_figures
from coreloop.proposals.grammar import (
    Call,
    Calls,
    CaveatEvidence,
    Fails,
    FailsApart,
    FailsCall,
    FailsSequence,
    GuideEvidence,
    Line,
    When,
    parse_line,
)
from coreloop.proposals.lines import refuse_line
from coreloop.records import is_category
from coreloop.text import printable

_WORD: Final = re.compile(r"[\w-]{1,40}")


@dataclass(frozen=True, slots=True)
class Words:
    """What the base declares: its coreloop.yaml, and the text of the file that is edited."""

    settings: Settings
    source: str

    def declares(self, value: str) -> bool:
        """Whether a selector's value may be written; one that nobody declared must at least be one word."""
        quoted = any(f"{quote}{value}{quote}" in self.source for quote in "\"'")
        return quoted or value in self.settings.axis_slugs or _WORD.fullmatch(value) is not None


def refuse_lines(lines: Sequence[str], trailers: Mapping[str, str], words: Words) -> Iterator[str]:
    """Why lines are not those of the promotion that the trailers tell of; nothing when they are.

    Parameters
    ----------
    lines : sequence of str
        Without indentation.
    trailers : mapping of str to str
        Of the commit, complete.
    words : Words
        What the base declares.
    """
    for number, line in enumerate(lines, start=1):
        if reason := refuse_line(line, private=False):
            yield f"line {number} is none that coreloop writes: {reason}"
            return
    values = tuple(map(parse_line, lines))
    refuse = _refuse_guide if trailers["Phase"] == "R" else _refuse_caveat
    yield from refuse(values, trailers, words)


def _refuse_guide(values: Sequence[Line | None], trailers: Mapping[str, str], words: Words) -> Iterator[str]:
    """When, Call, Evidence; the first two may be there already, from an earlier promotion."""
    match values:
        case [When(), Calls(), GuideEvidence() as evidence]:
            pass
        case [When() | Calls(), GuideEvidence() as evidence] | [GuideEvidence() as evidence]:
            pass
        case _:
            yield "the lines are not the When, Call and Evidence of a Guide"
            return
    for value in values:
        if isinstance(value, When):
            yield from _refuse_when(value, words)
        elif isinstance(value, Calls):
            yield from _refuse_values(value.calls, words)
    yield from _refuse_figures(guide_figures(evidence), trailers)
    yield from _refuse_rate(evidence.succeeded, evidence.requests, "requests", trailers)


def _refuse_when(when: When, words: Words) -> Iterator[str]:
    if when.category and not is_category(when.category):
        yield f"{printable(when.category)} is no label of a category"
    strange = set(when.keywords) - set(words.settings.keywords(when.category))
    if strange:
        yield f"{printable(min(strange))} is no keyword of {printable(when.category)} in coreloop.yaml"


def _refuse_values(calls: Iterable[Call], words: Words) -> Iterator[str]:
    for call in calls:
        for name, value in call.arguments:
            if value is not None and value != f"<{name}>" and not words.declares(value.strip('"')):
                yield f"{printable(value)} is no value that coreloop.yaml or the source declares"


def _refuse_caveat(values: Sequence[Line | None], trailers: Mapping[str, str], words: Words) -> Iterator[str]:
    """What fails, and the evidence."""
    match values:
        case [(FailsApart() | FailsCall() | FailsSequence()) as fails, CaveatEvidence() as evidence]:
            pass
        case _:
            yield "the lines are not the Fails and Evidence of a caveat"
            return
    yield from _refuse_values(_calls_of(fails), words)
    yield from _refuse_figures(caveat_figures(fails, evidence), trailers)
    counts = fails.counts
    yield from _refuse_rate(counts.of - counts.failed, counts.of, counts.unit, trailers)


def _calls_of(fails: Fails) -> tuple[Call, ...]:
    match fails:
        case FailsSequence(calls):
            return calls
        case FailsCall(call):
            return (call,)
    return ()


def _refuse_figures(said: Mapping[str, str], trailers: Mapping[str, str]) -> Iterator[str]:
    for name, value in said.items():
        if trailers[name] != value:
            yield f"the trailer {name} is {printable(trailers[name])}, but the lines say {value}"


def _refuse_rate(succeeded: int, observed: int, unit: str, trailers: Mapping[str, str]) -> Iterator[str]:
    """A rate of three decimals, times what was observed, is the count that succeeded, or is refused."""
    written = trailers["Success-Rate"]
    is_share = re.fullmatch(r"[01]\.\d{3}", written, re.ASCII)
    if not is_share or abs(float(written) * observed - succeeded) > 0.5 + 0.0005 * observed:
        yield f"the trailer Success-Rate does not fit {succeeded} of {observed} {unit}"
