"""MCP servers, of the MCP SDK and of FastMCP: a middleware of the server.

    record_calls(server)

A server sees calls, not questions: one record a call, under the hash of the session, if there is one. With
``intent``, the server adds an optional argument ``intent`` to its tools' schemas; what a model writes there
is the question.
"""

import os
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Final
from weakref import WeakKeyDictionary

from coreloop.observe.adapters.plain_values import UNKNOWN_TOOL, rejection_in, said
from coreloop.observe.adapters.requests import AdaptedRequest, Requests
from coreloop.observe.descriptions_in_force import SentTool
from coreloop.observe.drops import drop_error, never_raises

INTENT: Final = "intent"
_SESSIONLESS: Final = "2026-07-28"
INTENT_SCHEMA: Final = {"type": "string", "description": "Why you make this call, in one sentence."}
_MAX_PAGES: Final = 100
"""Of a list of tools, and cursors that are remembered: models are not sent thousands of tools."""
_CALL: Final = 0
"""The id of a request's only call."""


def record_calls(
    server: Any, data_dir: str | os.PathLike[str] | None = None, *, intent: bool = False
) -> None:
    """Record the calls of an MCP server: ``MCPServer``, a low-level ``Server`` or ``FastMCP``.

    Parameters
    ----------
    data_dir : path, optional
        As for `AuditCollector`.
    intent : bool
        Whether to ask models why they make a call. Each tool's schema grows by about 25 tokens, each call by
        the sentence.
    """
    low_level = getattr(server, "_mcp_server", server)  # FastMCP keeps the SDK's server there
    low_level.middleware.append(RecordCalls(Requests(data_dir), intent=intent))


attach = record_calls


class RecordCalls:
    """The middleware of one server."""

    def __init__(self, requests: Requests, *, intent: bool = False) -> None:
        self._requests = requests
        self._intent = intent
        self._tools: dict[str, SentTool] = {}
        self._is_complete = False
        self._before: dict[str, dict[str, SentTool]] = {}
        self._asked_intent: set[str] = set()
        self._sessions: WeakKeyDictionary[Any, str] = WeakKeyDictionary()

    async def __call__(self, ctx: Any, call_next: Any) -> Any:
        if ctx.method == "tools/list":
            return self._listed(ctx, await call_next(ctx))
        if ctx.method != "tools/call":
            return await call_next(ctx)
        params = ctx.params if isinstance(ctx.params, Mapping) else {}
        args = params.get("arguments")
        name, args = str(params.get("name") or "?"), dict(args) if isinstance(args, Mapping) else {}
        if self._intent and INTENT in args and not self._is_complete:
            await self._list(ctx, call_next)
        question = ""
        if name in self._asked_intent and INTENT in args:  # only the record is to have it
            question = args.pop(INTENT)
            ctx = replace(ctx, params={**params, "arguments": args})
        request = self._requests.start(session_id=self._session(ctx))
        self._begin(request, name, dict(args), question)
        try:
            result = await call_next(ctx)
        except BaseException as error:
            _failed(request, name, error)
            raise
        _ended(request, name, result)
        return result

    @never_raises
    def _begin(self, request: AdaptedRequest, name: str, args: dict[str, Any], question: Any) -> None:
        request.ask(str(question or ""))
        request.sent(self._tools.values())
        request.asked(_CALL, name, args)
        request.started(_CALL)

    def _session(self, ctx: Any) -> str | None:
        """The session's id over HTTP, else the connection; from protocol 2026-07-28 on there is neither."""
        try:
            headers = getattr(ctx.request, "headers", None)
            named: str | None = headers.get("mcp-session-id") if headers is not None else None
            if named is not None or headers is not None or ctx.protocol_version >= _SESSIONLESS:
                return named
            return self._sessions.setdefault(ctx.session._connection, os.urandom(8).hex())
        except Exception as error:  # must not disturb the host
            drop_error(error)
            return None

    async def _list(self, ctx: Any, call_next: Any) -> None:
        """Ask the server for its tools: another process of it, or an earlier one, told the model of them."""
        params = {name: value for name, value in ctx.params.items() if name == "_meta"}  # says the protocol
        try:
            for _ in range(_MAX_PAGES):
                page = replace(ctx, method="tools/list", params=params)
                cursor = self._listed(page, await call_next(page)).get("nextCursor")
                if not cursor:
                    return
                params = {**params, "cursor": cursor}
        except Exception as error:  # must not disturb the host
            drop_error(error)

    def _listed(self, ctx: Any, result: Any) -> Any:
        """Keep what the model is sent for the tools; add the argument ``intent`` if it is wanted."""
        if not isinstance(result, dict) or not isinstance(result.get("tools"), list):
            return result
        try:
            tools = [self._with_intent(tool) for tool in result["tools"]]
            self._keep(tools, (ctx.params or {}).get("cursor"), result.get("nextCursor"))
        except Exception as error:  # must not disturb the host
            drop_error(error)
            return result
        return {**result, "tools": tools}

    def _keep(self, tools: list[dict[str, Any]], cursor: str | None, next_cursor: str | None) -> None:
        """Add a page to those before it; once there is no further one, tools of earlier lists are gone."""
        pages = dict(self._before.get(cursor, {})) if cursor else {}
        for tool in tools:
            sent = SentTool(tool["name"], tool.get("description") or "", tool.get("inputSchema"))
            pages[sent.name] = sent
        if not next_cursor:
            self._tools, self._is_complete = pages, True
            return
        self._tools = {**self._tools, **pages}
        self._before.pop(next_cursor, None)
        self._before[next_cursor] = pages
        if len(self._before) > _MAX_PAGES:
            del self._before[next(iter(self._before))]

    def _with_intent(self, tool: dict[str, Any]) -> dict[str, Any]:
        schema = tool.get("inputSchema") or {}
        properties = schema.get("properties") or {}
        if not self._intent or INTENT in properties:  # the tool's own argument stays the tool's
            return tool
        self._asked_intent.add(tool["name"])
        return {**tool, "inputSchema": {**schema, "properties": {**properties, INTENT: INTENT_SCHEMA}}}


@never_raises
def _ended(request: AdaptedRequest, name: str, result: Any) -> None:
    if not isinstance(result, Mapping):
        request.answered(_CALL)
    elif result.get("isError"):
        request.answered(_CALL, error=_error(name, said(result.get("content"))))
    else:
        request.answered(_CALL, result.get("structuredContent") or said(result.get("content")))
    request.end()


@never_raises
def _failed(request: AdaptedRequest, name: str, error: BaseException) -> None:
    is_told = isinstance(error, Exception)
    request.answered(_CALL, error=_error(name, str(error)) if is_told and str(error) else error)
    request.end(error=None if is_told else error)


def _error(name: str, text: str) -> str:
    if text in {f"Unknown tool: {name}", f"Unknown tool: {name!r}"}:
        return UNKNOWN_TOOL
    return rejection_in(text) or text.removeprefix(f"Error executing tool {name}: ") or "failed"
