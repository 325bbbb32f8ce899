"""The routes of the service that programs call; `coreloop.web.page_routes` has those for people."""

import asyncio
from collections.abc import Callable
from datetime import UTC, datetime
from functools import partial
from hashlib import sha256
from secrets import token_bytes
from typing import Any, Final, get_args

import msgspec
from starlette.concurrency import run_in_threadpool
from starlette.responses import Response

from coreloop import __version__
from coreloop.answer.repair.feedback import Notice, give_feedback, read_notice
from coreloop.answer.repair.jobs import go_on, queue_run, read_days, read_last_day, stop_queued
from coreloop.answer.repair.store import Feedback, Gate
from coreloop.answer.research.answer import AgentResponse
from coreloop.answer.research.earlier_researches import read_session
from coreloop.answer.research.research_state import ASK as ANSWER
from coreloop.answer.research.research_state import KIND as RESEARCH
from coreloop.answer.research.research_state import NAMES, Request
from coreloop.answer.research.run import begin_research
from coreloop.answer.search.index.search_index import search_files
from coreloop.base.errors import UsageError
from coreloop.runs import events
from coreloop.runs.clock import new_ulid
from coreloop.runs.jobs.queue import Job
from coreloop.runs.load import require_going
from coreloop.runs.manage import pause_run, read_run, require_status, resume_run
from coreloop.runs.state import State, state_json
from coreloop.web import bodies
from coreloop.web.event_stream import EventStream, answer_in, final_answer, follow, unless_closed
from coreloop.web.metrics import CONTENT_TYPE
from coreloop.web.problems import Problem, leaving
from coreloop.web.route import ROUTES, HttpCall, describe, route

_LATER: Final = {202: bodies.Accepted}
_EVENTS: Final = "text/event-stream"
_QUESTION: Final = "How long is the Han river?"
_FEEDBACK: Final = {"id": bodies.RUN_ID, "value": "down", "reason": "It is out of date."}


@route("POST", "/run", scope="run", also=_LATER, example={"task": _QUESTION, "max_iters": 2})
async def run(call: HttpCall, body: bodies.RunRequest) -> AgentResponse:
    """Research a question."""
    request = Request(tier=body.complexity_tier, wishes={name: getattr(body, name) for name in NAMES})
    begin = partial(begin_research, body.task, request, call.service.deps)
    earlier = await run_in_threadpool(_earlier, call, body.session) if body.session else None
    if earlier and earlier.kind == RESEARCH:
        run_id, job = await run_in_threadpool(_go_on, call, earlier.run_id)
    else:
        run_id, job = await accept(call, RESEARCH, partial(begin, origin=earlier.run_id if earlier else ""))
    reply: AgentResponse = await _reply(call, run_id, job)
    return reply


@route("POST", "/run-simple", scope="run", also=_LATER, example={"task": _QUESTION})
async def run_simple(call: HttpCall, body: bodies.SimpleRequest) -> AgentResponse:
    """Research a question with the least effort."""
    body = bodies.RunRequest(**msgspec.structs.asdict(body), complexity_tier="simple")
    reply: AgentResponse = await run(call, body)
    return reply


@route("POST", "/ask", scope="run", also=_LATER, example={"question": _QUESTION})
@route("POST", "/api/ask", name="api_ask", scope="run", also=_LATER, example={"question": _QUESTION})
async def ask(call: HttpCall, body: bodies.AskRequest) -> bodies.AskReply:
    """Answer a question from the project's files, and repair a failed answer."""
    is_replay = body.origin == "replay" or call.request.headers.get("x-coreloop-replay") == "1"
    asked = Request(session_id=body.session, may_repair=body.repair and not is_replay, is_replay=is_replay)
    deps = call.service.deps
    run_id, job = await accept(call, ANSWER, partial(begin_research, body.question, asked, deps, kind=ANSWER))
    reply: bodies.AskReply = await _reply(call, run_id, job)
    return reply


def _earlier(call: HttpCall, session: str) -> State:
    """Return the research to go on with, or the answer to deepen."""
    state = read_run(call.service.store, session)
    if state.kind != ANSWER:
        require_going(read_session(call.service.store, session))
    if state.question.split() != call.body.task.split():
        raise UsageError(f"session {session} asks another question; send its task, or no session")
    return state


def _go_on(call: HttpCall, session: str) -> tuple[str, Job]:
    resume_run(call.service.store, session)
    job = queue_run(call.service.deps.queue, RESEARCH, session, is_new=False)
    call.service.workers.wake()
    return session, job


async def _reply(call: HttpCall, run_id: str, job: Job) -> Any:
    """Return the answer, or a response of another kind: accepted, or a stream."""
    body: bodies.WaitOptions = call.body
    if body.async_:
        return _accepted(run_id, job)
    if body.stream:
        return EventStream(call.service, run_id, call.last_event_id)
    answer = await unless_closed(call.request.receive, _answered(call, run_id, job))
    return Response(status_code=499) if answer is None else answer  # nobody reads it


async def _answered(call: HttpCall, run_id: str, job: Job) -> Any:
    async for numbered in follow(call.service, run_id, 0):
        if numbered and isinstance(numbered[1], events.Paused):
            return _accepted(run_id, job)
    return await asyncio.to_thread(final_answer, call.service, run_id)


def _accepted(run_id: str, job: Job) -> Response:
    accepted = msgspec.json.encode(bodies.Accepted(run_id, job.id))
    return Response(accepted, 202, {"Location": f"/runs/{run_id}"}, media_type="application/json")


@route("GET", "/jobs")
def list_jobs(call: HttpCall, query: bodies.JobsQuery) -> bodies.JobsReply:
    """List jobs, the newest first."""
    return bodies.JobsReply(tuple(call.service.deps.queue.jobs(status=query.status, limit=query.limit)))


@route("GET", "/jobs/{job_id}")
def show_job(call: HttpCall) -> Job:
    """Show a job."""
    try:
        return call.service.deps.queue.get(call.path("job_id"))
    except UsageError as error:
        raise Problem(404, "not_found", str(error)) from error


@route("POST", "/feedback", name="feedback", scope="run", example=_FEEDBACK)
def give(call: HttpCall, body: bodies.FeedbackRequest) -> Feedback:
    """Say whether an answer was good."""
    feedback = give_feedback(call.service.deps, body.id, body.value, reason=body.reason)
    call.service.workers.wake()
    return feedback


@route("GET", "/feedback/{answer_id}")
def notice(call: HttpCall) -> Notice:
    """Show the better answer to a rejected one, or how far it is."""
    return read_notice(call.service.deps, call.path("answer_id"))


@route("GET", "/feedback/{answer_id}/events", media_type=_EVENTS)
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
MAX_QUEUED: Final = 2_000  # chosen: as many wait for hours


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
    service, queue = call.service, call.service.deps.queue
    if queue.metrics().by_status.get("queued", 0) >= MAX_QUEUED:
        raise Problem(503, "busy", "too many runs wait; ask again later", retryable=True, retry_after_s=10)
    run_id = begin(run_id=_run_id(call), trace_id=call.request.scope["coreloop.trace_id"])
    call.request.scope["coreloop.run_id"] = run_id  # for the log
    job = queue_run(queue, kind, run_id)
    service.workers.wake()
    return run_id, job


def _run_id(call: HttpCall) -> str:
    once = call.request.scope.get("coreloop.once")
    now, key = datetime.now(UTC), once or call.request.headers.get("idempotency-key")
    if key is None:
        return new_ulid(now, token_bytes(10))
    if not (key and len(key) <= _MAX_KEY_CHARS and key.isascii() and key.isprintable()):
        raise Problem(422, "invalid", f"Idempotency-Key is up to {_MAX_KEY_CHARS} printable characters")
    asked = sha256(call.request.url.path.encode() + b"\0" + msgspec.json.encode(call.body)).digest()
    return call.service.claims.run_of(call.key.name, key, asked, now=now)


@route("POST", "/search", example={"query": "river", "limit": 3})
def search(call: HttpCall, body: bodies.SearchRequest) -> bodies.SearchReply:
    """Search the index."""
    found, note = search_files(call.service.deps.workspace, body.query, body.limit, now=datetime.now(UTC))
    return msgspec.convert({"sources": found, "note": note}, bodies.SearchReply, from_attributes=True)


@route("GET", "/runs")
def list_runs(call: HttpCall, query: bodies.RunsQuery) -> bodies.RunsReply:
    """List runs, the newest first."""
    require_status(query.status)
    rows = call.service.store.runs(kind=query.kind, status=query.status, limit=query.limit)
    return msgspec.convert({"runs": rows}, bodies.RunsReply, from_attributes=True)


@route("GET", "/runs/{run_id}")
def show_run(call: HttpCall) -> bodies.RunReply:
    """Show a run and its answer."""
    state = read_run(call.service.store, call.path("run_id"))
    answer = answer_in(state)
    return bodies.RunReply(state_json(state), None if answer is None else msgspec.to_builtins(answer))


@route("GET", "/runs/{run_id}/events", media_type=_EVENTS, also={204: None})
async def run_events(call: HttpCall) -> Response:
    """Stream what happens to a run."""
    return await stream_of(call, call.path("run_id"))


async def stream_of(call: HttpCall, run_id: str) -> Response:
    """Stream a run from the client's last event on; 204 if it is over and the client has everything."""
    after, store = call.last_event_id, call.service.store
    state = await run_in_threadpool(read_run, store, run_id)
    newest = await run_in_threadpool(store.newest, [run_id])
    if state.is_terminal and newest.get(run_id, 0) <= after:
        return Response(status_code=204)  # lets a browser's EventSource end
    return EventStream(call.service, run_id, after)


@route("POST", "/runs/{run_id}/pause", scope="run")
def pause(call: HttpCall) -> bodies.StatusReply:
    """Let a run stop after its iteration."""
    return _told(call, pause_run(call.service.store, call.path("run_id")))


@route("POST", "/runs/{run_id}/stop", scope="run")
def stop(call: HttpCall) -> bodies.StatusReply:
    """End a run."""
    return _told(call, stop_queued(call.service.store, call.service.deps.queue, call.path("run_id")))


@route("POST", "/runs/{run_id}/resume", scope="run")
def resume(call: HttpCall) -> bodies.StatusReply:
    """Let a paused run go on."""
    return _told(call, go_on(call.service.store, call.service.deps.queue, call.path("run_id")))


def _told(call: HttpCall, state: State) -> bodies.StatusReply:
    call.service.workers.wake()
    return bodies.StatusReply(state.run_id, state.status)


@route("GET", "/healthz", scope=None)
async def healthz(_call: HttpCall) -> bodies.Health:
    """Say that the process answers."""
    return bodies.Health()


@route("GET", "/readyz", scope=None)
async def readyz(call: HttpCall) -> bodies.Health:
    """Say whether requests can be answered."""
    if call.service.shutdown.is_set():
        raise leaving()
    await run_in_threadpool(call.service.require_databases)
    return bodies.Health()


@route("GET", "/version")
def version(call: HttpCall) -> bodies.VersionReply:
    """Return the version and the model."""
    return bodies.VersionReply(__version__, call.service.deps.ladder.name)


@route("GET", "/api/metrics/cbo/series")
def series(call: HttpCall) -> bodies.SeriesReply:
    """Gates of repair, evidence and feedback by day, the newest first."""
    deps, now = call.service.deps, datetime.now(UTC)
    kept = (snapshot for gate in get_args(Gate) for snapshot in deps.tables.snapshots(gate))
    newest_first = sorted(kept, key=lambda snapshot: (snapshot.day, snapshot.gate), reverse=True)
    gates = (
        bodies.Share(one.day.isoformat(), one.gate, one.share, one.good, one.total) for one in newest_first
    )
    return bodies.SeriesReply(
        series=tuple(gates),
        days=tuple(read_days(deps, now=now)),
        retry_rate=deps.queue.metrics().retry_rate,
    )


@route("GET", "/metrics", media_type=CONTENT_TYPE)
def metrics(call: HttpCall) -> Response:
    """Figures for Prometheus."""
    deps = call.service.deps
    last_day = read_last_day(deps, now=datetime.now(UTC))
    return Response(call.service.metrics.text(last_day, deps.queue.metrics()), media_type=CONTENT_TYPE)


@route("GET", "/openapi.json", scope=None)
async def openapi(_call: HttpCall) -> dict[str, Any]:
    """The description of this API."""
    return describe(ROUTES)
