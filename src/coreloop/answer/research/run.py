"""The use case: a question becomes a run, and the run an answer; `ask` is a research of one iteration."""

from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from functools import partial
from itertools import pairwise
from secrets import token_bytes
from threading import Event
from typing import Final

import msgspec

import coreloop.answer.research.answer  # noqa: F401 (registers it)
from coreloop.answer.deps import Deps, deps_here
from coreloop.answer.models.contracts import Tier
from coreloop.answer.repair.store import AnswerRow
from coreloop.answer.research import research_state as names
from coreloop.answer.research.answer import AgentResponse, AnswerCall, respond
from coreloop.answer.research.cycle import conclude, iterate
from coreloop.answer.research.next_queries import complete
from coreloop.answer.research.run_searches import SEARCH, find_sources
from coreloop.answer.search.provider import SearchLimits, Source
from coreloop.answer.text.claims import head_of_table, split, unsaid
from coreloop.answer.text.terms import key_list, search_words
from coreloop.base.errors import UsageError
from coreloop.base.text import printable
from coreloop.observe.collector import OwnCollector
from coreloop.observe.journal import remove_days
from coreloop.observe.reading.decode import find_record
from coreloop.runs.active_run import Run, work_on
from coreloop.runs.clock import new_ulid
from coreloop.runs.duplicates import QueryHistory, Search
from coreloop.runs.iteration_loop import drive
from coreloop.runs.jobs.queue import forget_expired
from coreloop.runs.load import load_run
from coreloop.runs.manage import begin_run
from coreloop.runs.reflexion import learn_lessons
from coreloop.runs.run_files import Viewer
from coreloop.runs.state import State

MAX_QUESTION_CHARS: Final = 10_000
_LATEST: Final = 100  # chosen: the answers among which the question before is looked for
# The limits of a run whose tier the plan chooses; the plan can only make them tighter.
_WIDEST: Final[Tier] = "deep"


def answer(
    question: str,
    *,
    deps: Deps,
    session: str = "",
    repair: bool = True,
    show: Callable[[Run], None] = lambda _: None,
) -> AgentResponse:
    """Answer a question from the project's files, and repair a failed answer at most twice.

    Parameters
    ----------
    question : str
        Of a user.
    deps : Deps
        Models, evidence, queue and tables.
    session : str
        Id of the conversation, whose last question completes this one; "" for a new one.
    repair : bool
        Repair a failed answer at once; otherwise its jobs wait for a worker.
    show : callable
        Called after each attempt and at the end.

    Returns
    -------
    AgentResponse
        `coreloop.answer.research.verify.NO_EVIDENCE` if no source answers the question.

    Raises
    ------
    UsageError
        The question is empty or too long.
    ModelError
        No model can be reached.
    """
    request, whole = names.Request(session_id=session, may_repair=repair), _completed(question, session, deps)
    return continue_research(begin_research(whole, request, deps, kind=names.ASK), deps, show=show)


def _completed(question: str, session: str, deps: Deps) -> str:
    """Complete a question by the one before it in a conversation, as the project's files say it."""
    rows = deps.store.runs(kind=names.ASK, limit=_LATEST) if session and deps.searches_index else ()
    states = (load_run(deps.store, row.run_id)[0].state for row in rows)
    earlier = (state.question for state in states if names.knowledge_of(state).request.session_id == session)

    before = next(earlier, "")

    def said(reading: str) -> float:
        found = find_sources(deps, reading, SearchLimits(), words=" ".join(search_words(reading)))
        left = " ".join(word for word in search_words(before) if word not in reading)
        return max((_said(reading, left, source) for source in found.sources), default=0.0)

    return complete(question, before, said)


def _said(reading: str, left: str, source: Source) -> float:
    """How well a sentence and its heading say a reading; what it left out, and its words together, count."""
    heading, text = f"{source.title}\n{source.location}", source.text
    wholes = (f"{heading}\n{head_of_table(text, at)}\n{text[at:end]}" for at, end in split(text))
    pairs, beside = [*pairwise(key_list(reading))], {*pairwise(key_list(text))}
    together = sum(pair in beside for pair in pairs) / (len(pairs) + 1)
    is_whole = any(not unsaid(reading, whole) for whole in wholes)
    return is_whole and 1 + 2 * (not unsaid(left, text)) + together


def run_research(
    task: str,
    *,
    deps: Deps | None = None,
    max_iters: int | None = None,
    max_queries: int | None = None,
    max_sources: int | None = None,
    max_execution_time_s: float | None = None,
    token_budget: int | None = None,
    tier: Tier | None = None,
    exhaust: bool = False,
    second_check: bool = False,
    show: Callable[[Run], None] = lambda _: None,
) -> AgentResponse:
    """Research a question until the run's controller stops it, and answer it.

    Parameters
    ----------
    task : str
        The question.
    deps : Deps or None
        Store, models and search; None for those of the project in the current folder.
    max_iters, max_queries, max_sources, max_execution_time_s, token_budget
        Iterations, executed queries, sources read, seconds of work and tokens; None for what the tier says.
    tier : str or None
        ``simple``, ``standard`` or ``deep``; None for what the plan says.
    exhaust : bool
        Go on until the run is stopped or completed, and search for counter-evidence.
    second_check : bool
        Let a model judge the sentences of the answer that passed the check without a model.
    show : callable
        Called after each committed iteration and at the end.

    Returns
    -------
    AgentResponse
        Whole; from the findings alone if no model could write it.

    Raises
    ------
    ModelError
        No model gave a usable reply; the run has failed, and its findings stay.
    UsageError
        The question is empty or too long, or the limits cannot hold.
    """
    wishes = {
        "max_iters": max_iters,
        "max_queries": max_queries,
        "max_sources": max_sources,
        "max_execution_time_s": max_execution_time_s,
        "token_budget": token_budget,
    }
    request = names.Request(tier=tier, wishes=wishes, second_check=second_check)
    with nullcontext(deps) if deps else deps_here() as used:
        run_id = begin_research(task, request, used, exhaust=exhaust)
        return continue_research(run_id, used, show=show)


def begin_research(
    task: str,
    request: names.Request,
    deps: Deps,
    *,
    kind: str = names.KIND,
    exhaust: bool = False,
    origin: str = "",
    run_id: str = "",
    trace_id: str = "",
) -> str:
    """Create the run of a research, or of the ``kind`` `ASK`; nothing is searched yet. Returns its id.

    A run of a ``run_id`` that exists stays as it is. ``origin`` is the answer that a research deepens.

    Raises
    ------
    UsageError
        The question is empty or too long, the limits cannot hold, or no model can exhaust it.
    """
    require_question(task)
    if exhaust and not deps.ladder.models:
        raise UsageError("an exhaustive research needs a model; set CORELOOP_MODEL")
    now = datetime.now(UTC)
    _forget_expired(deps, now)
    run_id = run_id or new_ulid(now, token_bytes(10))
    whole = replace(request, session_id=request.session_id or run_id)
    limits = names.run_limits(request.tier or _WIDEST, request.wishes, exhaust=exhaust)
    return begin_run(
        deps.workspace,
        deps.store,
        task,
        kind=kind,
        now=now,
        mode="exhaust" if exhaust else "bounded",
        limits=names.ASK_LIMITS if kind == names.ASK else limits,
        first=[(names.REQUESTED, msgspec.to_builtins(whole))],
        run_id=run_id,
        origin=origin or request.mends,
        trace_id=trace_id,
    )


def require_question(task: str) -> None:
    """Refuse a question that cannot be searched for.

    Raises
    ------
    UsageError
        It is empty, too long, or has no words.
    """
    if not printable(task).strip():
        raise UsageError("the question is empty; ask one")
    if len(task) > MAX_QUESTION_CHARS:
        raise UsageError(
            f"the question has {len(task):,} characters; at most {MAX_QUESTION_CHARS:,} are read"
        )
    if not search_words(task):
        raise UsageError("the question has no words to search for; ask in words")


def continue_research(
    run_id: str, deps: Deps, *, show: Callable[[Run], None] = lambda _: None, shutdown: Event | None = None
) -> AgentResponse:
    """Work on a run to its end, as `run_research` or `answer`; it goes on where the last process left it.

    Raises
    ------
    Interrupted
        ``shutdown`` is set: another process can go on.
    RunNotFoundError, RunBusyError, RunEndedError
        There is no such run, another process works on it, or it is over.
    """
    write_views = Viewer(deps.workspace.root, deps.store)

    def show_all(run: Run) -> None:
        if run.state.kind == names.KIND:
            learn_lessons(deps.store, run.state, situation=run.state.question)
            write_views(run.state)
        show(run)

    with work_on(deps.store, run_id, shutdown=shutdown) as run:
        try:
            drive(run, partial(iterate, deps=deps), answer=partial(conclude, deps=deps), show=show_all)
        finally:
            if run.state.is_terminal:
                keep_ended(deps, run.state)
        return respond(run.state)


def _forget_expired(deps: Deps, now: datetime) -> None:
    """Remove what is older than the setting ``retention_days``; runs are removed where they begin."""
    days = deps.workspace.settings.retention_days
    if days is not None:
        deps.tables.forget_before(now - timedelta(days=days))
        remove_days(deps.workspace.own_records_dir, before=now.date() - timedelta(days=days))
    forget_expired(deps.workspace, deps.queue, now=now)


def keep_ended(deps: Deps, state: State, *, is_late: bool = False) -> None:
    """Keep what an ended run is worth to later ones.

    Parameters
    ----------
    deps : Deps
        Where to keep it.
    state : State
        Of the run.
    is_late : bool
        The process that ended the run may have died just then: only what is missing is kept.
    """
    if names.knowledge_of(state).request.is_replay:
        return
    answer = respond(state)
    if not (is_late and find_record(state.run_id, deps.workspace.own_records_dir)):
        _record(deps, state, answer)
    if state.kind == names.ASK and not (is_late and deps.tables.has_answer(state.run_id)):
        _keep_answer(deps, state, answer)


def keep_ended_late(run_id: str, deps: Deps) -> None:
    """Keep what is missing of a run whose process died just after its end."""
    keep_ended(deps, load_run(deps.store, run_id)[0].state, is_late=True)


def _record(deps: Deps, state: State, answer: AgentResponse) -> None:
    audit = OwnCollector(
        question=state.question,
        model=answer.model or deps.ladder.name,
        session_id=answer.session_id,
        request_id=state.run_id,
        data_dir=deps.workspace.audit_dir.parent,
    )
    knowledge = names.knowledge_of(state)
    for call in answer.tool_calls:
        audit.observe_tool_call(call.name, call.args, error=None if call.ok else _cause(knowledge, call))
    audit.flush(
        chunk_len=len(answer.final_answer) if answer.supported else 0,
        rounds=len(knowledge.attempts) or state.iteration,
        error=state.stop_reason if state.status == "failed" else None,
        skill_used=state.kind,
    )


def _cause(knowledge: names.Knowledge, call: AnswerCall) -> str:
    """Say why a search or an attempt failed, and what the repair after the attempt did."""
    if call.name == SEARCH:
        reasons = {one.query: f"{one.outcome}: {one.reason}" for one in knowledge.failed_queries}
        return reasons.get(call.args["query"], "not found")
    number = call.args["attempt"]
    said = [signal.reason for signal in knowledge.signals if signal.source == "critic"]
    done = [line for repair in knowledge.repairs if repair.attempt == number for line in repair.jobs]
    reason = said[number - 1] if number <= len(said) else "failed"
    return f"{reason}: not found in the index; {'; '.join(done) or 'nothing to repair'}"


def _keep_answer(deps: Deps, state: State, answer: AgentResponse) -> None:
    """Close the gap of a question that was answered, open it of another one, and keep the answer's row."""
    knowledge, now = names.knowledge_of(state), datetime.now(UTC)
    if answer.supported:
        asked = QueryHistory([Search(state.question, 1, 1, success=True)])
        same = [gap for gap in deps.tables.gaps() if asked.is_duplicate_query(gap.topic)[0]]
        for topic in {state.question, *(gap.topic for gap in same)}:
            deps.tables.close_gaps(topic=topic, by="repair", now=now)
    elif knowledge.signals:
        last = knowledge.signals[-1]
        file, symbol = last.context.file, last.context.symbol
        deps.tables.open_gap(topic=state.question, file=file, symbol=symbol, reason=last.reason, now=now)
    found = knowledge.attempts[-1].found if knowledge.attempts else {}
    row = AnswerRow(run_id=state.run_id, ended_at=now, found=found)
    deps.tables.keep_answer(row)  # last: with the row, all of it is there
