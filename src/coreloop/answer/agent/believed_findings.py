"""Which findings of an agent are believed: those whose quote stands in a source that coreloop read itself."""

import re
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
from coreloop.answer.agent.quotes import check_quote, holds
from coreloop.answer.models.dates import dates_agree, split_dates
from coreloop.answer.models.opposites import in_one_word
from coreloop.answer.models.question_parts import is_korean, search_words
from coreloop.answer.models.ranking import word_letters
from coreloop.answer.research.apply_reflection import sourced_text, weight_of
from coreloop.answer.research.contradictions import contradictions
from coreloop.answer.research.findings import CONTRADICTED as TAG_CONTRADICTED
from coreloop.answer.research.findings import UNCERTAIN, Finding, Unsupported, merged, rated
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
from coreloop.base.language.words import stems
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
_ASKED_NOUN: Final = re.compile(
    r"([가-힣]{2,20}?)(?:[은는이가]\s?(?=얼마|누구|몇|무엇|언제|어디|뭐)|[은는]\s?(?=\?|$))"
)
"""Of Korean questions; English asks with another form of the word: length, long."""
_ANY_ANSWER: Final = frozenset({"규모", "금액", "계획", "기한", "현황", "내용", "결과", "이유", "방법"})
"""Nouns that an answer need not have: 상장 계획은? is answered by 상장을 검토하고 있다."""
_SUPERSEDED: Final = re.compile(
    r"폐지[됨되된]|대체(?:됨|되었|된)|더 이상 유효하지"
    r"|\b(?:superseded by|no longer (?:valid|in force)|obsolete)\b",
    re.IGNORECASE,
)
_HEAD_CHARS: Final = 300
"""Of a source, in which it says that it no longer holds."""
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
    tell = in_language_of(state.question)
    quote, text = " ".join((learnt.quote or learnt.text).split()), " ".join(learnt.text.split())
    quoting, doubts = _quoting(learnt, place, quote, knowledge, tell)
    if quoting and is_korean(text) != is_korean(quote):
        text = quote  # words of two languages cannot be compared: the quote itself is the finding
    sources = [_text(knowledge, number) for number in quoting]
    support = check_quote(text, quote, sources) if quoting else None
    if isinstance(support, Unsupported):
        reason = tell("the quote does not say it: {reason}", reason=support.reason)
        quoting, doubts = [], [*doubts, reason]
    heading = " ".join(map(_heading, sources))
    old = [number for number in quoting if _SUPERSEDED.search(_text(knowledge, number)[:_HEAD_CHARS])]
    doubts += [
        tell(
            "source {number} says itself that it was replaced, so it answers nothing; read the newer one",
            number=number,
        )
        for number in old
    ]
    asked = parts if len(old) < len(quoting) else ()
    answers = [part for part in asked if is_about(texts[part], f"{quote} {text}", heading)]
    doubts += [
        tell("its quote shares too few words with {part} to answer it", part=part)
        for part in asked
        if part not in answers
    ]
    finding = Finding(
        text=text,
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
        number = _number(name)
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


def _number(name: str) -> int | None:
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


def is_about(question: str, text: str, heading: str = "") -> bool:
    """Whether a text has enough of a question's words to answer it, what it asks for, and its time.

    The heading above it lends its words to a text that has the noun that is asked for.
    """
    question, text = in_one_word(question), in_one_word(text)
    asked = word_letters(stems(" ".join(search_words(question))))
    head = word_letters(stems(_asked_noun(question)))
    own = word_letters(stems(text))
    around = own | (word_letters(stems(heading)) if head & own else frozenset())
    if not asked or len(asked & around) < ABOUT_FROM * len(asked):
        return False
    if head and not head & (own | word_letters(stems(heading))):
        return False
    times, said = split_dates(question)[0], split_dates(text)[0] or split_dates(heading)[0]
    return not times or not said or any(dates_agree(one, other) for one in times for other in said)


def _asked_noun(question: str) -> str:
    """The noun that is asked for: 매출 of 3분기 매출은 얼마인가?"""
    match = _ASKED_NOUN.search(question)
    return match[1] if match and match[1] not in _ANY_ANSWER else ""


def _heading(text: str) -> str:
    return next((line.lstrip("# ") for line in text[:500].splitlines() if line.strip()), "")


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
