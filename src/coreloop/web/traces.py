"""Spans of exporters: ``POST /v1/traces``, answered as the protocol says."""

import asyncio
import time
from typing import Final

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from coreloop.base.errors import UsageError, WorkspaceError
from coreloop.base.text import printable
from coreloop.observe.importers.otlp_http import JSON, MAX_BYTES, PROTOBUF, decompressed, reply, spans_in
from coreloop.observe.importers.received import UNFINISHED_S, Receiver
from coreloop.web.problems import Problem, leaving, log, log_bug, problem_of
from coreloop.web.route import authorised, read_body, send_in_time
from coreloop.web.service import Door

PATH: Final = "/v1/traces"
_AT_ONCE: Final = 2  # chosen: each body may take `MAX_BYTES`, and some times as much while it is read
EVERY_S: Final = 1.0
_AGAIN_S: Final = 30.0
"""After an error: a full disk is not told of each second."""


class TracesEndpoint:
    """The route as an ASGI application: spans that it acknowledges are on disk."""

    def __init__(self, receiver: Receiver, door: Door) -> None:
        self._receiver, self._door = receiver, door
        self._turn = asyncio.Semaphore(_AT_ONCE)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Keep the spans of a request, and answer in its own encoding."""
        request = Request(scope, receive)
        scope["coreloop.route"] = PATH
        media_type = request.headers.get("content-type", "").partition(";")[0].strip().lower()
        try:
            rejected, message = await self._take(request, media_type)
            status, headers = 200, dict[str, str]()
        except Exception as error:
            malformed = Problem(400, "malformed", str(error)) if isinstance(error, UsageError) else error
            problem = problem_of(malformed, scope["coreloop.trace_id"])
            status, headers, rejected, message = problem.status, problem.headers, 0, problem.message
        media_type = media_type if media_type == PROTOBUF else JSON
        content = reply(media_type, rejected=rejected, message=message)
        await send_in_time(Response(content, status, headers, media_type), scope, receive, send)

    async def _take(self, request: Request, media_type: str) -> tuple[int, str]:
        authorised(request, self._door, "record")
        if media_type not in {JSON, PROTOBUF}:
            raise Problem(415, "media_type", f"send {JSON} or {PROTOBUF}")
        if self._door.shutdown.is_set():
            raise leaving()
        coding = request.headers.get("content-encoding", "").strip().lower()
        async with self._turn:
            body = await read_body(request, max_bytes=MAX_BYTES)
            return await run_in_threadpool(self._keep, body, coding, media_type)

    def _keep(self, body: bytes, coding: str, media_type: str) -> tuple[int, str]:
        spans = spans_in(decompressed(body, coding), media_type)
        return self._receiver.add(spans, now_s=time.time())


def write_records(receiver: Receiver, door: Door) -> None:
    """Write the records of quiet traces, and of all when the service ends; a full disk only delays them."""
    told, wait_s, is_over = set[str](), EVERY_S, False
    while not is_over:
        is_over = door.shutdown.wait(wait_s)
        wait_s = EVERY_S
        try:
            for report in receiver.write_records(now_s=time.time() + is_over * UNFINISHED_S):
                log("traces", added=report.added, corrected=report.corrected, skipped=report.skipped)
        except WorkspaceError as error:
            log("error", error=str(error))
            wait_s = _AGAIN_S
        except Exception:  # a thread that ended would be missing until the next start
            log_bug("")
        for scope in receiver.silent.keys() - told:
            told.add(scope)
            log("no content", scope=printable(scope), captured_by=receiver.silent[scope])
