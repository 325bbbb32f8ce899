"""A route: what it takes, who may call it, what it answers; and the description of the API, made of these."""

import asyncio
import inspect
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from http import HTTPStatus
from typing import Any, Final, get_type_hints

import msgspec
from starlette.concurrency import run_in_threadpool
from starlette.datastructures import QueryParams
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from coreloop import __version__
from coreloop.answer.models.contracts import ErrorResponse
from coreloop.web.bodies import Body, NoQuery
from coreloop.web.keys import ANYONE, ApiKey, Caller
from coreloop.web.keys import Scope as KeyScope
from coreloop.web.problems import Problem, leaving
from coreloop.web.service import Door, Service

JSON: Final = "application/json"
_MAX_DIGITS: Final = 18
_SENDING_S: Final = 60.0  # chosen: more than a slow phone needs for a page; who reads nothing is let go
_BODY_S: Final = 10.0
_BODY_BYTES: Final = 100_000  # chosen: the longest question has a tenth of it
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

    def path(self, name: str) -> str:
        """Return a part of the path."""
        return str(self.request.path_params[name])


Handler = Callable[..., Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Route:
    """A method and a path; types and summary are those of the handler, see `route`."""

    method: str
    path: str
    handler: Handler
    name: str
    summary: str
    scope: KeyScope | None
    body: type[Body] | None
    query: type[Body]
    reply: Any
    also: Mapping[int, Any]
    media_type: str
    example: Mapping[str, Any] | None


ROUTES: Final[list[Route]] = []


def route(
    method: str,
    path: str,
    *,
    scope: KeyScope | None = "read",
    also: Mapping[int, Any] | None = None,
    media_type: str = JSON,
    example: Mapping[str, Any] | None = None,
    name: str = "",
) -> Callable[[Handler], Handler]:
    """Make a function a route.

    Its parameters ``body`` and ``query`` are what the request has, its return type is the JSON of the reply
    (`starlette.responses.Response` for none), the first line of its docstring is the summary.

    Parameters
    ----------
    method, path : str
        As ``GET`` and ``/runs/{run_id}``.
    scope : str or None
        What a key must allow; None for no key.
    also : mapping of int to type or None
        Other responses that are no errors: their statuses, and the types of their JSON.
    media_type : str
        The media type of the response.
    example : mapping or None
        A body that works in every project.
    name : str
        One word for programs; "" for the handler's.
    """

    def add(handler: Handler) -> Handler:
        types = get_type_hints(handler)
        reply = types["return"]
        added = Route(
            method=method,
            path=path,
            handler=handler,
            name=name or handler.__name__,
            summary=(handler.__doc__ or "").partition("\n")[0],
            scope=scope,
            body=types.get("body"),
            query=types.get("query", NoQuery),
            reply=None if reply is Response else reply,
            also=also or {},
            media_type=media_type,
            example=example,
        )
        ROUTES.append(added)
        return handler

    return add


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
        key = authorised(request, service, route.scope) if route.scope else ANYONE
        call = HttpCall(
            service=service,
            request=request,
            key=key,
            body=await _body(request, route.body),
            query=_query(request.query_params, route.query),
            last_event_id=_event_id(request.headers.get("last-event-id", "0")),
        )
        if service.shutdown.is_set() and route.method == "POST":
            raise leaving()
        reply = await _called(route, call)
        if not isinstance(reply, Response):
            reply = Response(msgspec.json.encode(reply), media_type=route.media_type)
        await send_in_time(reply, scope, receive, send)


def authorised(request: Request, service: Door, scope: KeyScope) -> ApiKey:
    """Return the key of a request.

    Raises
    ------
    Problem
        It has none, or one that does not allow the scope: 401, 403.
    """
    caller: Caller = request.scope["coreloop.caller"]
    key = caller.bearer or (caller.reader if request.method == "GET" else None)
    if key is None:
        service.admission.bad_key(caller.address)
        asked = {"WWW-Authenticate": "Bearer"}
        raise Problem(401, "no_key", "send an API key: Authorization: Bearer KEY", headers=asked)
    if scope not in key.scopes:
        raise Problem(403, "scope", f"the API key {key.name} does not allow: {scope}")
    return key


async def _body(request: Request, kind: type[Body] | None) -> Body | None:
    data = await read_body(request)
    if kind is None and not data.strip():
        return None
    media_type = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind is not None and media_type != JSON:
        raise Problem(415, "media_type", "send JSON, with Content-Type: application/json")
    try:
        fields = msgspec.json.decode(data, type=dict[str, Any])
    except msgspec.ValidationError as error:
        raise Problem(422, "invalid", str(error)) from error
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise Problem(400, "malformed", f"the body is not JSON: {error}") from error
    return _converted({name: _integral(value) for name, value in fields.items()}, kind or NoQuery)


def _integral(value: Any) -> Any:
    """10.0 is an integer in JSON Schema, and 10 is a number."""
    return int(value) if isinstance(value, float) and value.is_integer() else value


async def read_body(request: Request, max_bytes: int = _BODY_BYTES) -> bytes:
    """Return a body of a largest size that arrives in time.

    Raises
    ------
    Problem
        It is longer or slower, or the connection was closed: 413, 408, 400.
    """
    data = bytearray()
    try:
        async with asyncio.timeout(_BODY_S):
            async for piece in request.stream():
                data += piece
                if len(data) > max_bytes:
                    raise Problem(413, "too_large", f"a body may have {max_bytes:,} bytes")
    except TimeoutError as error:
        raise Problem(408, "too_slow", "the body did not arrive in time", retryable=True) from error
    except ClientDisconnect as error:
        raise Problem(400, "malformed", "the connection was closed before the end of the body") from error
    return bytes(data)


def _query(params: QueryParams, kind: type[Body]) -> Body:
    if len(params.multi_items()) != len(params):
        raise Problem(422, "invalid", "a parameter was given twice")
    return _converted(dict(params), kind, strict=False)


def _converted(fields: Mapping[str, Any], kind: type[Body], *, strict: bool = True) -> Body:
    try:
        return msgspec.convert(fields, kind, strict=strict)
    except msgspec.ValidationError as error:
        raise Problem(422, "invalid", str(error)) from error


async def submit(
    name: str, fields: Mapping[str, Any], request: Request, service: Service, key: ApiKey
) -> str:
    """Call a route as the form of a page does, with all that holds for programs.

    Returns
    -------
    str
        The run that it began; "" for none.

    Raises
    ------
    Problem
        The key does not allow it, a field is invalid, or a limit is reached.
    """
    route = next(route for route in ROUTES if route.name == name)
    if route.scope not in key.scopes:
        raise Problem(403, "scope", f"your API key does not allow: {route.scope}")
    body = _converted(fields, route.body or NoQuery)
    if service.shutdown.is_set():
        raise leaving()
    call = HttpCall(service=service, request=request, key=key, body=body, query=None, last_event_id=0)
    await _called(route, call)
    return str(request.scope.get("coreloop.run_id", ""))


def _event_id(text: str) -> int:
    if not (text.isascii() and text.isdecimal() and len(text) <= _MAX_DIGITS):
        raise Problem(422, "invalid", "Last-Event-ID is not the id of an event")
    return int(text)


async def _called(route: Route, call: HttpCall) -> Any:
    given = {"body": call.body} if route.body else {"query": call.query} if route.query is not NoQuery else {}
    if inspect.iscoroutinefunction(route.handler):
        return await route.handler(call, **given)
    return await run_in_threadpool(route.handler, call, **given)


async def send_in_time(response: Response, scope: Scope, receive: Receive, send: Send) -> None:
    """Send a response to a client that reads it in time; streams look after their clients themselves."""
    is_stream = response.media_type == "text/event-stream"
    try:
        async with asyncio.timeout(None if is_stream else _SENDING_S):
            await response(scope, receive, send)
    except TimeoutError as error:
        raise Problem(408, "too_slow", "the client does not read") from error


_REF: Final = "#/components/schemas/{name}"
_INTRO: Final = """\
Questions about a project, answered with citations. Errors are an ErrorResponse with one sentence. Unknown
fields and parameters are refused by name. Timestamps are in UTC. A response has the header X-Trace-Id.
"""
_KEY_HEADER: Final = {
    "name": "Idempotency-Key",
    "in": "header",
    "description": "A request with the key of an earlier one, within a day, gets the run of the earlier one.",
    "schema": {"type": "string", "minLength": 1, "maxLength": 200, "pattern": "^[ -~]+$"},
}
_LAST_ID: Final = {
    "name": "Last-Event-ID",
    "in": "header",
    "description": "The id of the last event that the client has.",
    "schema": {"type": "string", "pattern": "^[0-9]{1,18}$"},
}


def describe(routes: Sequence[Route]) -> dict[str, Any]:
    """Build an OpenAPI 3.1 document.

    Returns
    -------
    dict
        JSON. Every route with a body or a parameter in its path has an example.
    """
    types = {
        ErrorResponse,
        *(kind for route in routes for kind in (route.body, route.reply, *route.also.values()) if kind),
    }
    ordered = sorted(types, key=lambda kind: kind.__name__)
    schemas, components = msgspec.json.schema_components(ordered, ref_template=_REF)
    named = dict(zip(ordered, schemas, strict=True))
    paths: dict[str, dict[str, Any]] = {}
    for route in routes:
        paths.setdefault(route.path, {})[route.method.lower()] = _operation(route, named)
    return {
        "openapi": "3.1.0",
        "info": {"title": "coreloop", "version": __version__, "description": _INTRO},
        "paths": paths,
        "components": {
            "schemas": components,
            "securitySchemes": {"key": {"type": "http", "scheme": "bearer"}},
        },
    }


def _operation(route: Route, schemas: Mapping[Any, Any]) -> dict[str, Any]:
    operation: dict[str, Any] = {
        "summary": route.summary,
        "operationId": route.name,
        "parameters": list(_parameters(route)),
        "responses": _responses(route, schemas),
        "security": [{"key": []}, {}] if route.scope else [{}],
    }
    if route.scope:
        operation["description"] = f"A key needs the scope `{route.scope}`."
    if route.body:
        content = {"schema": schemas[route.body], "example": dict(route.example or {})}
        operation["requestBody"] = {"required": True, "content": {JSON: content}}
    return operation


def _responses(route: Route, schemas: Mapping[Any, Any]) -> dict[str, Any]:
    content = {"schema": schemas[route.reply]} if route.reply else {}
    media_types: dict[str, Any] = {route.media_type.partition(";")[0]: content}
    if "stream" in _fields(route):
        media_types["text/event-stream"] = {}
    others = {
        str(status): _described(status, {JSON: {"schema": schemas[kind]}} if kind else {})
        for status, kind in route.also.items()
    }
    problem = {"description": "An error.", "content": {JSON: {"schema": schemas[ErrorResponse]}}}
    return {"200": _described(200, media_types), **others, "default": problem}


def _described(status: int, content: Mapping[str, Any]) -> dict[str, Any]:
    return {"description": HTTPStatus(status).phrase, **({"content": content} if content else {})}


def _fields(route: Route) -> Sequence[str]:
    return route.body.__struct_fields__ if route.body else ()


def _parameters(route: Route) -> Iterator[dict[str, Any]]:
    for name in re.findall(r"\{(\w+)\}", route.path):
        yield {"name": name, "in": "path", "required": True, "schema": {"type": "string"}}
    _, components = msgspec.json.schema_components([route.query])
    for name, schema in components[route.query.__name__]["properties"].items():
        yield {"name": name, "in": "query", "schema": schema}
    if "async_" in _fields(route):
        yield _KEY_HEADER
    if route.media_type == "text/event-stream" or "stream" in _fields(route):
        yield _LAST_ID
