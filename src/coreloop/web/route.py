"""A route: what it takes, who may call it, what it answers. The API's description is made of these."""

import asyncio
import inspect
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

import msgspec
from starlette.concurrency import run_in_threadpool
from starlette.datastructures import QueryParams
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from coreloop.web.bodies import Body, NoQuery
from coreloop.web.caller import Caller
from coreloop.web.keys import ANYONE, ApiKey
from coreloop.web.keys import Scope as KeyScope
from coreloop.web.problems import Problem, leaving
from coreloop.web.service import Service

_MAX_DIGITS: Final = 18
_SENDING_S: Final = 60.0  # chosen: more than a slow phone needs for a page; who reads nothing is let go
_BODY_S: Final = 10.0
"""For a whole body; a client that sends a byte a second gets no more."""


@dataclass(frozen=True, slots=True, kw_only=True)
class HttpCall:
    """A request that was checked.

    Attributes
    ----------
    service : Service
        What all routes share.
    request : Request
        The rest of it.
    key : ApiKey
        Who calls.
    body, query : Any
        Values of the route's types; None if it takes no body.
    last_event_id : int
        The number of the last event that the client has; 0 for none.
    """

    service: Service
    request: Request
    key: ApiKey
    body: Any
    query: Any
    last_event_id: int

    @property
    def caller(self) -> str:
        """Whom limits count."""
        caller: Caller = self.request.scope["coreloop.caller"]
        return caller.name

    @property
    def run_id(self) -> str:
        """The run in the path."""
        return self.path("run_id")

    @property
    def trace_id(self) -> str:
        """Of the request, and of the run that it begins."""
        return str(self.request.scope["coreloop.trace_id"])

    def path(self, name: str) -> str:
        """Return a part of the path."""
        return str(self.request.path_params[name])


Handler = Callable[[HttpCall], Any | Awaitable[Any]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Route:
    """A method and a path.

    Attributes
    ----------
    method, path : str
        As ``GET`` and ``/runs/{run_id}``.
    handler : callable
        A coroutine, or a function for a thread of its own. What it returns is sent as JSON, unless it is a
        `starlette.responses.Response`.
    summary : str
        One line for people.
    scope : str or None
        What a key must allow; None for no key.
    body, query : type
        The body and query of the request.
    reply : type or None
        The type of the JSON; None for another media type, see `media_type`.
    status : int
        The HTTP status of a success.
    also : mapping of int to type or None
        Other responses that are no errors: their statuses, and the types of their JSON.
    media_type : str
        The media type of the response.
    example : mapping or None
        A body that works in every project.
    name : str
        One word for programs; "" for the handler's.
    """

    method: str
    path: str
    handler: Handler
    summary: str
    scope: KeyScope | None = "read"
    body: type[Body] | None = None
    query: type[Body] = NoQuery
    reply: Any = None
    status: int = 200
    also: Mapping[int, Any] = field(default_factory=dict)
    media_type: str = "application/json"
    example: Mapping[str, Any] | None = None
    name: str = ""


class RouteEndpoint:
    """A route of a service as an ASGI application."""

    def __init__(self, route: Route, service: Service) -> None:
        self._route = route
        self._service = service

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Check a request, answer it, and send the response."""
        route, service = self._route, self._service
        request = Request(scope, receive)
        scope["coreloop.route"] = route.path
        key = _authorised(request, service, route.scope) if route.scope else ANYONE
        call = HttpCall(
            service=service,
            request=request,
            key=key,
            body=await _body(request, route.body, service.settings.max_body_bytes),
            query=_query(request.query_params, route.query),
            last_event_id=_event_id(request.headers.get("last-event-id", "0")),
        )
        if service.shutdown.is_set() and route.method == "POST":
            raise leaving()
        response = _response(await _called(route.handler, call), route)
        await send_in_time(response, scope, receive, send)


def _authorised(request: Request, service: Service, scope: KeyScope) -> ApiKey:
    caller: Caller = request.scope["coreloop.caller"]
    key = caller.bearer or (caller.reader if request.method == "GET" else None)
    if key is None:
        service.admission.bad_key(caller.address)
        raise Problem(
            401,
            "no_key",
            "send an API key: Authorization: Bearer KEY",
            headers={"WWW-Authenticate": "Bearer"},
        )
    if scope not in key.scopes:
        raise Problem(403, "scope", f"the API key {key.name} does not allow: {scope}")
    return key


async def _body(request: Request, kind: type[Body] | None, most: int) -> Body | None:
    data = await read_body(request, most)
    if kind is None:
        if data:
            raise Problem(422, "invalid", "this request takes no body")
        return None
    if request.headers.get("content-type", "").partition(";")[0].strip().lower() != "application/json":
        raise Problem(415, "media_type", "send JSON, with Content-Type: application/json")
    try:
        return msgspec.json.decode(data, type=kind)
    except msgspec.ValidationError as error:
        raise Problem(422, "invalid", str(error)) from error
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise Problem(400, "malformed", f"the body is not JSON: {error!s}") from error


async def read_body(request: Request, most: int) -> bytes:
    """Return a body of at most so many bytes that arrives in time.

    Raises
    ------
    Problem
        It is longer or slower, or the connection was closed: 413, 408, 400.
    """
    try:
        async with asyncio.timeout(_BODY_S):
            return await _read(request, most)
    except TimeoutError as error:
        raise Problem(408, "too_slow", "the body did not arrive in time", retryable=True) from error


async def _read(request: Request, most: int) -> bytes:
    data = bytearray()
    try:
        async for piece in request.stream():
            data += piece
            if len(data) > most:
                raise Problem(413, "too_large", f"a body may have {most:,} bytes")
    except ClientDisconnect as error:
        raise Problem(400, "malformed", "the connection was closed before the end of the body") from error
    return bytes(data)


def _query(params: QueryParams, kind: type[Body]) -> Body:
    if len(params.multi_items()) != len(params):
        raise Problem(422, "invalid", "a parameter was given twice")
    try:
        return msgspec.convert(dict(params), kind, strict=False)
    except msgspec.ValidationError as error:
        raise Problem(422, "invalid", str(error)) from error


def _event_id(text: str) -> int:
    if not (text.isascii() and text.isdecimal() and len(text) <= _MAX_DIGITS):
        raise Problem(422, "invalid", "Last-Event-ID is not the id of an event")
    return int(text)


async def _called(handler: Handler, call: HttpCall) -> Any:
    if inspect.iscoroutinefunction(handler):
        return await handler(call)
    return await run_in_threadpool(handler, call)


async def send_in_time(response: Response, scope: Scope, receive: Receive, send: Send) -> None:
    """Send a response to a client that reads it in time; streams look after their clients themselves."""
    is_stream = response.media_type == "text/event-stream"
    try:
        async with asyncio.timeout(None if is_stream else _SENDING_S):
            await response(scope, receive, send)
    except TimeoutError as error:
        raise Problem(408, "too_slow", "the client does not read") from error


def _response(reply: Any, route: Route) -> Response:
    if isinstance(reply, Response):
        return reply
    return Response(msgspec.json.encode(reply), route.status, media_type=route.media_type)
