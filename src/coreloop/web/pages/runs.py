"""The section on runs: what goes on, and past runs with their answers, sources and citations."""

import re
import shlex
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any, Final

from coreloop.answer.repair.jobs import go_on, stop_queued
from coreloop.answer.research.answer import cited_sources, respond
from coreloop.answer.research.research_state import AGAINST, ASK, Attempt, ReadSource, knowledge_of
from coreloop.answer.research.research_state import KIND as RESEARCH
from coreloop.answer.research.verify import cited_sentences, without_citations
from coreloop.base.errors import RunError, RunNotFoundError
from coreloop.runs.clock import is_ulid
from coreloop.runs.driver.driven_run import is_driven, plan_of
from coreloop.runs.events import Ended
from coreloop.runs.manage import pause_run, read_run
from coreloop.runs.state import TERMINAL, State
from coreloop.runs.stores.accounts import RunRow
from coreloop.web.pages.markdown import render_answer, render_line
from coreloop.web.pages.page_data import Act, Button, PageSection, PageSource, View, button
from coreloop.web.pages.timeline import mended_lines, outcome, read_timeline

_MAX_RUNS: Final = 100
_MAX_ITERATIONS: Final = 100
_AROUND: Final = 300
"""Characters of a source that are shown before and after a cited sentence."""
_EVER: Final = datetime(2000, 1, 1, tzinfo=UTC)
_REJECTED: Final = "rejected"
_PARTLY: Final = "partly answered"
KINDS: Final = {"ask": "a question", "agent": "of an agent", "driven": "a command", "gate": "measured"}


Passage = tuple[str, str, str]
"""A cited sentence in its source: what stands before it, itself, and what follows."""


def read_runs(source: PageSource) -> View:
    """List runs, the newest first."""
    rows = source.runs.runs(limit=_MAX_RUNS + 1)
    return {"runs": with_ends(source, rows[:_MAX_RUNS]), "has_more": len(rows) > _MAX_RUNS}


def with_ends(source: PageSource, rows: Sequence[RunRow]) -> list[tuple[RunRow, str]]:
    """Return runs, each with how far it answers its question, or else how it stands."""
    said = source.tables.feedback_since(_EVER)
    rejected = {one.message_id for one in said if one.kind == "down"}

    def end(row: RunRow) -> str:
        if row.run_id in rejected:
            return _REJECTED
        if row.status not in TERMINAL or row.kind not in (ASK, RESEARCH):
            return _end(source, row)
        name = f"end {row.run_id} {row.newest}"
        return source.snapshots.get(name, [], lambda: _end(source, read_run(source.runs, row.run_id))).value

    return [(row, end(row)) for row in rows]


def _end(source: PageSource, run: RunRow | State) -> str:
    stands = outcome(run.status, run.stop_reason)
    if run.status == "paused":
        working = {job.payload.get("run") for job in source.queue.jobs(status="running")}
        return "pausing after this iteration" if run.run_id in working else stands
    if isinstance(run, RunRow) or not run.is_terminal or run.kind not in (ASK, RESEARCH):
        return stands
    response = respond(run)
    if not response.supported:
        return response.end.replace("_", " ") if run.status in ("completed", "stopped") else stands
    far = _PARTLY if _is_partial(run) else "answered"
    return f"{far} ({stands})" if run.kind == RESEARCH and run.status != "completed" else far


def _is_partial(state: State) -> bool:
    response = respond(state)
    return response.supported and bool(response.verdict != "says so" or _open_parts(state))


def _open_parts(state: State) -> list[str]:
    """The parts of a research's question without a finding."""
    parts = (part for part in state.counted if part.is_open and part.text != AGAINST)
    return [part.text for part in parts] if state.kind == RESEARCH else []


def read_one(source: PageSource, name: str) -> View | None:
    """Show a run; what there is beside its figures depends on its kind."""
    if not is_ulid(name):
        return None
    try:
        state = read_run(source.runs, name)
    except RunNotFoundError:
        return None
    view: dict[str, Any] = {
        "run": state,
        "end": _end(source, state),
        "spent": _spent(source, state),
        "timeline": read_timeline(source.runs, name)[-_MAX_ITERATIONS:],
        "follows": "" if state.is_terminal else name,
        "command": _command(state),
        "answer": "",
        "case": None,
        "deeper": None,
        "cited": (),
    }
    if state.kind == RESEARCH:
        view |= _research(state)
    elif state.kind == ASK:
        view |= _answered(state, respond(state).final_answer) | _judged(source, state)
    return view


def _command(state: State) -> str:
    """Return the command that the driver runs; "" for other runs and before it is kept."""
    try:
        return shlex.join(plan_of(state).command) if is_driven(state) else ""
    except RunError:
        return ""


def _research(state: State) -> dict[str, Any]:
    knowledge, response = knowledge_of(state), respond(state)
    found = (f"{one.text} {''.join(f'[{number}]' for number in one.sources)}" for one in knowledge.findings)
    return {**_answered(state, "\n".join([response.final_answer, *found])), "knowledge": knowledge}


def _answered(state: State, text: str) -> dict[str, Any]:
    response, cited = respond(state), _cited(text, cited_sources(state))
    unsaid = [f"not answered: {part}" for part in _open_parts(state) if part not in response.final_answer]
    return {
        "answer": response.final_answer,
        "html": render_answer(response.final_answer, {read.number for read, _ in cited}),
        "verdict": _PARTLY if _is_partial(state) else response.verdict,
        "reason": "; ".join(filter(None, [response.reason, *unsaid])),
        "cited": cited,
    }


def _judged(source: PageSource, state: State) -> dict[str, Any]:
    """What people said of an answer, what became of a rejected one, and the research that deepens it."""
    case, response = knowledge_of(state), respond(state)
    last = case.attempts[-1] if case.attempts else None
    derived = [read_run(source.runs, run_id) for run_id in source.runs.derived(state.run_id)]
    mended = next((one for one in derived if one.run_id == case.mended_by), None)
    deeper = [one.run_id for one in derived if (one.kind, one.origin) == (RESEARCH, state.run_id)]
    gaps = [gap for gap in source.tables.gaps(open_only=False) if gap.topic == state.question]
    sentences = last.said if last else ()
    said = source.tables.feedback_of(state.run_id)
    is_rejected = mended is not None or any(one.kind == "down" for one in said)
    return {
        **({"end": _REJECTED} if is_rejected else {}),
        "case": case,
        "said": said,
        "lines": list(_lines(response.final_answer, sentences, cited_sources(state))),
        **({"cited": list(_passages(last))} if last and last.passages else {}),
        "mended": mended,
        **({"follows": mended.run_id} if mended and not mended.is_terminal else {}),
        "repairs": [line for done in knowledge_of(mended or state).repairs for line in mended_lines(done)],
        "deeper": read_one(source, deeper[-1]) if deeper else None,
        "gap": min(gaps, key=lambda gap: gap.closed_at is not None, default=None),
    }


def _lines(answer: str, sentences: Sequence[str], cited: Sequence[ReadSource]) -> Iterator[tuple[str, str]]:
    """Yield the parts of an answer as HTML, each with the sentence that it is; "" for what is beside them."""
    parts, rest = list[tuple[str, str]](), answer
    for sentence in sorted(sentences, key=answer.find):
        before, is_there, after = rest.partition(sentence)
        if is_there:
            parts += [*(("", line) for line in before.splitlines()), (sentence, sentence)]
            rest = after
    for sentence, text in [*parts, *(("", line) for line in rest.splitlines())]:
        if text.strip():
            yield sentence, render_line(text, {read.number for read in cited})


def _passages(attempt: Attempt) -> Iterator[tuple[ReadSource, list[Passage]]]:
    by_number = {read.number: read for read in attempt.cited}
    for one in attempt.passages:
        text = by_number[one.number].source.text
        yield by_number[one.number], [(text[: one.start], text[one.start : one.end], text[one.end :])]


def _cited(answer: str, sources: Sequence[ReadSource]) -> list[tuple[ReadSource, list[Passage]]]:
    claims: dict[int, dict[str, None]] = {}  # in their order, once each
    for sentence, numbers in cited_sentences(answer):
        for number in numbers:
            claims.setdefault(number, {})[without_citations(sentence)] = None
    cited = []
    for read in sources:
        passages = [passage_of(claim, read.source.text) for claim in claims.get(read.number, {})]
        cited.append((read, [one for one in passages if one[1]] or passages[:1]))
    return cited


def passage_of(claim: str, text: str) -> Passage:
    """Find a quoted sentence in the text of its source; the text's beginning if it is not quoted."""
    words = claim.strip(" …").split()
    found = re.search(r"\s+".join(map(re.escape, words)), text) if words else None
    if found is None:
        return "", "", text[: 2 * _AROUND]
    start, end = found.span()
    before, after = text[max(start - _AROUND, 0) : start], text[end : end + _AROUND]
    lead, tail = "…" * (start > _AROUND), "…" * (len(text) > end + _AROUND)
    return lead + before.lstrip(), text[start:end], after.rstrip() + tail


def _spent(source: PageSource, state: State) -> list[tuple[str, float, float | None]]:
    """What a run has used of each limit; None for no limit."""
    limits, spent = state.limits, state.spent
    ends = [event.at for _, event in source.runs.read(state.run_id) if isinstance(event, Ended)]
    later_s = (state.clock - ends[-1]).total_seconds() if ends and state.is_terminal else 0.0
    return [
        ("iterations", state.iteration, limits.max_iterations),
        ("queries", len(state.search_history), limits.queries),
        ("sources", len(state.read_sources), limits.sources),
        ("seconds of work", round(state.elapsed_s - later_s, 1), limits.deadline_s),
        ("tokens", spent.tokens, limits.tokens),
        ("US dollars", spent.usd, limits.usd),
    ]


def run_buttons(section: str) -> Mapping[str, Button]:
    """Return the buttons of a run; each leads back to the run in a section."""
    acts: Mapping[str, Act] = {
        "pause": lambda source, id, _: pause_run(source.runs, id),
        "stop": lambda source, id, _: stop_queued(source.runs, source.queue, id),
        "resume": lambda source, id, _: go_on(source.runs, source.queue, id),
    }
    return {name: button("run", act, section, "{id}") for name, act in acts.items()}


RUNS: Final = PageSection(
    name="runs",
    title="Runs",
    read=read_runs,
    item="run.html",
    read_item=read_one,
    actions=run_buttons("runs"),
)
