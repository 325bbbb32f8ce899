"""The routes of the service, and what every request passes first."""

import time
from collections.abc import Callable
from contextlib import nullcontext
from secrets import token_hex
from typing import Final
from urllib.parse import urlsplit

from starlette.datastructures import Headers
from starlette.middleware.cors import CORSMiddleware
from starlette.requests import Request
from starlette.responses import RedirectResponse
from starlette.routing import Route as StarletteRoute
from starlette.routing import Router
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from coreloop.observe.importers.received import Receiver
from coreloop.web import api as _api  # noqa: F401 - its decorators fill ROUTES
from coreloop.web.keys import ANYONE, COOKIE, Caller, client_address, find_key
from coreloop.web.metrics import known_method
from coreloop.web.page_routes import Pages
from coreloop.web.pages.render import ROOT
from coreloop.web.problems import Problem, log, problem_of, problem_response
from coreloop.web.route import ROUTES, RouteEndpoint
from coreloop.web.service import Door, Service
from coreloop.web.traces import PATH, TracesEndpoint

_METHODS: Final = ("GET", "POST")
_HEADERS: Final = ("Authorization", "Content-Type", "Idempotency-Key", "Last-Event-ID")
_PROBES: Final = frozenset({"/healthz", "/readyz"})
"""Asked by what runs the process, under an address of its own, and however busy callers keep the service."""
_QUIET: Final = _PROBES | {"/metrics", PATH}


def build_app(service: Service) -> ASGIApp:
    """Build the ASGI application of a service."""
    routes = [
        StarletteRoute(route.path, RouteEndpoint(route, service), methods=[route.method]) for route in ROUTES
    ]
    pages = Pages(service)
    routes += [
        StarletteRoute("/", RedirectResponse(ROOT, 303), methods=["GET"]),
        StarletteRoute("/ui/{path:path}", pages, methods=_METHODS),
        StarletteRoute(PATH, TracesEndpoint(service.receiver, service), methods=["POST"]),
    ]
    front = _Front(Router(routes, redirect_slashes=False), service)
    if not service.origins:
        return front
    return CORSMiddleware(
        front, allow_origins=service.origins, allow_methods=_METHODS, allow_headers=_HEADERS
    )


def build_receiver(receiver: Receiver, door: Door) -> ASGIApp:
    """Build the ASGI application that only takes spans."""
    route = StarletteRoute(PATH, TracesEndpoint(receiver, door), methods=["POST"])
    return _Front(Router([route], redirect_slashes=False), door)


class _Front:
    """Checks and counts a request before it is routed, turns errors into responses, and notes each once."""

    def __init__(self, router: ASGIApp, service: Door) -> None:
        self._router = router
        self._service = service

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        headers = Headers(scope=scope)
        scope["coreloop.trace_id"] = trace_id = _trace_id(headers)
        scope["app"] = self  # so that the router raises instead of answering in plain text
        started = time.monotonic()
        # readers may disagree where a chunked body ends: what follows it is no request
        is_last = self._service.shutdown.is_set if "transfer-encoding" not in headers else lambda: True
        sent = _Sent(send, trace_id, is_last=is_last)
        try:
            await self._admit(scope, receive, sent)
        except Exception as error:
            problem = problem_of(error, trace_id)
            if sent.status == 0:
                await problem_response(problem)(scope, receive, sent)
        finally:
            self._note(scope, sent.status, time.monotonic() - started, trace_id)

    async def _admit(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Count a request of a caller, check it, and route it."""
        if scope["path"] in _PROBES:
            await self._router(scope, receive, send)
            return
        scope["coreloop.caller"] = caller = _identify(Request(scope), self._service)
        scope["coreloop.key"] = caller.key.name if caller.key else ""
        admission = self._service.admission.request(caller.name)
        with nullcontext() if scope["path"] == PATH else admission:  # some exporters send each span alone
            self._check(scope)
            await self._router(scope, receive, send)

    def _check(self, scope: Scope) -> None:
        """Refuse other names of this host (DNS rebinding), and pages of other sites."""
        headers = Headers(scope=scope)
        if _host(headers.get("host", "")) not in self._service.hosts:
            raise Problem(421, "host", "the Host header is no name of this service; see service: hosts")
        origin = headers.get("origin")
        if origin is None or origin in self._service.origins:
            return
        if scope["method"] != "GET" and origin.partition("://")[2] != headers.get("host"):
            raise Problem(
                403, "origin", "pages of this origin may not call the service; see service: origins"
            )

    def _note(self, scope: Scope, status: int, seconds: float, trace_id: str) -> None:
        route = scope.get("coreloop.route", "")
        method = known_method(scope["method"])
        self._service.metrics.request(route, method, status, seconds)
        if route in _QUIET and status < 400:
            return
        log(
            "request",
            method=method,
            route=route,
            status=status,
            ms=round(seconds * 1000, 1),
            key=scope.get("coreloop.key", ""),
            run_id=scope.get("coreloop.run_id", ""),
            trace_id=trace_id,
        )


class _Sent:
    """Passes a response on, with headers of ours, and remembers its status."""

    def __init__(self, send: Send, trace_id: str, *, is_last: Callable[[], bool]) -> None:
        self._send = send
        self._trace_id = trace_id
        self._is_last = is_last
        self.status = 0

    async def __call__(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            self.status = message["status"]
            own = {
                "X-Trace-Id": self._trace_id,
                "Cache-Control": "no-store",
                "X-Content-Type-Options": "nosniff",
            }
            if self._is_last():  # so that the client does not use the connection again
                own["Connection"] = "close"
            raw = [(name.lower().encode(), value.encode()) for name, value in own.items()]
            message = {**message, "headers": [*message.get("headers", ()), *raw]}
        await self._send(message)


def _host(name: str) -> str:
    """Return a Host header without its port; "" for what is no host."""
    try:
        return urlsplit(f"//{name}").hostname or ""
    except ValueError:
        return ""


def _trace_id(headers: Headers) -> str:
    """Return the trace id of a ``traceparent`` header, or a new one."""
    parts = headers.get("traceparent", "").split("-")
    given = parts[1] if len(parts) == 4 else ""
    is_valid = len(given) == 32 and all(char in "0123456789abcdef" for char in given)
    return given if is_valid else token_hex(16)


def _identify(request: Request, service: Door) -> Caller:
    """Find out who sends a request."""
    address = client_address(request.client.host) if request.client else ""
    if not service.keys:
        return Caller(address, ANYONE, ANYONE)
    kind, _, secret = request.headers.get("authorization", "").partition(" ")
    bearer = find_key(service.keys, secret.strip()) if kind.lower() == "bearer" else None
    reader = service.sign_in.reader(request.cookies.get(COOKIE, ""), now=time.time())
    return Caller(address, bearer, reader)
