"""What follows from what sources say: findings are merged, rated and compared, and hypotheses weighed."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Any, Final

import msgspec

from coreloop.answer.research import findings as tags
from coreloop.answer.research.contradictions import contradictions
from coreloop.answer.research.findings import Finding, SourcedText
from coreloop.answer.research.hypotheses import Hypothesis, Stance, Weight, ranked, with_evidence
from coreloop.answer.research.research_state import (
    CONTRADICTED,
    FOUND,
    TESTED,
    Knowledge,
    ReadSource,
    put_finding,
)
from coreloop.runs.events import FindingRecorded, Noted, Reported

Change = tuple[Callable[..., Reported], dict[str, Any]]
"""The type of an event, and its fields without the time."""
_VERIFIED_AT: Final = 0.8  # two independent origins, see `_CONFIDENCE`
_CONFIDENCE: Final = (0.0, 0.6, 0.8, 0.95)
"""Of a finding with none, one, two, and three or more independent origins."""
_PRIMARY: Final = frozenset({"paper", "filing"})
"""Types of sources that report first, or that peers have reviewed."""
_COMPARED: Final = 60
"""The newest findings, which are compared with each other."""
_MAX_HYPOTHESES: Final = 100


def noted(name: str, value: Any) -> Change:
    """Return the event of a research with a value."""
    return Noted, {"name": name, "data": msgspec.to_builtins(value)}


def add_findings(knowledge: Knowledge, new: Iterable[Finding]) -> Iterator[Change]:
    """Add findings to those of ``knowledge``, which is changed, and mark those that contradict each other.

    A finding of the same text gets the sources of both; its confidence and tag follow from their origins.
    """
    knowledge.findings = [*knowledge.findings]
    for finding in new:
        known = next((other for other in knowledge.findings if other.text == finding.text), None)
        whole = _rated(_merged(known, finding) if known else finding, knowledge)
        if whole == known:
            continue
        put_finding(knowledge.findings, whole)
        yield noted(FOUND, whole)
        for number in finding.sources:
            read = knowledge.source(number)
            fields = {"text": whole.text, "source": read.source.location if read else "", "is_checked": True}
            yield from (
                (FindingRecorded, {**fields, "sub_question": part}) for part in whole.answers or ("",)
            )
    yield from _compared(knowledge)


def weigh(
    knowledge: Knowledge,
    statements: Iterable[str],
    evidence: Iterable[tuple[str, str | None, Stance | None]],
    *,
    iteration: int,
) -> Iterator[Change]:
    """Add new hypotheses, count findings about known ones, and rank them.

    Parameters
    ----------
    knowledge : Knowledge
        With the findings of the iteration.
    statements : iterable of str
        New hypotheses.
    evidence : iterable of (str, str or None, str or None)
        Texts of findings, the hypotheses that they are about, and their stance.
    iteration : int
        The current one.
    """
    hypotheses = with_new(knowledge.all_hypotheses, statements, iteration=iteration)
    findings = {finding.text: finding for finding in knowledge.findings if finding.sources}
    for text, about, stance in evidence:
        if text in findings and stance:
            weight = _weight(findings[text], knowledge, iteration=iteration)
            hypotheses = [
                with_evidence(one, weight, stance) if one.id == about else one for one in hypotheses
            ]
    if hypotheses:
        yield noted(TESTED, ranked(hypotheses, iteration=iteration))


def with_new(known: Iterable[Hypothesis], statements: Iterable[str], *, iteration: int) -> list[Hypothesis]:
    """Return the known hypotheses and new ones, each statement once."""
    hypotheses = [*known]
    for statement in statements:
        if len(hypotheses) < _MAX_HYPOTHESES and all(one.statement != statement for one in hypotheses):
            number = f"h{len(hypotheses) + 1}"
            hypotheses.append(Hypothesis(id=number, statement=statement, last_updated_iteration=iteration))
    return hypotheses


def confidence_of(evidence: Iterable[ReadSource]) -> float:
    """Return how sure a finding is: 0.6, 0.8 and 0.95 for one, two and more independent origins."""
    origins = {item.origin for item in evidence}
    return _CONFIDENCE[min(len(origins), len(_CONFIDENCE) - 1)]


def tag_of(evidence: Sequence[ReadSource], *, is_contradicted: bool = False) -> str:
    """Return the first tag that applies."""
    if is_contradicted:
        return tags.CONTRADICTED
    if confidence_of(evidence) >= _VERIFIED_AT:
        return tags.VERIFIED
    if any(item.type in _PRIMARY for item in evidence):
        return tags.HIGH
    return tags.LIKELY if evidence else tags.UNCERTAIN


def _merged(known: Finding, new: Finding) -> Finding:
    return replace(
        known,
        sources=tuple(dict.fromkeys(known.sources + new.sources)),
        answers=tuple(dict.fromkeys(known.answers + new.answers)),
    )


def _rated(finding: Finding, knowledge: Knowledge, *, is_contradicted: bool = False) -> Finding:
    """Return a finding with the confidence and the tag that its sources give it."""
    evidence = knowledge.sources_of(finding.sources)
    is_contradicted |= finding.tag == tags.CONTRADICTED
    tag = tag_of(evidence, is_contradicted=is_contradicted)
    return replace(finding, confidence=confidence_of(evidence), tag=tag)


def _compared(knowledge: Knowledge) -> Iterator[Change]:
    recent = [finding for finding in knowledge.findings if finding.confidence][-_COMPARED:]
    pairs = contradictions([_sourced(finding, knowledge) for finding in recent])
    if pairs == knowledge.contradictions_found:
        return
    yield noted(CONTRADICTED, pairs)
    texts = frozenset[str]().union(*(pair.texts for pair in pairs))
    for finding in recent:
        if finding.text in texts:
            marked = _rated(finding, knowledge, is_contradicted=True)
            put_finding(knowledge.findings, marked)
            yield noted(FOUND, marked)


def _sourced(finding: Finding, knowledge: Knowledge) -> SourcedText:
    dates = [read.source.published for read in knowledge.sources_of(finding.sources) if read.source.published]
    return SourcedText(finding.text, finding.sources, max(dates, default=None))


def _weight(finding: Finding, knowledge: Knowledge, *, iteration: int) -> Weight:
    """Return a finding as a piece of evidence for or against a hypothesis."""
    located = ", ".join(dict.fromkeys(read.source.location for read in knowledge.sources_of(finding.sources)))
    return Weight(source=located, summary=finding.text, confidence=finding.confidence, iteration=iteration)
