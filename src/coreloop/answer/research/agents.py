"""What is known in the run of an agent that drives itself: the findings and hypotheses of its reports."""

from dataclasses import dataclass
from typing import Any, Final

from coreloop.answer.research.findings import Evidence, confidence_of, tag_of
from coreloop.answer.research.hypotheses import Hypothesis, ranked, with_evidence
from coreloop.answer.research.memory import SEMANTIC_FINDINGS
from coreloop.answer.research.origins import site_of
from coreloop.runs.agent.report import HYPOTHESIS, LEARNT

_MAX_HYPOTHESES: Final = 100


@dataclass(frozen=True, slots=True)
class AgentFinding:
    """A finding of a report; its sources are addresses, which coreloop has not read."""

    text: str
    sources: tuple[str, ...]
    confidence: float
    tag: str
    hypothesis_id: str | None
    iteration: int


def initial() -> dict[str, Any]:
    """Make the keys of a new run's ``state.json``."""
    return {"hypotheses": [], "findings": []}


def fold(extra: dict[str, Any], name: str, data: Any) -> None:
    """Add what an agent reported; a hypothesis of unknown id gets no evidence."""
    if name == HYPOTHESIS:
        extra["hypotheses"] = _with_statement(extra["hypotheses"], data["statement"], data["iteration"])
    elif name == LEARNT:
        known = [one for one in extra["findings"] if one.text != data["text"]]
        extra["findings"] = [*known, _finding(data)][-SEMANTIC_FINDINGS:]
        extra["hypotheses"] = _tested(extra["hypotheses"], data)


def _with_statement(known: list[Hypothesis], statement: str, iteration: int) -> list[Hypothesis]:
    if len(known) >= _MAX_HYPOTHESES or any(one.statement == statement for one in known):
        return known
    new = Hypothesis(id=f"h{len(known) + 1}", statement=statement, last_updated_iteration=iteration)
    return ranked([*known, new], iteration=iteration)


def _finding(data: Any) -> AgentFinding:
    sources = tuple(dict.fromkeys(source.strip() for source in data["sources"] if source.strip()))
    evidence = [
        Evidence(number=number, origin=site_of(source), type="web")
        for number, source in enumerate(sources, 1)
    ]
    return AgentFinding(
        data["text"],
        sources,
        confidence_of(evidence),
        tag_of(evidence),
        data.get("hypothesis"),
        data["iteration"],
    )


def _tested(known: list[Hypothesis], data: Any) -> list[Hypothesis]:
    number = data["iteration"]
    tested = [
        with_evidence(one, data["text"], data.get("stance", "neutral"), iteration=number)
        if one.id == data.get("hypothesis")
        else one
        for one in known
    ]
    return ranked(tested, iteration=number)
