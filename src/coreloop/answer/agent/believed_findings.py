"""Which findings of an agent are believed: those whose quote stands in a source that coreloop read itself."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Final

import msgspec

from coreloop.answer.agent.agent_state import (
    UNBELIEVED,
    Unbelieved,
    checked_evidence,
    trust_in,
)
from coreloop.answer.agent.plan import labels_to_leave, order_of
from coreloop.answer.research.apply_reflection import sourced_text, weight_of
from coreloop.answer.research.contradictions import contradictions
from coreloop.answer.research.findings import CONTRADICTED as TAG_CONTRADICTED
from coreloop.answer.research.findings import UNCERTAIN, Finding, merged, rated
from coreloop.answer.research.hypotheses import Hypothesis, ranked, with_evidence
from coreloop.answer.research.research_state import (
    CONTRADICTED,
    DROPPED,
    FOUND,
    REFLECTED,
    TESTED,
    THOUGHT,
    Dropped,
    Knowledge,
    ReadSource,
    knowledge_of,
)
from coreloop.answer.text.claims import holds
from coreloop.answer.text.sentences import split_sentences
from coreloop.answer.text.terms import term_set
from coreloop.base.messages import in_language_of
from coreloop.runs import events as happened
from coreloop.runs.agent.agent_report import AgentReport, Learnt, answered_parts
from coreloop.runs.agent.json_input import wrong_field
from coreloop.runs.drift import Turn
from coreloop.runs.events import Reported, Turned
from coreloop.runs.state import State

ABOUT_FROM: Final = 0.3
"""Share of a sub-question's letters that an answer has: 89 % of 500 answering sentences of KorQuAD, 24 % of
other sentences of the same paragraph, 1 % of sentences about something else."""
_MOST_SENTENCES: Final = 6
"""Of a quote; a longer one stays as it is."""
_COMPARED: Final = 60
"""The newest findings, which are compared with each other."""
_MAX_HYPOTHESES: Final = 100


@dataclass(frozen=True, slots=True)
class Judged:
    """A finding, still to be rated; ``doubts`` say what of the report is not believed."""

    finding: Finding
    stance: str
    doubts: tuple[str, ...]
    places: tuple[str, ...]


def believe(
    state: State,
    report: AgentReport,
    ids: Mapping[str, str],
    at: datetime,
    *,
    sources: Sequence[ReadSource],
) -> Iterator[Reported]:
    """Check the findings of a report against the stored sources, and yield what follows from them.

    Parameters
    ----------
    state : State
        Of the run before the report.
    report : AgentReport
        Untrusted.
    ids : mapping of str to str
        Ids of sub-questions by id and by text.
    at : datetime
        Of the events.
    sources : sequence of ReadSource
        Of the run, with their whole texts.

    Raises
    ------
    UsageError
        The report names a source, a sub-question or a hypothesis that the run does not have, has no search,
        or follows a strategy that the run must leave.
    """
    if state.drives_itself:
        require_search(report)
        require_strategy(state, report)
    knowledge = replace(knowledge_of(state), sources=list(sources))
    texts = {part: text for text, part in ids.items() if text != part}
    _require_hypotheses(report, _with_new(report, knowledge, state.iteration + 1))
    judged = [
        _judged(learnt, place, knowledge, answered_parts(learnt, place, ids), texts, state)
        for place, learnt in enumerate(report.findings)
    ]
    findings = list(knowledge.findings)
    for one in judged:
        yield from _recorded(one, findings, knowledge, at)
    yield from _contradictions(knowledge, findings, at)
    yield from _hypotheses(report, judged, findings, knowledge, state.iteration + 1, at)
    yield from _thoughts(report, state.iteration + 1, at)


def require_search(report: AgentReport) -> None:
    """Refuse an iteration of a run that drives itself without any search.

    Raises
    ------
    UsageError
        It has none.
    """
    if not report.queries:
        raise wrong_field("$.queries", "each iteration makes at least one new search; search, then record")


def require_strategy(state: State, report: AgentReport) -> None:
    """Refuse a report that does not follow the change of strategy that drift ordered.

    Raises
    ------
    UsageError
        The message names the label that is left, or the one that is missing.
    """
    order = order_of(state)
    if order is None:
        return
    labels = [_labels(action) for action in report.actions]
    old, new = labels_to_leave(order), frozenset(order.after) - frozenset(order.before)
    for place, own in enumerate(labels):
        if left := sorted(own & old):
            raise wrong_field(
                f"$.actions[{place}]", f"the strategy {left[0]} must be left; {_ordered(order, new)}"
            )
    if report.queries and labels and new and not any(own & new for own in labels):
        raise wrong_field("$.actions", f"none follows the ordered strategy; {_ordered(order, new)}")
    if not labels:
        raise wrong_field("$.actions", f"the strategy had to change; {_ordered(order, new)}")


def _labels(action: object) -> frozenset[str]:
    return frozenset(getattr(action, "strategy", ()))


def _ordered(order: Turn | Turned, new: frozenset[str]) -> str:
    labels = ", ".join(sorted(new) or order.after)
    return f"use {labels} and say so in an action's strategy"


def _judged(
    learnt: Learnt,
    place: int,
    knowledge: Knowledge,
    parts: tuple[str, ...],
    texts: Mapping[str, str],
    state: State,
) -> Judged:
    """What is believed are the sentences of the source that have the quote, never the agent's own words."""
    tell = in_language_of(state.question)
    quote = " ".join((learnt.quote or learnt.text).split())
    quoting, doubts = _quoting(learnt, place, quote, knowledge, tell)
    said = sentences_of(_text(knowledge, quoting[0]), quote) if quoting else quote
    answers = [part for part in parts if quoting and is_about(texts[part], said)]
    doubts += [
        tell("its quote shares too few words with {part} to answer it", part=part)
        for part in parts
        if quoting and part not in answers
    ]
    finding = Finding(
        text=said,
        sources=tuple(quoting),
        confidence=0.0,
        tag=UNCERTAIN,
        hypothesis_id=learnt.hypothesis,
        iteration=state.iteration + 1,
        answers=tuple(answers),
    )
    return Judged(finding, learnt.stance, tuple(doubts), learnt.places)


def _quoting(
    learnt: Learnt, place: int, quote: str, knowledge: Knowledge, tell: Callable[..., str]
) -> tuple[list[int], list[str]]:
    """Return the sources in which the quote stands, and why the others do not count."""
    numbers, doubts = _sources(learnt, place, knowledge, tell)
    quoting = [number for number in numbers if holds(_text(knowledge, number), quote)]
    doubts += [
        tell("the quote does not stand in source {number}; quote it word for word", number=number)
        for number in numbers
        if number not in quoting
    ]
    return quoting, doubts


def _sources(
    learnt: Learnt, place: int, knowledge: Knowledge, tell: Callable[..., str]
) -> tuple[list[int], list[str]]:
    """Return the sources that count, and why the others do not."""
    numbers: list[int] = []
    doubts = [] if learnt.places else [tell("it has no source")]
    for name in learnt.places:
        number = source_number(name)
        if number is None:
            doubts.append(
                tell(
                    "coreloop has not read {place}; read it with runs read, and name its number",
                    place=name[:80],
                )
            )
            continue
        read = knowledge.source(number)
        if read is None:
            raise wrong_field(f"$.findings[{place}].sources", _no_source(number, len(knowledge.sources)))
        if trust_in(read) == "given":
            doubts.append(
                tell(
                    "source {number} is a text that you gave, which coreloop could not read itself",
                    number=number,
                )
            )
        else:
            numbers.append(number)
    return numbers, doubts


def _no_source(number: int, last: int) -> str:
    there_are = f"the run has 1 to {last}" if last else "read one with runs read"
    return f"no source {number}; {there_are}"


def source_number(name: str) -> int | None:
    """Read ``3`` or ``[3]``; anything else is a place that coreloop did not read."""
    bare = name.removeprefix("[").removesuffix("]")
    return int(bare) if bare.isascii() and bare.isdecimal() and len(bare) <= 6 else None


def _require_hypotheses(report: AgentReport, known: Sequence[Hypothesis]) -> None:
    """Refuse a hypothesis that neither the run nor the report itself has."""
    ids = [one.id for one in known]
    for place, learnt in enumerate(report.findings):
        if learnt.hypothesis is not None and learnt.hypothesis not in ids:
            names = ", ".join(ids) or "none yet; add it to hypotheses"
            raise wrong_field(
                f"$.findings[{place}].hypothesis",
                f"no hypothesis {learnt.hypothesis[:80]}; the run has {names}",
            )


def _text(knowledge: Knowledge, number: int) -> str:
    read = knowledge.source(number)
    return read.source.text if read else ""


def is_about(question: str, text: str) -> bool:
    """Whether a text has enough of a question's words to answer it."""
    asked = term_set(question)
    return bool(asked) and len(asked & term_set(text)) >= ABOUT_FROM * len(asked)


def sentences_of(text: str, quote: str) -> str:
    """The whole sentences that a quote was cut from, so that no denial before it is lost."""
    sentences = split_sentences(text)
    for first, last in (
        (i, j) for n in range(1, _MOST_SENTENCES) for i, j in enumerate(range(n, len(sentences) + 1))
    ):
        if holds(whole := " ".join(sentences[first:last]), quote):
            return whole
    return quote


def _recorded(one: Judged, findings: list[Finding], knowledge: Knowledge, at: datetime) -> Iterator[Reported]:
    """Add a finding to the known ones; yields its events."""
    place = next((n for n, other in enumerate(findings) if other.text == one.finding.text), None)
    known = findings[place] if place is not None else None
    whole = merged(known, one.finding) if known else one.finding
    whole = rated(
        whole,
        checked_evidence(whole, knowledge),
        is_contradicted=known is not None and known.tag == TAG_CONTRADICTED,
    )
    if place is None:
        findings.append(whole)
    else:
        findings[place] = whole
    if whole != known:
        yield happened.Noted(at=at, name=FOUND, data=msgspec.to_builtins(whole))
    yield from _for_parts(one, knowledge, at)
    for reason in one.doubts:
        doubt = Unbelieved(
            text=one.finding.text, sources=one.places, reason=reason, iteration=one.finding.iteration
        )
        yield happened.Noted(at=at, name=UNBELIEVED, data=msgspec.to_builtins(doubt))
    if one.doubts and not one.finding.sources:
        dropped = Dropped(one.finding.text, "; ".join(one.doubts))
        yield happened.Noted(at=at, name=DROPPED, data=msgspec.to_builtins(dropped))


def _for_parts(one: Judged, knowledge: Knowledge, at: datetime) -> Iterator[Reported]:
    """A believed finding answers its sub-questions; any other is recorded as what the agent says."""
    finding = one.finding
    for number in finding.sources:
        read = knowledge.source(number)
        for part in finding.answers or ("",):
            yield happened.FindingRecorded(
                at=at,
                sub_question=part,
                text=finding.text,
                source=read.source.location if read else "",
                is_checked=True,
            )
    for place in () if finding.sources else one.places or ("",):
        yield happened.FindingRecorded(at=at, sub_question="", text=finding.text, source=place)


def _contradictions(knowledge: Knowledge, findings: list[Finding], at: datetime) -> Iterator[Reported]:
    """Compare the believed findings, and mark those that cannot both be true."""
    recent = [finding for finding in findings if finding.confidence][-_COMPARED:]
    pairs = contradictions([sourced_text(finding, knowledge) for finding in recent])
    if pairs == knowledge.contradictions_found:
        return
    yield happened.Noted(at=at, name=CONTRADICTED, data=msgspec.to_builtins(pairs))
    texts = {said.text for pair in pairs for said in (pair.a, pair.b)}
    for finding in recent:
        if finding.text in texts:
            marked = rated(finding, checked_evidence(finding, knowledge), is_contradicted=True)
            yield happened.Noted(at=at, name=FOUND, data=msgspec.to_builtins(marked))


def _hypotheses(
    report: AgentReport,
    judged: Sequence[Judged],
    findings: Sequence[Finding],
    knowledge: Knowledge,
    iteration: int,
    at: datetime,
) -> Iterator[Reported]:
    """Add new hypotheses, and count the believed findings about known ones."""
    hypotheses = _with_new(report, knowledge, iteration)
    rated_by_text = {finding.text: finding for finding in findings}
    for one in judged:
        if one.finding.sources and one.stance != "neutral":
            weight = weight_of(rated_by_text[one.finding.text], knowledge, iteration=iteration)
            hypotheses = [
                with_evidence(hypothesis, weight, one.stance)  # type: ignore[arg-type]
                if hypothesis.id == one.finding.hypothesis_id
                else hypothesis
                for hypothesis in hypotheses
            ]
    if hypotheses:
        data = msgspec.to_builtins(ranked(hypotheses, iteration=iteration))
        yield happened.Noted(at=at, name=TESTED, data=data)


def _with_new(report: AgentReport, knowledge: Knowledge, iteration: int) -> list[Hypothesis]:
    """Return the known hypotheses, and those that a report adds."""
    hypotheses = [*knowledge.all_hypotheses]
    for statement in dict.fromkeys(report.hypotheses):
        if len(hypotheses) < _MAX_HYPOTHESES and all(one.statement != statement for one in hypotheses):
            new = Hypothesis(
                id=f"h{len(hypotheses) + 1}", statement=statement, last_updated_iteration=iteration
            )
            hypotheses.append(new)
    return hypotheses


def _thoughts(report: AgentReport, iteration: int, at: datetime) -> Iterator[Reported]:
    said = {name: value for name, value in msgspec.to_builtins(report.reflection).items() if value}
    if said:
        yield happened.Noted(at=at, name=THOUGHT, data={"iteration": iteration, **said})
    missing = [report.reflection.missing] if report.reflection.missing else []
    if report.uncertainties or missing:
        data = {
            "model": "",
            "gaps": [],
            "uncertainties": [f"{one.text} (needs {one.needs})" for one in report.uncertainties[:3]],
            "missing": missing,
        }
        yield happened.Noted(at=at, name=REFLECTED, data=data)
