"""Spans of exporters: ``POST /v1/traces``, answered as the protocol says."""

import asyncio
import time
import zlib
from typing import Final

import orjson
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from coreloop.base.errors import UsageError, WorkspaceError
from coreloop.base.text import printable
from coreloop.observe.importers.otlp_http import PROTOBUF, spans_in, trace_service
from coreloop.observe.importers.received import UNFINISHED_S, Receiver
from coreloop.observe.reading.outcome import CAPTURES
from coreloop.web.problems import Problem, leaving, log, log_bug, problem_of
from coreloop.web.route import JSON, authorised, read_body, send_in_time
from coreloop.web.service import Door

PATH: Final = "/v1/traces"
MAX_BYTES: Final = 64 << 20
"""Of a body, decompressed: a collector sends some 8,192 spans at once, each with up to a conversation."""
_AT_ONCE: Final = 2  # chosen: each body may take `MAX_BYTES`, and some times as much while it is read
EVERY_S: Final = 1.0
_AGAIN_S: Final = 30.0
"""After an error: a full disk is not told of each second."""

_CAPTURED_BY: Final = (
    ("azure.", "AZURE_TRACING_GEN_AI_CONTENT_RECORDING_ENABLED=true"),
    ("agent_framework", "ENABLE_SENSITIVE_DATA=true"),
    ("ai ", "experimental_telemetry: {recordInputs: true, recordOutputs: true}"),
    ("gcp.vertex.agent", "ADK_CAPTURE_MESSAGE_CONTENT_IN_SPANS=true"),
    ("openinference.", "no OPENINFERENCE_HIDE_INPUTS or OPENINFERENCE_HIDE_OUTPUTS"),
    ("pydantic-ai", "InstrumentationSettings(include_content=True)"),
    ("semantic_kernel", "SEMANTICKERNEL_EXPERIMENTAL_GENAI_ENABLE_OTEL_DIAGNOSTICS_SENSITIVE=true"),
    ("", f"{CAPTURES}=true, or what its documentation names"),
)
"""How instrumentations name their scopes, and what lets each send what models and tools are told."""


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
        except Exception as error:  # answered in the protocol's form; a bug is logged by `problem_of`
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


def decompressed(body: bytes, coding: str) -> bytes:
    """Return a body without its ``Content-Encoding``.

    Raises
    ------
    UsageError
        It is damaged, larger than `MAX_BYTES`, or of another coding than gzip.
    """
    if coding in {"", "identity"}:
        return body
    if coding != "gzip":
        raise UsageError("Content-Encoding may be gzip or absent")
    decompressor = zlib.decompressobj(16 + zlib.MAX_WBITS)  # gzip
    try:
        data = decompressor.decompress(body, MAX_BYTES)
    except zlib.error as error:
        raise UsageError("the body is not gzip, as its Content-Encoding says") from error
    if not decompressor.eof:
        raise UsageError(f"the body is cut, or has more than {MAX_BYTES:,} bytes without gzip")
    return data


def reply(media_type: str, *, rejected: int = 0, message: str = "") -> bytes:
    """Return the body of a response: of success, or what was not kept, or a ``Status`` with an error.

    A ``Status`` has its message where a partial success has it, and no count.
    """
    if media_type == PROTOBUF:
        service = trace_service()
        partial = service.ExportTracePartialSuccess(rejected_spans=rejected, error_message=message)
        answer = service.ExportTraceServiceResponse(partial_success=partial) if rejected else partial
        return bytes(answer.SerializeToString()) if message else b""
    if not rejected:
        return orjson.dumps({"message": message} if message else {})
    return orjson.dumps({"partialSuccess": {"rejectedSpans": str(rejected), "errorMessage": message}})


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
        for scope in receiver.silent - receiver.heard - told:
            told.add(scope)
            setting = next(text for name, text in _CAPTURED_BY if f"{scope.lower()} ".startswith(name))
            log("no content", scope=printable(scope[:200]), captured_by=setting)
