"""Runs as callers see them: their answers, and what happens to them as server-sent events."""

import asyncio
from collections.abc import AsyncIterator, Coroutine
from contextlib import suppress
from typing import Any, Final, TypeVar

import msgspec
from starlette.concurrency import run_in_threadpool
from starlette.responses import Response
from starlette.types import Message, Receive, Scope, Send

from coreloop.answer.repair.actions import TYPE as SIGNALLED
from coreloop.answer.research.answer import HTTP_STATUS, AgentResponse, ending, respond
from coreloop.answer.research.research_state import ASK as ANSWER
from coreloop.answer.research.research_state import ATTEMPTED, FOUND, READ
from coreloop.answer.research.research_state import KIND as RESEARCH
from coreloop.answer.research.run_searches import SEARCH
from coreloop.base.errors import CoreloopError
from coreloop.base.validation import fields_of
from coreloop.runs import events
from coreloop.runs.events import Event
from coreloop.runs.manage import read_run
from coreloop.runs.state import State
from coreloop.runs.stores.store import Numbered
from coreloop.web.bodies import AskReply
from coreloop.web.problems import Problem, error_response, problem_of
from coreloop.web.service import Service


def answer_in(state: State) -> AgentResponse | AskReply | None:
    """Return the answer of a run, whole or partial; None for a kind of run that answers nothing."""
    if state.kind not in (RESEARCH, ANSWER):
        return None
    answer = respond(state)
    whole: dict[str, Any] = fields_of(answer, *AgentResponse.__slots__)
    # replays know it by the id of its run
    return AskReply(**whole, request_id=answer.run_id) if state.kind == ANSWER else answer


def end_of(service: Service, run_id: str) -> tuple[str, Any]:
    """Return what a stream ends with: ``answer`` and the status and the answer of a run, or ``error``."""
    state = read_run(service.store, run_id)
    if state.status == "failed":
        return "error", error_response(failed(state))
    answer = answer_in(state)
    end = {"run_id": run_id, **fields_of(state, "status", "stop_reason"), "response": answer}
    if answer is not None and answer.error:
        return "error", {"error": answer.error, **end}
    return "answer", end


def final_answer(service: Service, run_id: str) -> AgentResponse | AskReply | Response:
    """Return the answer of an ended run, with the status of its end.

    Raises
    ------
    Problem
        The run has failed.
    """
    state = read_run(service.store, run_id)
    answer = answer_in(state)
    if answer is None or state.status == "failed":
        raise failed(state)
    if answer.error is None:
        return answer
    return Response(msgspec.json.encode(answer), HTTP_STATUS[answer.end], media_type="application/json")


def failed(state: State) -> Problem:
    """Build what a caller gets of a failed run: the kind of the model's error, if it was one."""
    failure = state.failure
    is_retryable = failure.is_retryable if failure.kind else True
    message = f"run {state.run_id} {ending(state)}"
    return Problem(502, failure.kind or "failed", message, retryable=is_retryable)


PING_S: Final = 15.0  # chosen: below the 30 to 60 s after which proxies close a silent stream
_STALLED_S: Final = 60.0
"""After which a client that reads nothing is given up."""
_Result = TypeVar("_Result")
_Sent = tuple[str, Any]
"""The name and the data of a server-sent event."""


async def follow(service: Service, run_id: str, after: int) -> AsyncIterator[Numbered | None]:
    """Yield the events of a run behind a number until it is over; None if nothing happens for a while.

    Raises
    ------
    RunNotFoundError
        There is no such run.
    Problem
        The service shuts down.
    """
    while True:
        batch = await run_in_threadpool(_read, service, run_id, after)
        for numbered in batch:
            after = numbered[0]
            yield numbered
            if isinstance(numbered[1], events.Ended):
                return
        if not batch:
            yield None
        await service.watch.wait(run_id, after, PING_S)


def _read(service: Service, run_id: str, after: int) -> list[Numbered]:
    return list(service.store.read(run_id, after=after))


class EventStream(Response):
    """The events of a run behind a number, until it is over or the client goes.

    Parameters
    ----------
    service : Service
        Has the run.
    run_id : str
        The id of a run that exists.
    after : int
        The number of the last event that the client has.
    """

    media_type = "text/event-stream"

    def __init__(self, service: Service, run_id: str, after: int) -> None:
        super().__init__(headers={"X-Run-Id": run_id, "X-Accel-Buffering": "no"})
        del self.headers["content-length"]
        self._service = service
        self._run_id = run_id
        self._after = after

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send until the run is over, the client is gone or stalls, or the service ends."""
        with suppress(TimeoutError, OSError):
            await unless_closed(receive, self._send(send, scope["coreloop.trace_id"]))

    async def _send(self, send: Send, trace_id: str) -> None:
        await send({"type": "http.response.start", "status": 200, "headers": self.raw_headers})
        try:
            async for numbered in follow(self._service, self._run_id, self._after):
                async with asyncio.timeout(_STALLED_S):
                    await send(_more(await self._encoded(numbered)))
        except (Problem, CoreloopError) as error:  # the service ends, the run was forgotten, or the database
            # without an id, so that the client goes on behind the last event
            await send(_more(_event("error", error_response(problem_of(error, trace_id)))))
        await send({"type": "http.response.body", "body": b""})

    async def _encoded(self, numbered: Numbered | None) -> bytes:
        if numbered is None:
            return b": ping\n\n"
        seq, event = numbered
        if isinstance(event, events.Ended):
            return _frame(seq, *await run_in_threadpool(end_of, self._service, self._run_id))
        sent = _sent(event)
        return _frame(seq, *sent) if sent else b""


async def unless_closed(receive: Receive, working: Coroutine[Any, Any, _Result]) -> _Result | None:
    """Return the result of work that ends when the client closes the connection; None if it does."""
    work, gone = asyncio.ensure_future(working), asyncio.ensure_future(_closed(receive))
    try:
        await asyncio.wait({work, gone}, return_when=asyncio.FIRST_COMPLETED)
        return work.result() if work.done() else None
    finally:
        for task in (work, gone):
            task.cancel()
            with suppress(asyncio.CancelledError, Exception):
                await task


async def _closed(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass


def _more(body: bytes) -> Message:
    return {"type": "http.response.body", "body": body, "more_body": True}


def _frame(seq: int, name: str, data: Any) -> bytes:
    return b"id: %d\n%s" % (seq, _event(name, data))


def _event(name: str, data: Any) -> bytes:
    return b"event: %s\ndata: %s\n\n" % (name.encode(), msgspec.json.encode(data))


def _sent(event: Event) -> _Sent | None:
    """Return what a client sees of an event: at most one server-sent event, so that its number is the id."""
    if isinstance(event, events.StepCommitted):
        return _step(event)
    if isinstance(event, events.Noted):
        return _noted(event)
    if isinstance(event, events.IterationCommitted):
        return "phase", {"phase": "iteration", "iteration": event.iteration}
    if isinstance(event, events.Planned):
        return "phase", {"phase": "planned", "sub_questions": event.sub_questions}
    phase = _PHASES.get(type(event))
    return ("phase", {"phase": phase}) if phase else None


_PHASES: Final[dict[type, str]] = {
    events.Created: "created",
    events.Opened: "working",
    events.Turned: "turned",
    events.Paused: "paused",
    events.Resumed: "resumed",
    events.StopRequested: "stopping",
}


def _step(event: events.StepCommitted) -> _Sent | None:
    if event.name == SEARCH:
        found = event.result
        facts = {name: found.get(name) for name in ("query", "provider", "outcome")}
        return "query", facts | {"results": len(found.get("sources", ()))}
    if event.tokens or event.microusd:
        return "usage", {"step": event.name, "tokens": event.tokens, "usd": event.microusd / 1_000_000}
    return None


def _noted(event: events.Noted) -> _Sent | None:
    if event.name == READ:
        source = event.data["source"]
        fields = {name: source.get(name) for name in ("title", "location", "type", "line", "published")}
        return "source", {"number": event.data["number"]} | fields
    if event.name == FOUND:
        return "finding", {name: event.data.get(name) for name in ("text", "sources", "confidence", "tag")}
    if event.name == ATTEMPTED:
        return "phase", {"phase": "attempt", "number": event.data["number"]}
    if event.name == SIGNALLED:
        return "phase", {"phase": "signal"}
    return None
