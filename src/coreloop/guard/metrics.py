"""Whether the trailers' figures agree with each other and with the lines."""

import re
from collections.abc import Iterator, Mapping
from datetime import date
from typing import Final

from coreloop.base.messages import Phrase
from coreloop.base.text import printable
from coreloop.learn.proposals.sequence_lines import CaveatEvidence, Fails, FailsSequence, GuideEvidence

_COUNT: Final = re.compile(r"[0-9]{1,10}")


def refuse_metrics(metrics: Mapping[str, str], trailers: Mapping[str, str]) -> Iterator[str]:
    """Figures in the lines must be equal to the trailers'."""
    for name, value in metrics.items():
        if trailers[name] != value:
            yield Phrase(
                "the trailer {name} is {written}, but the lines say {value}",
                name=name,
                written=printable(trailers[name]),
                value=value,
            )


def refuse_counts(observed: int, trailers: Mapping[str, str]) -> Iterator[str]:
    """Observed must be the sum of the Evidence, and Unique-Questions at most Observed."""
    if trailers["Observed"] != str(observed):
        yield Phrase(
            "the trailer Observed is {written}, but the Evidence says {observed}",
            written=printable(trailers["Observed"]),
            observed=observed,
        )
    questions = trailers["Unique-Questions"]
    if not _COUNT.fullmatch(questions) or int(questions) > observed:
        yield Phrase(
            "the trailer Unique-Questions, {questions}, is no count up to Observed, {observed}",
            questions=printable(questions),
            observed=observed,
        )


def refuse_rate(succeeded: int, observed: int, unit: str, trailers: Mapping[str, str]) -> Iterator[str]:
    """Success-Rate must have three decimals and agree with the counts."""
    rate = trailers["Success-Rate"]
    is_share = re.fullmatch(r"[01]\.\d{3}", rate, re.ASCII)
    if not is_share or abs(float(rate) * observed - succeeded) > 0.5 + 0.0005 * observed:
        yield Phrase(
            "the trailer Success-Rate does not fit {succeeded} of {observed} {unit}",
            succeeded=succeeded,
            observed=observed,
            unit=Phrase(unit),
        )


def refuse_guide(evidence: GuideEvidence) -> Iterator[str]:
    """A Guide's Evidence line must be possible: counts, days and shares."""
    if not evidence.questions <= evidence.requests:
        yield Phrase(
            "the Evidence has more distinct questions, {questions}, than requests, {requests}",
            questions=evidence.questions,
            requests=evidence.requests,
        )
    yield from _refuse_part(evidence.succeeded, evidence.requests, "succeeded")
    yield from _refuse_period(evidence.since, evidence.until)
    yield from _refuse_shares(evidence.low, evidence.base)


def refuse_caveat(fails: Fails, evidence: CaveatEvidence) -> Iterator[str]:
    """The figures of a caveat's lines must be possible: counts, days and shares."""
    yield from _refuse_part(fails.counts.failed, fails.counts.of, "failed")
    if not isinstance(fails, FailsSequence) and fails.otherwise is not None:
        yield from _refuse_part(*fails.otherwise, "failed")
    yield from _refuse_period(evidence.since, evidence.until)
    yield from _refuse_shares(evidence.low)


def is_day(written: str) -> bool:
    """Whether a text is a day of the calendar, as ``2026-04-25`` or ``20260425``."""
    try:
        date.fromisoformat(written)
    except ValueError:
        return False
    return True


def _refuse_part(count: int, of: int, what: str) -> Iterator[str]:
    if not 0 <= count <= of:
        yield Phrase(
            "the lines say that {count} of {of} {what}, which is impossible",
            count=count,
            of=of,
            what=Phrase(what),
        )


def _refuse_period(since: str, until: str) -> Iterator[str]:
    if not is_day(since) or not is_day(until) or since > until:
        yield Phrase("the Evidence has an impossible period, {since} to {until}", since=since, until=until)


def _refuse_shares(*shares: str) -> Iterator[str]:
    for share in shares:
        if float(share) > 1:
            yield Phrase("the Evidence has a share above 1, {share}", share=share)
