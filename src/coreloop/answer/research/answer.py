"""The answer to a question, whole or partial, as callers get it, and the report of a research in Markdown."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any, Final, Literal

import msgspec

from coreloop.answer.research import research_state as names
from coreloop.answer.research.asking import WORKING_ITERATIONS, remember
from coreloop.answer.research.findings import Contradiction, Finding, SourcedText, citation_marks
from coreloop.answer.research.verify import NO_EVIDENCE
from coreloop.base.messages import in_language_of, number_of
from coreloop.base.text import escape_markdown
from coreloop.base.validation import fields_of
from coreloop.runs.folder import as_json
from coreloop.runs.kinds import Kind, register_kind
from coreloop.runs.state import State

End = Literal["answered", "nothing_said_so", "search_down", "model_unusable"]
EXIT_CODES: Final = {"answered": 0, "nothing_said_so": 1, "search_down": 4, "model_unusable": 5}
HTTP_STATUS: Final = {"search_down": 503, "model_unusable": 502}
_LINES: Final = {
    "nothing_said_so": "nothing said so; {reason}",
    "search_down": "the search was down: {reason}",
    "model_unusable": "the model was unusable: {reason}; what is shown is found without it",
}
NOT_ANSWERED: Final = "Not answered yet."
DEGRADED: Final = "Search capabilities were limited; answer is based on partial information."
UNUSABLE: Final = "The model's own answer could not be used; these are the findings."
_ADVICE: Final = "read the passages, ask in other words, index more, or choose a model (CORELOOP_MODEL)"
_QUOTED_OF_PART: Final = 2  # chosen: two sources that agree
_LIMITS: Final = ("--max-iterations", "--max-queries", "--max-sources", "--max-tokens", "--deadline")


@dataclass(frozen=True, slots=True, kw_only=True)
class EndError:
    """Why a question has no answer of its own, as every failed call has it."""

    type: str
    message: str
    retryable: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerSource:
    """A source that the answer cites.

    Attributes
    ----------
    id : str
        ``[3]``, as in the answer.
    title, location, type : str
        As it was retrieved.
    line : int or None
        Where the passage begins in a file.
    published : str or None
        As `coreloop.answer.search.provider.Source` has it.
    """

    id: str
    title: str
    location: str
    type: str
    line: int | None = None
    published: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerPassage(AnswerSource):
    """A passage of an answer; ``start`` and ``end`` are those of its marked sentence, equal for none."""

    text: str
    start: int
    end: int


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerCall:
    """A call that the answer needed, as records and replays have it."""

    name: str
    args: dict[str, Any]
    ok: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class RunUsage:
    """What a run used."""

    tokens: int
    usd: float
    calls: int
    queries: int
    elapsed_s: float


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentResponse:
    """What a question got, of `ask` or of a research.

    Attributes
    ----------
    untrusted_question : str
        As it was asked; completed, if it refers to the question before it in the conversation.
    summary : str
        One line: the first sentence of the answer; both sides of a contradiction, if sources differ.
    final_answer : str
        Sentences with citations such as ``[2]``, and a line for each other answer of the sources;
        `NO_EVIDENCE` if no source answers the question.
    verdict : str
        ``says so`` or ``nothing said so``.
    passages : tuple of AnswerPassage
        The best passages whole, of an answer without a model; the closest ones if nothing says so.
    sources : tuple of AnswerSource
        Those that the answer cites.
    iterations : int
        Committed ones.
    degraded : bool
        Whether a search was blocked or failed; the answer says so.
    supported : bool
        Whether there is an answer, every sentence of which a source says.
    insufficient_termination : bool
        Whether a research stopped before it had enough.
    end : str
        ``answered``, ``nothing_said_so``, ``search_down`` or ``model_unusable``.
    reason : str
        One line that says why there is no answer, or what else to know; "" for nothing.
    error : EndError or None
        The same for programs, if the search or the model did not work.
    signals : tuple of str
        What went wrong in the attempts, in their order.
    repairs : int
        Rounds of repair that were done, 0 to 2; one that is left to workers does not count.
    run_id, session_id : str
        Of the run, and of the conversation.
    model : str
        Names of the models.
    tool_calls : tuple of AnswerCall
        Searches, the same as in the record.
    usage : RunUsage
        What the run used.
    mends, mended_by : str
        The rejected answer that this one replaces, and the one that replaces this; "" for none.
    """

    summary: str
    final_answer: str
    verdict: names.Verdict
    passages: tuple[AnswerPassage, ...]
    sources: tuple[AnswerSource, ...]
    iterations: int
    degraded: bool
    supported: bool
    insufficient_termination: bool
    end: End
    reason: str
    error: EndError | None
    signals: tuple[str, ...]
    repairs: int
    run_id: str
    session_id: str
    model: str
    tool_calls: tuple[AnswerCall, ...]
    usage: RunUsage
    untrusted_question: str = ""
    mends: str = ""
    mended_by: str = ""


def respond(state: State) -> AgentResponse:
    """Return the answer that a run has, or a partial one from its findings; of `ask`, its last attempt."""
    knowledge = names.knowledge_of(state)
    if knowledge.attempts:
        return build_response(state, knowledge.attempts[-1])
    if knowledge.answer is not None:
        return replace(msgspec.convert(knowledge.answer, AgentResponse), usage=usage_of(state))
    response = build_response(state, answer_from(state, names.Attempt(number=0)))
    if response.supported:
        return response
    told = in_language_of(state.question)(NOT_ANSWERED)
    return replace(response, summary=told, final_answer=told)


def ending(state: State) -> str:
    """Return why a research has no final answer, or what would give it more; "" if nothing is open."""
    tell = in_language_of(state.question)
    if state.status == "failed":
        error = state.error_log[-1]["error"] if state.error_log else "see runs show"
        return f"failed: {error.partition('Error: ')[2] or error}"
    if not state.is_terminal:
        return tell("go on with: dartlab-coreloop research QUESTION --run {run_id}", run_id=state.run_id)
    reason = (state.stop_reason or "no limit").replace("_", "-")
    option = next((option for option in _LIMITS if reason in option), None)
    if state.is_covered or state.sufficient or option is None:
        return ""
    return tell("stopped before it had enough; for more, raise {option}", option=option)


def build_response(state: State, attempt: names.Attempt) -> AgentResponse:
    """Build the response of an attempt in a run."""
    knowledge, tell = names.knowledge_of(state), in_language_of(state.question)
    (end, why), text = _end(attempt, has_read=bool(knowledge.sources)), "\n".join(_lines(attempt, tell))
    line, is_failed = _LINES.get(end, ""), end in HTTP_STATUS
    return AgentResponse(
        summary=next(iter(text.splitlines()), tell(NO_EVIDENCE)),
        final_answer=text,
        verdict=attempt.verdict,
        passages=tuple(shown_passage(passage, attempt.cited) for passage in attempt.passages),
        sources=tuple(answer_source(read) for read in attempt.cited if f"[{read.number}]" in text),
        iterations=state.iteration,
        degraded=bool(attempt.problem),
        supported=bool(attempt.sentences),
        insufficient_termination=not (state.is_covered or state.sufficient),
        end=end,
        reason="; ".join(filter(None, (tell(line, reason=tell(why)), knowledge.note))),
        error=EndError(type=end, message=line.format(reason=why), retryable=True) if is_failed else None,
        signals=tuple(signal.reason for signal in knowledge.signals),
        repairs=sum(bool(repair.actions) for repair in knowledge.repairs if knowledge.request.may_repair),
        run_id=state.run_id,
        session_id=knowledge.request.session_id or state.run_id,
        model=attempt.model or knowledge.model,
        tool_calls=tuple(tool_calls(state)),
        usage=usage_of(state),
        untrusted_question=state.question,
        mends=knowledge.request.mends,
        mended_by=knowledge.mended_by,
    )


def tool_calls(state: State) -> list[AnswerCall]:
    """Return the searches of a run, and the attempts of `ask`, each of which searches once."""
    calls = [
        AnswerCall(name="search", args={"query": search.query}, ok=bool(search.results_count))
        for search in state.search_history
    ]
    for attempt in names.knowledge_of(state).attempts:
        args = {"question": state.question, "attempt": attempt.number}
        calls.append(AnswerCall(name="retrieve", args=args, ok=bool(attempt.sentences)))
    return calls


def _end(attempt: names.Attempt, *, has_read: bool) -> tuple[End, str]:
    """How a question ended, and why on one line."""
    if attempt.failure:
        return "model_unusable", " ".join(attempt.failure.split())
    if attempt.sentences:
        return "answered", ""
    if attempt.problem and not has_read:
        return "search_down", " ".join(attempt.problem.split())
    return "nothing_said_so", _ADVICE


def _lines(attempt: names.Attempt, tell: Callable[..., str]) -> Iterator[str]:
    shown = attempt.sentences or attempt.quoted
    if shown:
        apart = {text: contradiction_line(pair) for pair in attempt.differing for text in pair.texts}
        once = [next((apart[text] for text in apart if line.startswith(text)), line) for line in shown]
        yield from dict.fromkeys([*once, *apart.values()])
    elif not (attempt.problem or attempt.failure):
        yield tell(NO_EVIDENCE)
    yield from (in_language_of(part)("not answered: {part}", part=part) for part in attempt.unsaid)
    if attempt.dropped:
        sentences = number_of(len(attempt.dropped), "sentence", tell)
        yield tell("({sentences} left out: no source says so.)", sentences=sentences)
    if attempt.problem:
        yield tell(DEGRADED)
        yield from (f"({reason})" for reason in attempt.problem.splitlines())
    if attempt.failure and shown:
        yield tell(UNUSABLE)


def answer_from(state: State, attempt: names.Attempt) -> names.Attempt:
    """Put the surest findings of each sub-question together, which are checked already; needs no model."""
    knowledge = names.knowledge_of(state)
    best = _best_findings(state, knowledge)
    pairs = knowledge.contradictions_found if best else []
    numbers = [number for finding in best for number in finding.sources]
    numbers += [number for pair in pairs for number in pair.sources]
    return replace(
        attempt,
        verdict="says so" if best else "nothing said so",
        sentences=tuple(f"{finding.text} {citation_marks(finding.sources)}" for finding in best),
        cited=tuple(knowledge.sources_of(numbers)),
        differing=tuple(pairs),
    )


def _best_findings(state: State, knowledge: names.Knowledge) -> list[Finding]:
    checked = (finding for finding in knowledge.findings if finding.confidence)
    sure = sorted(checked, key=lambda finding: -finding.confidence)
    of_parts = ([finding for finding in sure if part.id in finding.answers] for part in state.sub_questions)
    best = dict.fromkeys(finding for found in of_parts for finding in found[:_QUOTED_OF_PART])
    return [*best] or sure[:_QUOTED_OF_PART]


def contradiction_line(pair: Contradiction) -> str:
    """Show both sides with their sources and dates, the newer first."""
    first, other = (pair.b, pair.a) if pair.is_dated else (pair.a, pair.b)
    tell = in_language_of(first.text)
    return tell("⚠ Contradiction: {first}; but: {other}", first=_side(first), other=_side(other))


def _side(side: SourcedText) -> str:
    published = f" ({side.published})" if side.published else ""
    return f"{side.text} {citation_marks(side.sources)}{published}"


def answer_source(read: names.ReadSource) -> AnswerSource:
    """Return a source as callers get it."""
    place: dict[str, Any] = fields_of(read.source, "title", "location", "type", "line", "published")
    return AnswerSource(id=f"[{read.number}]", **place)


def shown_passage(passage: names.MarkedPassage, cited: Sequence[names.ReadSource]) -> AnswerPassage:
    """Return a passage as callers get it."""
    read = next(read for read in cited if read.number == passage.number)
    place = asdict(answer_source(read))
    return AnswerPassage(**place, text=read.source.text, start=passage.start, end=passage.end)


def cited_sources(state: State) -> list[names.ReadSource]:
    """Return the sources that the answer or a finding cites, in their order."""
    knowledge = names.knowledge_of(state)
    if knowledge.attempts:
        return list(knowledge.attempts[-1].cited)
    wanted = {source.id for source in respond(state).sources}
    wanted |= {f"[{number}]" for finding in knowledge.findings for number in finding.sources}
    return [read for read in knowledge.sources if f"[{read.number}]" in wanted]


def usage_of(state: State) -> RunUsage:
    """Return what a run used."""
    used: dict[str, Any] = fields_of(state.spent, "tokens", "usd") | fields_of(state, "calls", "queries")
    return RunUsage(**used, elapsed_s=round(state.elapsed_s, 3))


_LAYERS: Final = {"a": "path a", "b": "path b", "c": "path c", "cross_check": "cross-check"}


def markdown_report(state: State) -> str:
    """Return the report as Markdown; texts of sources are escaped, so they cannot add links or HTML."""
    tell = in_language_of(state.question)
    lines = [f"# {escape_markdown(state.question)}", "", f"*{_status(state)}*", ""]
    for heading, entries in _sections(state):
        if entries:
            lines += [f"## {tell(heading)}", "", *(f"- {escape_markdown(entry)}" for entry in entries), ""]
    return "\n".join(lines)


def _sections(state: State) -> Iterator[tuple[str, list[str]]]:
    """Yield headings, and what stands below them."""
    known = names.knowledge_of(state)
    yield "Answer", respond(state).final_answer.splitlines()
    found = (f"{one.tag} {one.text} {citation_marks(one.sources)}" for one in known.findings)
    yield "Findings", [line.rstrip() for line in found]
    yield "Hypotheses", [f"{one.id} {one.confidence:.2f} {one.statement}" for one in known.all_hypotheses]
    yield "Reflection", list(_reflection(known))
    yield "Contradictions", [contradiction_line(pair) for pair in known.contradictions_found]
    parts = [f"{part.id} {part.text}" for part in state.sub_questions if part.is_open and state.drives_itself]
    yield "Open", [*parts, *known.gaps, *known.uncertainties, *known.missing]
    believed = {one.text for one in known.findings if one.sources}
    left_out = [claim for claim in known.dropped if claim.sentence not in believed]
    yield "Left out", [f"{claim.sentence} ({claim.reason})" for claim in left_out]
    yield "Sources", [*map(_source, cited_sources(state))]


def _reflection(knowledge: names.Knowledge) -> Iterator[str]:
    """The newest thought of each layer: what it says, by its name."""
    newest: dict[str, str] = {}
    for thought in knowledge.thoughts:
        for name, said in thought.items():
            if isinstance(said, Mapping):
                newest |= {_LAYERS.get(part, str(part)): str(text) for part, text in said.items()}
            elif isinstance(said, str):
                newest[name.replace("_", "-")] = said
    yield from (f"{name}: {said}" for name, said in newest.items())


def _source(read: names.ReadSource) -> str:
    source = read.source
    line = f":{source.line}" if source.line else ""
    published = f", {source.published}" if source.published else ""
    return f"[{read.number}] {source.title}, {source.location}{line}{published}"


def _status(state: State) -> str:
    tell, about = in_language_of(state.question), fields_of(state, "iteration", "run_id")
    reason = f" ({tell(state.stop_reason)})" if state.stop_reason else ""
    about["status"] = f"{tell(state.status)}{reason}".replace("_", " ")
    about["partial"] = "" if state.is_terminal else tell(" · this report is partial")
    return tell("{status} · iteration {iteration} · research {run_id}{partial}", **about)


def committed(state: State) -> None:
    """Keep the active hypotheses and the next actions of the iteration that was just committed."""
    known = state.of_kind
    assert isinstance(known, names.Knowledge), state.kind
    aim = fields_of(known, "active_hypotheses") | fields_of(state, "iteration", "next_actions")
    known.aims = [*known.aims, aim][-WORKING_ITERATIONS:]


def views(state: State) -> Mapping[str, bytes]:
    """Return ``working_memory.json``, what is in view, and ``findings.md``, the report so far."""
    return {
        "working_memory.json": as_json(_working_memory(state, names.knowledge_of(state))),
        "findings.md": markdown_report(state).encode("utf-8", "replace"),
    }


def _working_memory(state: State, knowledge: names.Knowledge) -> dict[str, Any]:
    memory = remember(knowledge, iteration=state.iteration)
    return {
        "iteration": state.iteration,
        "iterations": [_iteration(state, knowledge, aim) for aim in knowledge.aims],
        "working": [
            {**fields_of(read, "number", "iteration"), "location": read.source.location}
            for read in memory.working
        ],
        "semantic": memory.semantic,
        "archived": memory.archived,
        "compactions": knowledge.compactions,
    }


def _iteration(state: State, knowledge: names.Knowledge, aim: Mapping[str, Any]) -> dict[str, Any]:
    """An iteration's aims, findings and executed queries."""
    number = aim["iteration"]
    found = [finding for finding in knowledge.findings if finding.iteration == number]
    queries = [one.query for one in state.search_history if one.iteration == number]
    return {**aim, "findings": found, "queries_executed": queries}


register_kind(
    Kind(name=names.KIND, initial=names.Knowledge, fold=names.fold, committed=committed, views=views)
)
register_kind(Kind(name=names.ASK, searches=False, initial=names.Knowledge, fold=names.fold))
