"""The routes that answer: questions, search, feedback and the jobs behind them."""

import asyncio
from collections.abc import Callable, Coroutine
from contextlib import suppress
from dataclasses import asdict
from datetime import UTC, datetime
from functools import partial
from hashlib import sha256
from secrets import token_bytes
from typing import Any, Final

import msgspec
from starlette.concurrency import run_in_threadpool
from starlette.responses import Response

from coreloop.answer.repair.feedback import Notice, give_feedback, wait_for_notice
from coreloop.answer.repair.queued_runs import queue_run
from coreloop.answer.repair.tables import Feedback
from coreloop.answer.research.earlier_researches import read_session
from coreloop.answer.research.research_state import ASK as ANSWER
from coreloop.answer.research.research_state import KIND as RESEARCH
from coreloop.answer.research.research_state import Request
from coreloop.answer.research.run import begin_research
from coreloop.answer.research.tiers import LimitOverrides
from coreloop.answer.search.index.refresh import search_files
from coreloop.answer.search.provider import SearchLimits
from coreloop.answer.search.source import Source as FoundSource
from coreloop.base.errors import UsageError
from coreloop.runs import events
from coreloop.runs.jobs.job import Job
from coreloop.runs.load import require_going
from coreloop.runs.pause_and_stop import resume_run
from coreloop.runs.ulid import new_ulid
from coreloop.web.bodies import (
    Accepted,
    AskRequest,
    FeedbackRequest,
    JobsQuery,
    JobsReply,
    RunRequest,
    SearchReply,
    SearchRequest,
    SimpleRequest,
    SourceReply,
    WaitOptions,
)
from coreloop.web.event_stream import EventStream, closed, follow, stop_quietly
from coreloop.web.problems import Problem
from coreloop.web.route import HttpCall
from coreloop.web.run_replies import final_answer
from coreloop.web.run_routes import stream_of


async def run(call: HttpCall) -> Any:
    """Research a question, or go on with one."""
    body: RunRequest = call.body
    overrides = LimitOverrides(**{name: getattr(body, name) for name in asdict(LimitOverrides())})
    request = Request(tier=body.complexity_tier, wishes=overrides)
    deps = call.service.deps
    if body.session is None:
        run_id, job = await accept(call, RESEARCH, partial(begin_research, body.task, request, deps))
    else:
        run_id, job = await asyncio.to_thread(_go_on, call, body.session)
    return await _reply(call, run_id, job)


async def run_simple(call: HttpCall) -> Any:
    """Research a question with the least effort."""
    body: SimpleRequest = call.body
    deps, request = call.service.deps, Request(tier="simple")
    run_id, job = await accept(call, RESEARCH, partial(begin_research, body.task, request, deps))
    return await _reply(call, run_id, job)


async def ask(call: HttpCall) -> Any:
    """Answer a question from the project's files."""
    body: AskRequest = call.body
    is_replay = body.origin == "replay" or call.request.headers.get("x-coreloop-replay") == "1"
    asked = Request(session_id=body.session, may_repair=body.repair and not is_replay, is_replay=is_replay)
    deps = call.service.deps
    run_id, job = await accept(call, ANSWER, partial(begin_research, body.question, asked, deps, kind=ANSWER))
    return await _reply(call, run_id, job)


def _go_on(call: HttpCall, session: str) -> tuple[str, Job]:
    store = call.service.store
    state = read_session(store, session)
    require_going(state)
    if state.question != call.body.task:
        raise UsageError(f"session {session} asks another question; send its task, or no session")
    call.service.spending.require(call.caller, now=datetime.now(UTC))
    resume_run(store, session)
    job = queue_run(call.service.deps.queue, RESEARCH, session, is_new=False)
    call.service.workers.wake()
    return session, job


async def _reply(call: HttpCall, run_id: str, job: Job) -> Any:
    body: WaitOptions = call.body
    if body.async_:
        return _accepted(run_id, job)
    if body.stream:
        return EventStream(call.service, run_id, call.last_event_id, is_stopped_with=body.stop_when_closed)
    return await _unless_closed(call, run_id, _answered(call, run_id, job))


async def _answered(call: HttpCall, run_id: str, job: Job) -> Any:
    async for numbered in follow(call.service, run_id, 0):
        if numbered and isinstance(numbered[1], events.Paused):
            return _accepted(run_id, job)
    return await asyncio.to_thread(final_answer, call.service, run_id)


def _accepted(run_id: str, job: Job) -> Response:
    accepted = msgspec.json.encode(Accepted(run_id, job.id))
    return Response(accepted, 202, {"Location": f"/runs/{run_id}"}, media_type="application/json")


async def _unless_closed(call: HttpCall, run_id: str, answering: Coroutine[Any, Any, Any]) -> Any:
    """Wait for an answer as long as the client does."""
    answered = asyncio.ensure_future(answering)
    gone = asyncio.ensure_future(closed(call.request.receive))
    try:
        await asyncio.wait({answered, gone}, return_when=asyncio.FIRST_COMPLETED)
        if answered.done():
            return answered.result()
        if call.body.stop_when_closed:
            await stop_quietly(call.service, run_id)
        return Response(status_code=499)  # nobody reads it
    finally:
        for task in (answered, gone):
            task.cancel()
            with suppress(asyncio.CancelledError, Exception):
                await task


def list_jobs(call: HttpCall) -> JobsReply:
    """Return jobs, the newest first."""
    query: JobsQuery = call.query
    return JobsReply(tuple(call.service.deps.queue.jobs(status=query.status, limit=query.limit)))


def show_job(call: HttpCall) -> Job:
    """Return a job."""
    try:
        return call.service.deps.queue.get(call.path("job_id"))
    except UsageError as error:
        raise Problem(404, "not_found", str(error)) from error


def give(call: HttpCall) -> Feedback:
    """Store what a person says; a rejected answer is answered again by a worker."""
    body: FeedbackRequest = call.body
    feedback = give_feedback(call.service.deps, body.id, body.value, reason=body.reason)
    if feedback.mended_by:
        call.service.spending.begin(call.caller, feedback.mended_by)
    call.service.workers.wake()
    return feedback


def notice(call: HttpCall) -> Notice:
    """Return the better answer to a rejected one, or how far it is."""
    return wait_for_notice(call.service.deps, call.path("answer_id"), 0)


async def notice_events(call: HttpCall) -> Response:
    """Stream the work on the better answer."""
    replies = await run_in_threadpool(call.service.deps.tables.feedback_of, call.path("answer_id"))
    run_id = next((feedback.mended_by for feedback in replies if feedback.mended_by), "")
    if not run_id:
        raise Problem(404, "not_found", "nobody rejected this answer")
    return await stream_of(call, run_id)


Begin = Callable[..., str]
"""Called with ``run_id`` and ``trace_id``; creates the run unless it exists, and returns its id."""
_MAX_KEY_CHARS: Final = 200


async def accept(call: HttpCall, kind: str, begin: Begin) -> tuple[str, Job]:
    """Create the run of a question and queue it; a repeated idempotency key finds the first one.

    Parameters
    ----------
    call : HttpCall
        The request.
    kind : str
        The kind of the run.
    begin : callable
        See `Begin`.

    Raises
    ------
    Problem
        Too many runs wait, the key is not one, or it was used for another request.
    """
    call.service.admission.run(call.caller)
    return await run_in_threadpool(_create, call, kind, begin)


def _create(call: HttpCall, kind: str, begin: Begin) -> tuple[str, Job]:
    service = call.service
    queue = service.deps.queue
    if service.backlog.number() >= service.settings.max_queued:
        raise Problem(503, "busy", "too many runs wait; ask again later", retryable=True, retry_after_s=10)
    service.spending.require(call.caller, now=datetime.now(UTC))
    run_id = begin(run_id=_run_id(call), trace_id=call.trace_id)
    service.spending.begin(call.caller, run_id)
    call.request.scope["coreloop.run_id"] = run_id  # for the log
    job = queue_run(queue, kind, run_id)
    service.outage.worked()
    service.workers.wake()
    return run_id, job


def _run_id(call: HttpCall) -> str:
    now, key = datetime.now(UTC), call.request.headers.get("idempotency-key")
    if key is None:
        return new_ulid(now, token_bytes(10))
    if not (key and len(key) <= _MAX_KEY_CHARS and key.isascii() and key.isprintable()):
        raise Problem(
            422,
            "invalid",
            f"Idempotency-Key is up to {_MAX_KEY_CHARS} printable characters",
        )
    asked = sha256(call.request.url.path.encode() + b"\0" + msgspec.json.encode(call.body)).digest()
    return call.service.claims.run_of(call.key.name, key, asked, now=now)


def search(call: HttpCall) -> SearchReply:
    """Return the passages that fit a query best, of the files as they are now."""
    body: SearchRequest = call.body
    limits = SearchLimits(max_results=body.limit)
    found = search_files(call.service.deps.workspace, body.query, limits, now=datetime.now(UTC))
    return SearchReply(tuple(map(_source_reply, found.sources)), found.note)


def _source_reply(source: FoundSource) -> SourceReply:
    return SourceReply(
        title=source.title,
        location=source.location,
        type=source.type,
        text=source.text,
        line=source.line,
        published=source.published.isoformat() if source.published else None,
        provider=source.provider,
    )
