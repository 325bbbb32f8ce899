"""What a reflection changes: findings that their sources support, contradictions, hypotheses."""

from collections.abc import Iterable, Sequence
from typing import Final

import msgspec

from coreloop.answer.models.contracts import ReflectionResponse, ReportedFinding, ReportedHypothesis
from coreloop.answer.repair.tables import Rejected
from coreloop.answer.research.asking import AGAINST
from coreloop.answer.research.contradictions import contradictions
from coreloop.answer.research.findings import CONTRADICTED as TAG_CONTRADICTED
from coreloop.answer.research.findings import Finding, SourcedText, merged, rated
from coreloop.answer.research.hypotheses import Hypothesis, Weight, ranked, with_evidence
from coreloop.answer.research.research_state import (
    CONTRADICTED,
    COUNTER_EVIDENCE,
    DROPPED,
    FOUND,
    TESTED,
    Knowledge,
    knowledge_of,
)
from coreloop.answer.research.verify import check_findings, evidence_of, without_citations
from coreloop.runs import events
from coreloop.runs.active_run import Run
from coreloop.runs.state import State

_COMPARED: Final = 60
"""The newest findings, which are compared with each other."""
_LABEL_CHARS: Final = 40
_MAX_REPORTED: Final = 20
"""Hypotheses of a reply."""


def add_findings(run: Run, reported: Iterable[ReportedFinding], rejected: Rejected) -> None:
    """Record the findings that their sources support, which others were dropped, and what contradicts.

    What a person rejected is no finding.
    """
    parts = [part for part in run.state.sub_questions if part.text != AGAINST]
    number = run.state.iteration + 1
    known = knowledge_of(run.state)
    found, dropped = check_findings(reported, known, parts, iteration=number, rejected=rejected)
    for finding in found:
        _add_finding(run, finding)
    for claim in dropped:
        run.record(events.Noted, name=DROPPED, data=msgspec.to_builtins(claim))
    _compare_findings(run)


def weigh_hypotheses(run: Run, reply: ReflectionResponse) -> None:
    """Add new hypotheses, count the findings about known ones, and rank them."""
    number, knowledge = run.state.iteration + 1, knowledge_of(run.state)
    hypotheses = [*knowledge.all_hypotheses]
    hypotheses += _new_hypotheses(reply.hypotheses, hypotheses, number)
    kept = {finding.text: finding for finding in knowledge.findings}
    for finding in reply.findings[:_COMPARED]:
        text = without_citations(finding.text)
        if text in kept and finding.stance:
            weight = weight_of(kept[text], knowledge, iteration=number)
            hypotheses = [
                with_evidence(known, weight, finding.stance) if known.id == finding.hypothesis_id else known
                for known in hypotheses
            ]
    if hypotheses:
        data = msgspec.to_builtins(ranked(hypotheses, iteration=number))
        run.record(events.Noted, name=TESTED, data=data)


def weight_of(finding: Finding, knowledge: Knowledge, *, iteration: int) -> Weight:
    """Return a finding as a piece of evidence for or against a hypothesis."""
    sources = (knowledge.source(number) for number in finding.sources)
    located = ", ".join(dict.fromkeys(read.source.location for read in sources if read))
    return Weight(source=located, summary=finding.text, confidence=finding.confidence, iteration=iteration)


def _add_finding(run: Run, finding: Finding) -> None:
    knowledge = knowledge_of(run.state)
    known = next((other for other in knowledge.findings if other.text == finding.text), None)
    if known is not None and set(finding.sources) <= set(known.sources):
        return
    whole = merged(known, finding) if known else finding
    is_contradicted = known is not None and known.tag == TAG_CONTRADICTED
    whole = rated(whole, evidence_of(whole, knowledge), is_contradicted=is_contradicted)
    run.record(events.Noted, name=FOUND, data=msgspec.to_builtins(whole))
    for read in (knowledge.source(number) for number in finding.sources):
        source = read.source.location if read else ""
        for part in _answered(run.state, whole, knowledge) or ("",):
            run.record(events.FindingRecorded, sub_question=part, text=whole.text, source=source)


def _answered(state: State, finding: Finding, knowledge: Knowledge) -> tuple[str, ...]:
    """The sub-questions that a finding answers; one from a search for counter-evidence answers that, too."""
    against = {query.query for query in knowledge.plan_queries if query.intent == COUNTER_EVIDENCE}
    sources = (knowledge.source(number) for number in finding.sources)
    is_against = any(read and read.query in against for read in sources)
    also = tuple(part.id for part in state.sub_questions if is_against and part.text == AGAINST)
    return finding.answers + also


def _compare_findings(run: Run) -> None:
    """Look for contradictions among the findings, and mark those that have one."""
    knowledge = knowledge_of(run.state)
    recent = knowledge.findings[-_COMPARED:]
    found = contradictions([sourced_text(finding, knowledge) for finding in recent])
    if found == knowledge.contradictions_found:
        return
    run.record(events.Noted, name=CONTRADICTED, data=msgspec.to_builtins(found))
    texts = {side.text for pair in found for side in (pair.a, pair.b)}
    for finding in recent:
        if finding.text in texts:
            marked = rated(finding, evidence_of(finding, knowledge), is_contradicted=True)
            run.record(events.Noted, name=FOUND, data=msgspec.to_builtins(marked))


def sourced_text(finding: Finding, knowledge: Knowledge) -> SourcedText:
    """Return a finding with the newest date of its sources."""
    sources = (knowledge.source(number) for number in finding.sources)
    dates = [read.source.published for read in sources if read and read.source.published]
    return SourcedText(finding.text, finding.sources, max(dates, default=None))


def _new_hypotheses(
    reported: Sequence[ReportedHypothesis], known: Sequence[Hypothesis], number: int
) -> list[Hypothesis]:
    statements = {hypothesis.statement for hypothesis in known}
    new: dict[str, Hypothesis] = {}
    for proposed in reported[:_MAX_REPORTED]:
        if proposed.id is None and proposed.statement not in statements and proposed.statement not in new:
            new[proposed.statement] = Hypothesis(
                id=f"h{len(known) + len(new) + 1}",
                statement=proposed.statement,
                last_updated_iteration=number,
                layer=proposed.layer[:_LABEL_CHARS],
            )
    return list(new.values())
