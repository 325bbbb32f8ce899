"""The MCP SDK: the tools that a server lists (FastMCP in version 1, MCPServer in version 2)."""

from __future__ import annotations

import asyncio
import inspect
from typing import Any

try:
    from mcp.server.mcpserver import MCPServer as Server
except ImportError:
    from mcp.server.fastmcp import FastMCP as Server

KINDS = "a server of the MCP SDK (MCPServer, FastMCP), or a list of functions"


def read(item: Any) -> list[tuple[str, str | None]] | None:
    """Name and description of each tool, or None for another type."""
    if inspect.isroutine(item):
        server = Server("tools")
        server.add_tool(item)
    elif isinstance(item, Server):
        server = item
    else:
        return None
    return [(tool.name, tool.description) for tool in asyncio.run(server.list_tools())]
