"""Reflection: what sources say is believed, rated and compared, and what is missing is searched for next."""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, Final

import msgspec

from coreloop.answer.models.contracts import ReflectionResponse, ReportedFinding
from coreloop.answer.models.ladder import Ladder
from coreloop.answer.research import findings as tags
from coreloop.answer.research import next_queries
from coreloop.answer.research import research_state as names
from coreloop.answer.research.asking import Memory, ask_or_do_without, material_of, notes_of, view
from coreloop.answer.research.verify import REJECTED, Grounds, source_number, supporting, without_citations
from coreloop.answer.search.extract.file_date import last_day
from coreloop.answer.text.rank import rank
from coreloop.runs import events
from coreloop.runs.active_run import Run
from coreloop.runs.events import FindingRecorded, Noted, Reported
from coreloop.runs.state import State

# The type of an event, and its fields without the time.
Change = tuple[Callable[..., Reported], dict[str, Any]]
# Of a finding with none, one, two, and three or more independent origins.
_CONFIDENCE: Final = (0.0, 0.6, 0.8, 0.95)
_COMPARED: Final = 60  # the newest findings, which are compared with each other
_MOST_HYPOTHESES: Final = 100


def noted(name: str, value: Any) -> Change:
    """Return the event of a research with a value."""
    return Noted, {"name": name, "data": msgspec.to_builtins(value)}


def add_findings(knowledge: names.Knowledge, new: Iterable[tags.Finding]) -> Iterator[Change]:
    """Add findings to those of ``knowledge``, which is changed, and mark those that contradict each other.

    A finding of the same text gets the sources of both; its confidence and tag follow from their origins.
    """
    knowledge.findings = [*knowledge.findings]
    for finding in new:
        known = next((other for other in knowledge.findings if other.text == finding.text), None)
        whole = _rated(_merged(known, finding) if known else finding, knowledge)
        if whole == known:
            continue
        names.put_finding(knowledge.findings, whole)
        yield noted(names.FOUND, whole)
        for number in finding.sources:
            read = knowledge.source(number)
            fields = {"text": whole.text, "source": read.source.location if read else "", "is_checked": True}
            parts = whole.answers or ("",)
            yield from ((FindingRecorded, {**fields, "sub_question": part}) for part in parts)
    yield from _compared(knowledge)


def weigh(
    knowledge: names.Knowledge,
    statements: Iterable[str],
    evidence: Iterable[tuple[str, str | None, tags.Stance | None]],
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
        finding = findings.get(text)
        if finding and stance:
            reads = knowledge.sources_of(finding.sources)
            located = ", ".join(dict.fromkeys(read.source.location for read in reads))
            sure = finding.confidence
            weight = tags.Weight(source=located, summary=text, confidence=sure, iteration=iteration)
            hypotheses = [
                tags.with_evidence(one, weight, stance) if one.id == about else one for one in hypotheses
            ]
    if hypotheses:
        yield noted(names.TESTED, tags.ranked(hypotheses, iteration=iteration))


def with_new(
    known: Iterable[tags.Hypothesis], statements: Iterable[str], *, iteration: int
) -> list[tags.Hypothesis]:
    """Return the known hypotheses and new ones, each statement once."""
    hypotheses = [*known]
    for statement in statements:
        if len(hypotheses) < _MOST_HYPOTHESES and all(one.statement != statement for one in hypotheses):
            new_id = f"h{len(hypotheses) + 1}"
            new = tags.Hypothesis(id=new_id, statement=statement, last_updated_iteration=iteration)
            hypotheses.append(new)
    return hypotheses


def tag_of(evidence: Sequence[names.ReadSource], *, is_contradicted: bool = False) -> str:
    """Return the first tag that applies."""
    if is_contradicted:
        return tags.CONTRADICTED
    if len({item.origin for item in evidence}) > 1:
        return tags.VERIFIED
    # who reports first, or what peers have reviewed
    if any(item.type in {"paper", "filing"} for item in evidence):
        return tags.HIGH
    return tags.LIKELY if evidence else tags.UNCERTAIN


def _merged(known: tags.Finding, new: tags.Finding) -> tags.Finding:
    return replace(
        known,
        sources=tuple(dict.fromkeys(known.sources + new.sources)),
        answers=tuple(dict.fromkeys(known.answers + new.answers)),
    )


def _rated(
    finding: tags.Finding, knowledge: names.Knowledge, *, is_contradicted: bool = False
) -> tags.Finding:
    """Return a finding with the confidence and the tag that its sources give it."""
    evidence = knowledge.sources_of(finding.sources)
    n_origins = len({item.origin for item in evidence})
    tag = tag_of(evidence, is_contradicted=is_contradicted or finding.tag == tags.CONTRADICTED)
    return replace(finding, confidence=_CONFIDENCE[min(n_origins, len(_CONFIDENCE) - 1)], tag=tag)


def _compared(knowledge: names.Knowledge) -> Iterator[Change]:
    recent = [finding for finding in knowledge.findings if finding.confidence][-_COMPARED:]
    pairs = tags.contradictions([_sourced(finding, knowledge) for finding in recent])
    if pairs == knowledge.contradictions_found:
        return
    yield noted(names.CONTRADICTED, pairs)
    texts = frozenset[str]().union(*(pair.texts for pair in pairs))
    for finding in recent:
        if finding.text in texts:
            marked = _rated(finding, knowledge, is_contradicted=True)
            names.put_finding(knowledge.findings, marked)
            yield noted(names.FOUND, marked)


def _sourced(finding: tags.Finding, knowledge: names.Knowledge) -> tags.SourcedText:
    dates = [read.source.published for read in knowledge.sources_of(finding.sources) if read.source.published]
    return tags.SourcedText(finding.text, finding.sources, max(dates, key=last_day, default=None))


_INVENTS: Final = re.compile(r"\b(?:invent|improve|innovat|redesign)|발명|개선|혁신", re.IGNORECASE)
SURE_OVER: Final = 0.8  # as the specification has it: above it a belief counts as sure
_OVERLOAD_SOURCES: Final = 30  # chosen: as many as the specification keeps findings
# What a second reply adds to the first.
_ADDED: Final = ("new_queries", "hypotheses", "uncertainties", "missing")
_THOUGHTS: Final = ("direct", "roles", "outsider", "thesis", "antithesis", "synthesis", "paths")


def reflect(run: Run, ladder: Ladder, rejected: frozenset[str]) -> None:
    """Ask what the new sources say, keep what they do say, and plan the next iteration.

    Parameters
    ----------
    run : Run
        After the searches of an iteration.
    ladder : Ladder
        Asked once; twice in a ``deep`` or exhaustive run.
    rejected : frozenset of str
        What is no finding.

    Raises
    ------
    ModelError
        No model gave a usable reply.
    BudgetError
        A call could pass a limit.
    """
    memory = view(run)
    reply = _ask(run, ladder, "reflect", memory, rejected)
    _record(run, _believed(run.state, reply.findings, rejected))
    if run.state.mode == "exhaust" or names.knowledge_of(run.state).tier == "deep":
        reply = _challenged(run, ladder, reply, memory, rejected)
    _record(run, _weighed(run.state, reply))
    _look_ahead(run, reply, ladder)


def tool_for(state: State, knowledge: names.Knowledge) -> str:
    """Return the tool of thought that fits the situation, the most pressing first."""
    if next_queries.is_stuck(state, knowledge):
        return "first principles"
    if knowledge.contradictions_found:
        return "Bayes"
    if max(state.confidence, *(one.confidence for one in knowledge.focus), 0.0) > SURE_OVER:
        return "falsification"
    if len(knowledge.sources) > _OVERLOAD_SOURCES:
        return "Occam's razor"
    return "TRIZ" if _INVENTS.search(state.question) else "SCAMPER"


def _ask(
    run: Run, ladder: Ladder, prompt: str, memory: Memory, rejected: frozenset[str], *notes: str
) -> ReflectionResponse:
    material = material_of(run.state, memory, [*notes_of(names.knowledge_of(run.state), memory), *notes])
    without = partial(next_queries.reflect_offline, may_mark=Grounds("", (), rejected).may_mark)
    return ask_or_do_without(run, ladder, prompt, material, ReflectionResponse, without)


def _record(run: Run, changes: Iterable[Change]) -> None:
    for event_type, fields in changes:
        run.record(event_type, **fields)


def _believed(
    state: State, reported: Sequence[ReportedFinding], rejected: frozenset[str]
) -> Iterable[Change]:
    """Yield the findings that their sources support, and which others were dropped."""
    knowledge = names.knowledge_of(state)
    grounds, found = Grounds("", knowledge.sources, rejected), list[tags.Finding]()
    for one in reported:
        claim = without_citations(one.text)
        numbers = [number for name in one.sources if (number := source_number(name)) is not None]
        sources, reason = supporting(claim, numbers, grounds)
        if sources:
            found.append(_finding(claim, tuple(sources), one, state, knowledge))
        else:
            yield noted(names.DROPPED, names.Dropped(claim, reason))
    yield from add_findings(replace(knowledge), found)


def _finding(
    claim: str, sources: tuple[int, ...], reported: ReportedFinding, state: State, knowledge: names.Knowledge
) -> tags.Finding:
    """Build a finding; one from a search for counter-evidence answers that sub-question, too."""
    ids = {name: part.id for part in state.sub_questions for name in (part.text, part.id)}
    against = {query.query for query in knowledge.plan_queries if query.intent == names.COUNTER_EVIDENCE}
    if not any(read.query in against for read in knowledge.sources_of(sources)):
        ids.pop(names.AGAINST, None)
    return tags.Finding(
        text=claim,
        sources=sources,
        iteration=state.iteration + 1,
        answers=tuple(dict.fromkeys(ids[name] for name in (*reported.answers, names.AGAINST) if name in ids)),
    )


def _challenged(
    run: Run, ladder: Ladder, reply: ReflectionResponse, memory: Memory, rejected: frozenset[str]
) -> ReflectionResponse:
    """Ask the second time, keep its perspectives, dialectic and paths, and add what comes of it."""
    tool = f"tool: {tool_for(run.state, names.knowledge_of(run.state))}"
    more = _ask(run, ladder, "challenge", memory, rejected, tool)
    fields = msgspec.to_builtins(more)
    thought = {name: fields[name] for name in _THOUGHTS if fields.get(name)}
    if thought:
        run.record(events.Noted, name=names.THOUGHT, data={"iteration": run.state.iteration + 1, **thought})
    both = {name: getattr(reply, name) + getattr(more, name) for name in _ADDED}
    return msgspec.structs.replace(reply, **both)


def _weighed(state: State, reply: ReflectionResponse) -> Iterable[Change]:
    statements = [one.statement for one in reply.hypotheses if one.id is None]
    evidence = ((without_citations(one.text), one.hypothesis_id, one.stance) for one in reply.findings)
    return weigh(names.knowledge_of(state), statements, evidence, iteration=state.iteration + 1)


def _look_ahead(run: Run, reply: ReflectionResponse, ladder: Ladder) -> None:
    """Record what is missing and what comes next; a model's opinion counts only with findings."""
    is_exhaustive, upcoming = run.state.mode == "exhaust", run.state.iteration + 2
    queries = next_queries.new_queries(reply.new_queries, iteration=upcoming)
    if is_exhaustive:
        queries = _widened(run.state, queries, upcoming)
    data = {
        "model": ladder.name,
        "gaps": list(reply.gaps),
        "uncertainties": [f"{one.text} (needs {one.needs})" for one in reply.uncertainties[:3]],
        "missing": list(reply.missing[:3]),
    }
    run.record(events.Noted, name=names.REFLECTED, data=data)
    run.record(events.Noted, name=names.PLANNED, data={"queries": msgspec.to_builtins(queries)})
    run.record(
        events.Reflected,
        sufficient=reply.sufficient and not is_exhaustive and _has_kept_findings(run.state),
        confidence=_confidence(run.state),
        next_actions=tuple(query.query for query in queries),
        is_exhausted=not (ladder.models or _has_news(run.state)),
    )


def _has_news(state: State) -> bool:
    """Whether an iteration found a sentence, or a passage among the nearest; unknown if a search failed."""
    known, number = names.knowledge_of(state), state.iteration + 1
    texts = [read.source for read in known.sources]
    ranked = (rank(part.text, texts)[: next_queries.MAX_LEADS] for part in state.sub_questions)
    nearest = (known.sources[hit.number - 1] for hits in ranked for hit in hits if hit.end)
    seen_in = [one.iteration for group in (known.failed_queries, known.findings, nearest) for one in group]
    return number in seen_in


def _has_kept_findings(state: State) -> bool:
    """Whether there are findings, and none was dropped as rejected: what is left may not suffice."""
    known = names.knowledge_of(state)
    return bool(known.findings) and all(claim.reason != REJECTED for claim in known.dropped)


def _confidence(state: State) -> float:
    """Return the mean confidence of the best finding of each part of the question, 0 for one without."""
    findings = names.knowledge_of(state).findings
    best = [
        max((one.confidence for one in findings if part.id in (one.answers or [part.id])), default=0.0)
        for part in state.sub_questions
        if part.text != names.AGAINST
    ]
    return round(sum(best) / len(best), 2) if best else 0.0


def _widened(state: State, queries: Sequence[names.PlanQuery], iteration: int) -> list[names.PlanQuery]:
    """Widen and narrow the queries of a model."""
    searched = [search.query for search in state.search_history]
    parts = [part.text for part in state.sub_questions if part.text != names.AGAINST]
    wider = next_queries.diverge([query.query for query in queries] or parts, searched, iteration=iteration)
    return next_queries.converge([*queries, *wider], searched)
