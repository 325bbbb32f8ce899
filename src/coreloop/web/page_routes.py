"""The pages of a service: sign-in, pages by section, and the forms behind their buttons."""

import time
from collections.abc import Callable, Mapping
from dataclasses import replace
from hashlib import sha256
from typing import Any, Final
from urllib.parse import parse_qsl, unquote

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response
from starlette.types import Receive, Scope, Send

from coreloop.answer.repair.feedback import MAX_REASON_CHARS
from coreloop.answer.research.run import MAX_QUESTION_CHARS
from coreloop.base.errors import UsageError
from coreloop.web.keys import COOKIE, LASTS_S, ApiKey, Caller, find_key
from coreloop.web.pages.ask import read_ask
from coreloop.web.pages.page_data import PageSection, PageSource
from coreloop.web.pages.render import ASSETS, ROOT, SECTIONS, Frame, asset, first_section, render
from coreloop.web.problems import Problem, problem_of
from coreloop.web.route import read_body, send_in_time, submit
from coreloop.web.service import Service

_BY_NAME: Final = {section.name: section for section in SECTIONS}
_POLICY: Final = (
    "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self'; connect-src 'self'; "
    "form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)
_HEADERS: Final = {"Content-Security-Policy": _POLICY, "Referrer-Policy": "same-origin"}
_SEE_OTHER: Final = 303
_MOVED: Final = {"changes": "health", "errors": "tools", "work": "health"}
"""Earlier sections, and those that have them now."""
_MAX_SEARCH_CHARS: Final = 200
_LENGTH: Final = f"a question has 1 to {MAX_QUESTION_CHARS:,} characters"
_Form = Mapping[str, str]


def _rejection(form: _Form) -> dict[str, Any]:
    reason = f"{form.get('sentence', '')}\n{form.get('reason', '')}".strip()
    return {"id": form.get("id", ""), "value": "down", "reason": reason[:MAX_REASON_CHARS]}


# Buttons below "ask" -> the route of the API that does the same, and its body.
_API: Final[Mapping[str, tuple[str, Callable[[_Form], dict[str, Any]]]]] = {
    "ask": ("ask", lambda form: {"question": " ".join(form.get("question", "").split()), "async": True}),
    "deeper": (
        "run",
        lambda form: {"task": form.get("question", ""), "session": form.get("id", ""), "async": True},
    ),
    "right": ("feedback", lambda form: {"id": form.get("id", ""), "value": "up"}),
    "wrong": ("feedback", _rejection),
}


class Pages:
    """The ASGI application below `ROOT`.

    Parameters
    ----------
    service : Service
        What all routes share.
    """

    def __init__(self, service: Service) -> None:
        self._service = service

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request for a page; errors are pages, too."""
        scope["coreloop.route"] = ROOT
        request = Request(scope, receive)
        caller: Caller = scope["coreloop.caller"]
        frame = self._frame(request, caller.reader)
        try:
            response = await self._respond(request, caller.reader, frame)
        except Exception as error:
            problem = problem_of(error, scope["coreloop.trace_id"])
            response = _page("error.html", frame, {"problem": problem}, problem.status)
        await send_in_time(response, scope, receive, send)

    async def _respond(self, request: Request, reader: ApiKey | None, frame: Frame) -> Response:
        parts = _parts(request.scope)
        if parts[0] == "static":
            return _asset(parts[1:])
        if parts == ("sign-in",):
            return await self._signing_in(request, frame)
        if reader is None:
            return RedirectResponse(f"{ROOT}sign-in", _SEE_OTHER)
        if request.method == "POST":
            return await self._post(request, reader, frame, parts)
        if "read" not in reader.scopes:
            raise Problem(403, "scope", f"the API key {reader.name} does not allow: read")
        search = request.query_params.get("q", "")[:_MAX_SEARCH_CHARS]
        return await run_in_threadpool(self._get, frame, parts, replace(self._service.source, search=search))

    def _get(self, frame: Frame, parts: tuple[str, ...], source: PageSource) -> Response:
        if parts == ("",) or parts[0] in _MOVED:
            name = _MOVED.get(parts[0]) or first_section(source).name
            return RedirectResponse(frame.href(name), _SEE_OTHER)
        section = _section(parts)
        if len(parts) == 1:
            return _page(f"{section.name}.html", frame, section.read(source))
        view = section.read_item(source, parts[1]) if len(parts) == 2 else None
        if view is None:
            raise Problem(404, "not_found", "there is no such page")
        return _page(section.item, frame, view)

    async def _post(self, request: Request, reader: ApiKey, frame: Frame, parts: tuple[str, ...]) -> Response:
        form = await self._form(request)
        if not self._service.sign_in.is_own(reader, form.get("csrf", "")):
            raise Problem(403, "form", "the form is too old; load the page again")
        if parts == ("sign-out",):
            response = RedirectResponse(f"{ROOT}sign-in", _SEE_OTHER)
            response.delete_cookie(COOKIE, path="/")
            return response
        if parts[0] == "ask" and parts[1:] and parts[1] in _API:
            name, body_of = _API[parts[1]]
            if form.get("once"):  # what is sent twice begins one run
                request.scope["coreloop.once"] = sha256(repr(form).encode("utf-8", "replace")).hexdigest()
            try:
                run_id = await submit(name, body_of(form), request, self._service, reader)
            except (Problem, UsageError) as error:
                if name != "ask" or getattr(error, "kind", "invalid") != "invalid":
                    raise
                said = str(error) if isinstance(error, UsageError) else _LENGTH
                unsent = {"problem": said, "question": form.get("question", "")}
                view = await run_in_threadpool(read_ask, self._service.source)
                return _page("ask.html", frame, {**view, **unsent}, 422)
            return RedirectResponse(frame.href("ask", run_id or form["id"]), _SEE_OTHER)
        action = _section(parts).actions.get(parts[1]) if len(parts) == 2 else None
        if action is None:
            raise Problem(404, "not_found", "there is no such button")
        if action.scope not in reader.scopes:
            raise Problem(403, "scope", f"your API key does not allow: {action.scope}")
        shown = await run_in_threadpool(action.run, self._service.source, form, reader.name)
        self._service.workers.wake()
        return RedirectResponse(frame.href(*shown), _SEE_OTHER)

    async def _signing_in(self, request: Request, frame: Frame) -> Response:
        if request.method != "POST":
            return _page("sign_in.html", frame, {"is_wrong": False})
        key = find_key(self._service.keys, (await self._form(request)).get("key", "").strip())
        if key is None:
            self._service.admission.bad_key(request.scope["coreloop.caller"].address)
            return _page("sign_in.html", frame, {"is_wrong": True}, 403)
        response = RedirectResponse(ROOT, _SEE_OTHER)
        cookie = self._service.sign_in.cookie(key, now=time.time())
        is_secure = request.headers.get("origin", "").startswith("https:")
        response.set_cookie(
            COOKIE, cookie, LASTS_S, path="/", httponly=True, samesite="strict", secure=is_secure
        )
        return response

    async def _form(self, request: Request) -> dict[str, str]:
        data = await read_body(request)
        return dict(parse_qsl(data.decode("utf-8", "replace"), keep_blank_values=True))

    def _frame(self, request: Request, reader: ApiKey | None) -> Frame:
        scopes = reader.scopes if reader else frozenset[str]()
        return Frame(
            section=_parts(request.scope)[0],
            reader=reader.name if reader else "",
            may_run="run" in scopes,
            may_review="review" in scopes,
            csrf=self._service.sign_in.token(reader) if reader else "",
        )


def _section(parts: tuple[str, ...]) -> PageSection:
    section = _BY_NAME.get(parts[0])
    if section is None:
        raise Problem(404, "not_found", "there is no such page")
    return section


def _page(template: str, frame: Frame, view: Mapping[str, Any], status: int = 200) -> Response:
    return HTMLResponse(render(template, frame, view), status, _HEADERS)


def _asset(parts: tuple[str, ...]) -> Response:
    kind = ASSETS.get("/".join(parts))
    if kind is None:
        raise Problem(404, "not_found", "there is no such file")
    return Response(asset(parts[0]), media_type=kind)


def _parts(scope: Scope) -> tuple[str, ...]:
    """Return the parts of the path below `ROOT`, "" for none; a name may have an escaped slash."""
    path = scope["raw_path"].decode("ascii", "replace").removeprefix(ROOT)
    return tuple(unquote(part) for part in path.split("/") if part) or ("",)
