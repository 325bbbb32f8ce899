"""The routes of runs: lists, states, events, and what people say to them."""

from starlette.concurrency import run_in_threadpool
from starlette.responses import Response

from coreloop.answer.repair.queued_runs import go_on, stop_queued
from coreloop.runs.manage import read_run, require_status
from coreloop.runs.pause_and_stop import pause_run
from coreloop.web.bodies import RunReply, RunsQuery, RunsReply, StatusReply
from coreloop.web.event_stream import EventStream
from coreloop.web.route import HttpCall
from coreloop.web.run_replies import row_reply, run_reply


def list_runs(call: HttpCall) -> RunsReply:
    """Return runs, the newest first."""
    query: RunsQuery = call.query
    require_status(query.status)
    rows = call.service.store.runs(kind=query.kind, status=query.status, limit=query.limit)
    return RunsReply(tuple(map(row_reply, rows)))


def show_run(call: HttpCall) -> RunReply:
    """Return a run."""
    return run_reply(read_run(call.service.store, call.run_id))


async def run_events(call: HttpCall) -> Response:
    """Stream what happens to a run."""
    return await stream_of(call, call.run_id)


async def stream_of(call: HttpCall, run_id: str) -> Response:
    """Stream a run from the client's last event on; 204 if it is over and the client has everything."""
    after, store = call.last_event_id, call.service.store
    state = await run_in_threadpool(read_run, store, run_id)
    newest = await run_in_threadpool(store.newest, [run_id])
    if state.is_terminal and newest.get(run_id, 0) <= after:
        return Response(status_code=204)  # lets a browser's EventSource end
    return EventStream(call.service, run_id, after)


def pause(call: HttpCall) -> StatusReply:
    """Let a run stop after its iteration."""
    state = pause_run(call.service.store, call.run_id)
    return StatusReply(state.run_id, state.status)


def stop(call: HttpCall) -> StatusReply:
    """End a run."""
    state = stop_queued(call.service.store, call.service.deps.queue, call.run_id)
    call.service.workers.wake()
    return StatusReply(state.run_id, state.status)


def resume(call: HttpCall) -> StatusReply:
    """Let a run go on; a worker takes it if workers know its kind."""
    state = go_on(call.service.store, call.service.deps.queue, call.run_id)
    call.service.workers.wake()
    return StatusReply(state.run_id, state.status)
