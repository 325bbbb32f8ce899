"""The use case: a question becomes an answer whose every sentence has a source; a failed one is repaired."""

from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from functools import partial
from secrets import token_bytes
from threading import Event
from typing import Final

import msgspec

import coreloop.answer.research.kind  # noqa: F401 (registers it)
from coreloop.answer.deps import Deps
from coreloop.answer.repair.actions import MAX_REPAIRS
from coreloop.answer.repair.cycle import iterate
from coreloop.answer.repair.learn import learn
from coreloop.answer.research.answer import AgentResponse, respond
from coreloop.answer.research.knowledge import ASK, REQUESTED, Request
from coreloop.answer.research.run import require_question
from coreloop.observe.journal import remove_days
from coreloop.runs.controller import drive
from coreloop.runs.jobs.manage import forget_expired
from coreloop.runs.limits import Limits
from coreloop.runs.manage import begin_run
from coreloop.runs.run import Run, work_on
from coreloop.runs.ulid import new_ulid

TOKEN_BUDGET: Final = 60_000
DEADLINE_S: Final = 120.0


def answer(
    question: str,
    *,
    deps: Deps,
    session: str = "",
    repair: bool = True,
    mends: str = "",
    show: Callable[[Run], None] = lambda _: None,
) -> AgentResponse:
    """AgentResponse a question from the project's files, and repair a failed answer at most twice.

    Parameters
    ----------
    question : str
        Of a user.
    deps : Deps
        Models, evidence, queue and tables.
    session : str
        Id of the conversation; "" for a new one.
    repair : bool
        Repair a failed answer at once; otherwise its jobs wait for a worker.
    mends : str
        The id of an answer that a person rejected: its repair comes first. "" for none.
    show : callable
        Called after each attempt and at the end.

    Returns
    -------
    AgentResponse
        Its ``answer`` is `coreloop.answer.research.verify.NO_EVIDENCE` if no source answers the question.

    Raises
    ------
    UsageError
        The question is empty or too long.
    ModelError
        No model can be reached.
    """
    run_id = begin_answer(question, Request(session_id=session, may_repair=repair, mends=mends), deps)
    return continue_answer(run_id, deps, show=show)


def begin_answer(question: str, asked: Request, deps: Deps, *, run_id: str = "", trace_id: str = "") -> str:
    """Create the run of an answer; nothing is searched yet. Returns its id.

    A run of a ``run_id`` that exists stays as it is.

    Raises
    ------
    UsageError
        The question is empty or too long.
    """
    require_question(question)
    now = datetime.now(UTC)
    _forget_expired(deps, now)
    run_id = run_id or new_ulid(now, token_bytes(10))
    whole = replace(asked, session_id=asked.session_id or run_id)
    limits = Limits(max_iterations=1 + MAX_REPAIRS, tokens=TOKEN_BUDGET, deadline_s=DEADLINE_S)
    return begin_run(
        deps.workspace,
        deps.store,
        question,
        kind=ASK,
        now=now,
        limits=limits,
        first=[(REQUESTED, msgspec.to_builtins(whole))],
        run_id=run_id,
        origin=asked.mends,
        trace_id=trace_id,
    )


def continue_answer(
    run_id: str,
    deps: Deps,
    *,
    show: Callable[[Run], None] = lambda _: None,
    shutdown: Event | None = None,
) -> AgentResponse:
    """Work on an answer to its end; it goes on where the last process left it.

    Raises
    ------
    Interrupted
        ``shutdown`` is set: another process can go on.
    RunNotFoundError, RunBusyError, RunEndedError
        There is no such run, another process works on it, or it is over.
    """
    with work_on(deps.store, run_id, shutdown=shutdown) as run:
        try:
            drive(run, partial(iterate, deps=deps), show=show)
        finally:
            if run.state.is_terminal:
                learn(deps, run.state)
        return respond(run.state)


def _forget_expired(deps: Deps, now: datetime) -> None:
    """Remove what is older than the setting ``retention_days``; runs are removed where they begin."""
    days = deps.workspace.settings.retention_days
    if days is not None:
        deps.tables.forget_before(now - timedelta(days=days))
        remove_days(deps.workspace.own_records_dir, before=now.date() - timedelta(days=days))
    forget_expired(deps.workspace, deps.queue, now=now)
