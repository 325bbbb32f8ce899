"""MCP servers, of the MCP SDK and of FastMCP: a middleware of the server.

    record_calls(server)

A server sees calls, not questions: one record a call, under the hash of the session, if there is one.
"""

import os
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final
from weakref import WeakKeyDictionary

from coreloop.observe.adapters.plain_values import UNKNOWN_TOOL, rejection_in, said, sent_tools
from coreloop.observe.adapters.requests import AdaptedRequest, DataDir
from coreloop.observe.descriptions_in_force import SentTool
from coreloop.observe.drops import drop_error, never_raises
from coreloop.observe.log_settings import RECORDS, folder_of, log_settings

_SESSIONLESS: Final = "2026-07-28"
# The id of a request's only call.
_CALL: Final = 0


def record_calls(server: Any, data_dir: DataDir = None) -> None:
    """Record the calls of an MCP server: ``MCPServer``, a low-level ``Server`` or ``FastMCP``.

    A second call only changes where to.

    Parameters
    ----------
    data_dir : path, optional
        As for `AuditCollector`. Since the host chooses a server's working directory, the project of the
        server's script counts where no coreloop.yaml is above it.
    """
    script = Path(getattr(sys.modules["__main__"], "__file__", None) or os.sep).resolve()
    folders = (*Path(folder_of(None)[0], "x").parents, *script.parents)
    root = next((folder for folder in folders if (folder / "coreloop.yaml").is_file()), None)
    if data_dir is None and root is not None and (settings := log_settings(str(root), False, RECORDS)):
        data_dir = settings.journal.folder.parents[1]
    low_level = getattr(server, "_mcp_server", server)  # FastMCP keeps the SDK's server there
    package = type(server).__module__.partition(".")[0]
    recording = RecordCalls(data_dir, "fastmcp" if package == "fastmcp" else "mcp")
    others = [one for one in low_level.middleware if not isinstance(one, RecordCalls)]
    low_level.middleware[:] = [*others, recording]


attach = record_calls


class RecordCalls:
    """The middleware of one server."""

    def __init__(self, data_dir: DataDir = None, framework: str = "mcp") -> None:
        self._data_dir, self._framework = data_dir, framework
        self._tools: dict[str, SentTool] = {}
        self._sessions: WeakKeyDictionary[Any, str] = WeakKeyDictionary()

    async def __call__(self, ctx: Any, call_next: Any) -> Any:
        if ctx.method != "tools/call":
            result = await call_next(ctx)
            if ctx.method == "tools/list":
                self._listed(ctx, result)
            return result
        params = ctx.params if isinstance(ctx.params, Mapping) else {}
        name = str(params.get("name") or "?")
        request = AdaptedRequest(session_id=self._session(ctx), data_dir=self._data_dir)
        request.sent(self._tools.values(), self._framework)
        request.asked(_CALL, name, params.get("arguments"))
        request.started(_CALL)
        try:
            result = await call_next(ctx)
        except BaseException as error:
            _failed(request, name, error)
            raise
        _ended(request, name, result)
        return result

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

    @never_raises
    def _listed(self, ctx: Any, result: Any) -> None:
        """Keep what the model is sent for the tools; a further page of a list adds to what is known."""
        known = self._tools if (ctx.params or {}).get("cursor") else {}
        self._tools = known | {tool.name: tool for tool in sent_tools(result["tools"])}


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
