"""What is shown of iterations, whoever drives, in the language of the question."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Final

from coreloop.answer.agent.agent_state import AgentKnowledge, disputed, notes_line, to_complete
from coreloop.answer.agent.plan import PlannedIteration
from coreloop.answer.agent.record import RecordedIteration
from coreloop.answer.research.findings import Hypothesis
from coreloop.answer.research.research_state import Knowledge, knowledge_of
from coreloop.base.messages import in_language_of
from coreloop.base.text import printable
from coreloop.cli.choose_session import begun_line
from coreloop.cli.output import say
from coreloop.runs.active_run import Run
from coreloop.runs.decide import Continue
from coreloop.runs.drift import check_drift
from coreloop.runs.driver.progress_lines import money
from coreloop.runs.events import Rule
from coreloop.runs.reflexion import PastFailure
from coreloop.runs.state import State

BAR: Final = "━" * 40
_LINE_CHARS: Final = 300
_FOCUS_CHARS: Final = 50
_MAX_FOCUS: Final = 3
"""Hypotheses that are shown as the focus of an iteration, as the specification has it."""
_DRIFT: Final[Mapping[Rule, str]] = {
    "same_action": "⚠️ Loop drift: the same action three times in a row",
    "no_new_information": "⚠️ Loop drift: five iterations in a row without anything new",
    "duplicates": "⚠️ Loop drift: the same searches again",
}
_ENDS: Final = {
    "max_iterations": "The research ends: it reached its last iteration.",
    **dict.fromkeys(("usd", "usd_per_day", "tokens"), "The research ends: its budget is spent."),
    "deadline": "The research ends: its time is over.",
    "nothing_new": "The research ends: nothing new was found.",
    "completed": "The research ends: all sub-questions are answered.",
    "stopped_by_user": "The research ends: it was stopped.",
}
"""By the reason or the status of the end."""
_Tell = Callable[..., str]


def iteration_lines(recorded: RecordedIteration, plan: Iterable[str] = ()) -> Iterator[str]:
    """Yield the lines of the block; ``plan`` is what comes next."""
    state, number = recorded.state, recorded.iteration
    tell, knowledge = in_language_of(state.question), knowledge_of(state)
    yield from _repeated(state)
    yield from (BAR, tell("📊 Iteration #{number} done", number=number), BAR)
    yield from _findings(knowledge, recorded, tell)
    yield from _hypotheses(knowledge, tell)
    yield f"{tell('📈 Next')}: {_printable(' · '.join(plan)) or tell('none')}"
    answered, total = _answered(state), len(state.counted)
    yield f"{tell('📊 Progress')}: {100 * answered // total if total else 0}% ({answered}/{total})"
    is_covered = total and not any(part.is_open for part in state.counted)
    if is_covered and state.status == "running" and state.drives_itself:
        yield f"{tell('⏳ Still to do')}: {_printable('; '.join(to_complete(state)))}"
    yield from _drift(state, tell)
    yield from _stuck(recorded.failures, tell)
    yield BAR
    yield f"Iteration {number}/{state.limits.max_iterations} · {state.status} · {money(state)}"


def _answered(state: State) -> int:
    """How many sub-questions are answered; what is disputed is not, where an agent answers."""
    is_agents = isinstance(state.of_kind, AgentKnowledge)
    answered = {part.id for part in state.counted if not part.is_open}
    return len(answered - disputed(state)) if is_agents else len(answered)


def following_lines(state: State) -> Iterator[str]:
    """Yield what follows an iteration: the next one, or why there is none."""
    tell = in_language_of(state.question)
    if state.status == "paused":
        yield tell(
            "Paused. To go on, in a terminal: dartlab-coreloop runs resume {run_id}", run_id=state.run_id
        )
    elif state.status != "running":
        yield from end_lines(state)
    elif not state.drives_itself and state.kind != "research":
        # its driver still checks the command's end, --until and the spending
        yield tell("recorded; the driver says what follows")
    else:
        yield tell("→ no condition of the end is met → goes on")
        yield tell("The next iteration begins...")


def end_lines(state: State) -> Iterator[str]:
    """Yield that a condition of the end is met, and which one."""
    tell = in_language_of(state.question)
    yield tell("→ a condition of the end is met")
    reason = state.stop_reason or state.status
    yield tell(_ENDS.get(reason, "The research ends: {reason}."), reason=reason)
    if number := len(knowledge_of(state).contradictions_found):
        yield tell("⚠️ Open contradictions: {number}. Which side is right was not settled.", number=number)


def focus_lines(state: State) -> Iterator[str]:
    """Yield what the next iteration concentrates on."""
    focus = knowledge_of(state).focus
    if not focus:
        tell = in_language_of(state.question)
        if state.iteration:
            yield tell("🎯 No active hypothesis: look at everything")
        else:
            yield tell("🎯 First iteration: look at everything")
        return
    yield f"🎯 Current Focus: {len(focus)} active hypotheses"
    for one in focus[:_MAX_FOCUS]:
        statement = printable(one.statement)[:_FOCUS_CHARS]
        yield f"  - [{one.id}] {statement}... (Priority: {one.priority_score:.2f})"


def duplicate_lines(query: str, similar: str) -> Iterator[str]:
    """Yield that a query is not executed, and which earlier one asked the same."""
    yield f"⚠️ Skip duplicate: '{_printable(query)}'"
    yield f"   Already searched: '{_printable(similar)}'"


def plan_lines(planned: PlannedIteration) -> Iterator[str]:
    """Yield what the next iteration searches for, and which queries it leaves out."""
    yield from focus_lines(planned.state)
    for query, similar in planned.duplicates.items():
        yield from duplicate_lines(query, similar)
    for one in planned.execute:
        yield f"✓ NEW: '{one.query}'"
    if not planned.execute:
        yield "⚠️ All queries duplicate. Changing search angle..."
    if notes := notes_line(planned.state):
        yield f"📝 {notes}"


def _repeated(state: State) -> Iterator[str]:
    for query, similar in state.last_progress.dropped:
        yield from duplicate_lines(query, similar)
    if any(order.rule == "duplicates" for order in state.last_progress.orders):
        yield "⚠️ All queries duplicate. Changing search angle..."


def _findings(knowledge: Knowledge, recorded: RecordedIteration, tell: _Tell) -> Iterator[str]:
    found = [one for one in knowledge.findings if one.iteration == recorded.iteration]
    yield tell("🔍 Findings:")
    believed = {one.text for one in found if one.sources}
    for one in found:
        yield f"   - {_printable(one.text)} [{one.tag}]"
        if one.text in believed:
            doubts = [doubt for doubt in recorded.unbelieved if doubt.sentence == one.text]
            yield from (f"     ↳ {_printable(doubt.reason)}" for doubt in doubts)
    if not found:
        yield f"   - {tell('none')}"
    if number := len(knowledge.contradictions_found):
        yield f"⚠️  {number} contradictions detected"
    unbelieved = [doubt for doubt in recorded.unbelieved if doubt.sentence not in believed]
    if unbelieved:
        yield tell("❓ Not confirmed:")
    for doubt in unbelieved:
        yield f"   - {_printable(doubt.sentence)}: {_printable(doubt.reason)}"


def _hypotheses(knowledge: Knowledge, tell: _Tell) -> Iterator[str]:
    if not knowledge.focus:
        return
    yield "🎯 Active Hypotheses (Top 5):"
    for place, one in enumerate(knowledge.focus, 1):
        yield f"   {place}. [{one.id}] {_printable(one.statement)}"
        yield f"      {_figures(one, tell)}"
    if inactive := len(knowledge.all_hypotheses) - len(knowledge.focus):
        yield tell("📋 Inactive: {number} hypotheses (low priority, kept for review)", number=inactive)


def _figures(one: Hypothesis, tell: _Tell) -> str:
    return tell(
        "Confidence: {confidence:.0%} | Priority: {priority:.2f} | For: {supporting} | Against: {against}",
        confidence=one.confidence,
        priority=one.priority_score,
        supporting=len(one.supporting_evidence),
        against=len(one.contradicting_evidence),
    )


def _drift(state: State, tell: _Tell) -> Iterator[str]:
    """What this iteration led to; want of news is seen only now, and ordered as the next one begins."""
    pending = check_drift(state)
    orders = [one for one in state.last_progress.orders if one.rule != "no_new_information"]
    for order in [*orders, *([pending] if pending else [])]:
        yield tell(_DRIFT[order.rule])
        yield tell("   → strategy changed to: {labels}", labels=", ".join(order.after) or "?")


def _stuck(failures: Sequence[PastFailure], tell: _Tell) -> Iterator[str]:
    if not failures:
        return
    yield tell("⚠️ Stuck")
    for failure in failures:
        yield f"{tell('Earlier failure')}: {_printable(failure.situation)}"
        yield f"{tell('Cause')}: {_printable(failure.root_cause)}"
        yield f"{tell('What helped')}: {_printable(failure.solution)}"


def _printable(text: str) -> str:
    text = printable(text)
    return text if len(text) <= _LINE_CHARS else f"{text[: _LINE_CHARS - 1]}…"


def show_progress(run: Run) -> None:
    """Print the block of the newest iteration to stderr; at the end of a run, its reason."""
    state = run.state
    if state.status == "failed":  # the error follows
        return
    if state.is_terminal:
        _echo(end_lines(state))
        return
    knowledge = knowledge_of(state)
    new = [search.query for search in state.search_history if search.iteration == state.iteration]
    _echo(f"✓ NEW: '{query}'" for query in new)
    planned = (query.query for query in knowledge.plan_queries if query.iteration == state.iteration + 1)
    _echo(iteration_lines(RecordedIteration(state=state, iteration=state.iteration), planned))
    if isinstance(run.decide(), Continue):
        _echo(following_lines(state))
        _echo(focus_lines(state))


def show_begin(state: State) -> None:
    """Say that a new research begins, and what its first iteration concentrates on."""
    if not state.iteration:
        _echo([begun_line(state.run_id, state.question), *focus_lines(state)])


def _echo(lines: Iterable[str]) -> None:
    for line in lines:
        say(printable(line), err=True)
