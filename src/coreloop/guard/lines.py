"""Whether added lines are coreloop's: closed forms, declared words, and the trailers' figures."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import date
from typing import Final

from coreloop.base.git.trailers import SECTIONS
from coreloop.base.records import UNSPECIFIED, join_steps, step
from coreloop.base.text import printable
from coreloop.learn.proposals.allowed_lines import refuse_line
from coreloop.learn.proposals.declared import (
    MIN_CASES,
    refuse_advice,
    refuse_calls,
    refuse_fails,
    refuse_when,
)
from coreloop.learn.proposals.declared_words import Words
from coreloop.learn.proposals.equal_wordings import keys_of
from coreloop.learn.proposals.figures import (
    caveat_figures,
    guide_figures,
    read_guide_evidence,
    read_statement_evidence,
)
from coreloop.learn.proposals.sequence_lines import (
    AdvisedCalls,
    CaveatEvidence,
    FailsApart,
    FailsCall,
    FailsSequence,
    GuideEvidence,
    Line,
    When,
    parse_line,
)
from coreloop.learn.proposals.statement_lines import (
    CAVEAT_FORMS,
    GUIDE_FORMS,
    Advice,
    parse_advice,
    statement_key,
)

_COUNT: Final = re.compile(r"[0-9]{1,10}")
_FORMS: Final = {"R": GUIDE_FORMS, "F": CAVEAT_FORMS}


def refuse_groups(lines: Sequence[str], groups: Sequence[Mapping[str, str]], words: Words) -> Iterator[str]:
    """Why lines are not those of a commit's candidates: each candidate must have its own line, with no extra.

    Parameters
    ----------
    lines : sequence of str
        Without indentation, each on one line.
    groups : sequence of mapping of str to str
        The trailers of each candidate, complete.
    words : Words
        What the base declares.
    """
    if len(groups) == 1:
        yield from refuse_lines(lines, groups[0], words)
        return
    unmatched = list(lines)
    for group in groups:
        section, key = SECTIONS[group["Phase"]], group["Candidate-Key"]
        own = [line for line in unmatched if key in keys_of(words.tool, line, section)]
        if len(own) != 1:
            yield (
                f"no added line is that of the proposal {group['Candidate-Id']}, which the trailers "
                "name; promote it again"
            )
            continue
        unmatched.remove(own[0])
        yield from refuse_lines(own, group, words)
    if unmatched:
        yield (f"{printable(unmatched[0])} is no line of a proposal that the trailers name; take it out")


def refuse_replaced(removed: Iterable[str], added: Sequence[str]) -> Iterator[str]:
    """A line may only be replaced by another line on the same subject."""
    subjects = {advice.subject() for line in added if (advice := parse_advice(line)) is not None}
    for line in removed:
        advice = parse_advice(line)
        if advice is None or advice.subject() not in subjects:
            yield f"{printable(line)} is removed without a new line on the same subject; put it back"


def refuse_lines(lines: Sequence[str], trailers: Mapping[str, str], words: Words) -> Iterator[str]:
    """Why lines are not those of the candidate whose trailers are given, as in `refuse_groups`."""
    for number, line in enumerate(lines, start=1):
        if reason := refuse_line(line, private=False):
            yield f"line {number} is not a line that coreloop writes: {reason}"
            return
    statement = parse_advice(lines[0]) if len(lines) == 1 else None
    if statement is not None:
        section = SECTIONS[trailers["Phase"]]
        if words.tool and trailers["Candidate-Key"] not in keys_of(words.tool, lines[0], section):
            yield ("the Candidate-Key in its commit's trailers belongs to another line; promote it again")
        yield from _refuse_statement(statement, trailers, words)
        return
    values = tuple(map(parse_line, lines))
    refuse = _refuse_guide if trailers["Phase"] == "R" else _refuse_caveat
    yield from refuse(values, trailers, words)


def _refuse_statement(advice: Advice, trailers: Mapping[str, str], words: Words) -> Iterator[str]:
    """A line of a closed form: of its phase, with words of the base, and figures that agree."""
    if not {clause.form for clause in advice.clauses()} <= _FORMS[trailers["Phase"]]:
        yield f"the line is not a form of phase {trailers['Phase']}"
    if trailers["Replay"] != "not-applicable":
        yield (f"the trailer Replay is {printable(trailers['Replay'])}, but statements cannot be replayed")
    yield from refuse_advice(advice, words)
    evidence = read_statement_evidence(trailers["Evidence"])
    if evidence is None:
        yield "the trailer Evidence is not that of a statement"
        return
    if trailers["Phase"] == "F" and evidence.unit != "calls":
        yield "the trailer Evidence of a caveat counts requests, not calls"
    yield from refuse_counts(evidence.n + evidence.other_n, trailers)
    yield from refuse_rate(evidence.n_ok, evidence.n, evidence.unit, trailers)
    questions = trailers["Unique-Questions"]
    if advice.named().fields and questions.isdecimal() and int(questions) < MIN_CASES:
        yield f"the line names a field that {questions} questions have shown; it needs {MIN_CASES}"


def _refuse_guide(values: Sequence[Line | None], trailers: Mapping[str, str], words: Words) -> Iterator[str]:
    """When and Call, or the one that an earlier promotion lacks; older versions added an Evidence line."""
    match values:
        case [When(), AdvisedCalls()] | [When() | AdvisedCalls()]:
            yield from _refuse_evidence(trailers)
        case (
            [When(), AdvisedCalls(), GuideEvidence() as evidence]
            | [When() | AdvisedCalls(), GuideEvidence() as evidence]
            | [GuideEvidence() as evidence]
        ):
            if not evidence.questions <= evidence.requests:
                yield (
                    f"the Evidence has more distinct questions, {evidence.questions}, than requests, "
                    f"{evidence.requests}"
                )
            yield from _refuse_part(evidence.succeeded, evidence.requests, "succeeded")
            yield from _refuse_period(evidence.since, evidence.until)
            yield from _refuse_shares(evidence.low, evidence.base)
            yield from refuse_metrics(guide_figures(evidence), trailers)
            yield from refuse_rate(evidence.succeeded, evidence.requests, "requests", trailers)
        case _:
            yield ("the docstring gains lines other than its promotion's; take them out, or promote it again")
            return
    yield from _refuse_key(values, trailers, words)
    if trailers["Replay"] == "not-applicable":
        yield "the trailer Replay is not-applicable, but the steps can be replayed"
    for value in values:
        if isinstance(value, When):
            yield from refuse_when(value, words)
        elif isinstance(value, AdvisedCalls):
            yield from refuse_calls(value.calls, words)


def _refuse_key(values: Iterable[Line | None], trailers: Mapping[str, str], words: Words) -> Iterator[str]:
    """The key is of category and sequence; of the calls as written if their values are undeclared."""
    labels = {value.category or UNSPECIFIED for value in values if isinstance(value, When)}
    labels = labels or {UNSPECIFIED, *(rule.label for rule in words.settings.categories)}
    for value in values:
        if isinstance(value, AdvisedCalls):
            texts = (
                join_steps(step(call.name, *call.chosen()) for call in value.calls),
                str(replace(value, language="en")),
            )
            section = SECTIONS[trailers["Phase"]]
            keys = {statement_key(label, text, section) for label in labels for text in texts}
            if trailers["Candidate-Key"] not in keys:
                yield ("the Candidate-Key in its commit's trailers belongs to other calls; promote it again")


def _refuse_evidence(trailers: Mapping[str, str]) -> Iterator[str]:
    """The figures are in the trailers alone, and must agree with each other."""
    evidence = read_guide_evidence(trailers["Evidence"])
    if evidence is None:
        yield "the trailer Evidence is not that of a Guide"
        return
    succeeded, requests = evidence
    yield from refuse_counts(requests, trailers)
    yield from refuse_rate(succeeded, requests, "requests", trailers)


def _refuse_caveat(values: Sequence[Line | None], trailers: Mapping[str, str], words: Words) -> Iterator[str]:
    """The Fails line and its Evidence."""
    match values:
        case [(FailsApart() | FailsCall() | FailsSequence()) as fails, CaveatEvidence() as evidence]:
            pass
        case _:
            yield ("the docstring gains lines other than its caveat's; take them out, or promote it again")
            return
    yield from refuse_fails(fails, words)
    yield from _refuse_part(fails.counts.failed, fails.counts.of, "failed")
    if not isinstance(fails, FailsSequence) and fails.otherwise is not None:
        yield from _refuse_part(*fails.otherwise, "failed")
    yield from _refuse_period(evidence.since, evidence.until)
    yield from _refuse_shares(evidence.low)
    yield from refuse_metrics(caveat_figures(fails, evidence), trailers)
    counts = fails.counts
    yield from refuse_rate(counts.of - counts.failed, counts.of, counts.unit, trailers)


def refuse_metrics(metrics: Mapping[str, str], trailers: Mapping[str, str]) -> Iterator[str]:
    """Figures in the lines must be equal to the trailers'."""
    for name, value in metrics.items():
        if trailers[name] != value:
            yield f"the trailer {name} is {printable(trailers[name])}, but the lines say {value}"


def refuse_counts(observed: int, trailers: Mapping[str, str]) -> Iterator[str]:
    """Observed must be the sum of the Evidence, and Unique-Questions at most Observed."""
    if trailers["Observed"] != str(observed):
        yield (f"the trailer Observed is {printable(trailers['Observed'])}, but the Evidence says {observed}")
    questions = trailers["Unique-Questions"]
    if not _COUNT.fullmatch(questions) or int(questions) > observed:
        yield (
            f"the trailer Unique-Questions, {printable(questions)}, is no count up to Observed, {observed}"
        )


def refuse_rate(succeeded: int, observed: int, unit: str, trailers: Mapping[str, str]) -> Iterator[str]:
    """Success-Rate must have three decimals and agree with the counts."""
    rate = trailers["Success-Rate"]
    is_share = re.fullmatch(r"[01]\.\d{3}", rate, re.ASCII)
    if not is_share or abs(float(rate) * observed - succeeded) > 0.5 + 0.0005 * observed:
        yield f"the trailer Success-Rate does not fit {succeeded} of {observed} {unit}"


def is_day(written: str) -> bool:
    """Whether a text is a day of the calendar, as ``2026-04-25`` or ``20260425``."""
    try:
        date.fromisoformat(written)
    except ValueError:
        return False
    return True


def _refuse_part(count: int, of: int, what: str) -> Iterator[str]:
    if not 0 <= count <= of:
        yield f"the lines say that {count} of {of} {what}, which is impossible"


def _refuse_period(since: str, until: str) -> Iterator[str]:
    if not is_day(since) or not is_day(until) or since > until:
        yield f"the Evidence has an impossible period, {since} to {until}"


def _refuse_shares(*shares: str) -> Iterator[str]:
    for share in shares:
        if float(share) > 1:
            yield f"the Evidence has a share above 1, {share}"
