"""FastMCP 2 and later: the tools that a server lists."""

from __future__ import annotations

import asyncio
import inspect
from typing import Any

from fastmcp import FastMCP
from fastmcp.tools import Tool

KINDS = "a FastMCP server, or a list of its tools or of functions"


def read(item: Any) -> list[tuple[str, str | None]] | None:
    """Name and description of each tool, or None for another type."""
    if isinstance(item, FastMCP):
        tools = asyncio.run(_listed(item))
    elif isinstance(item, Tool):
        tools = [item]
    elif inspect.isroutine(item):
        tools = [Tool.from_function(item)]
    else:
        return None
    sent = [tool.to_mcp_tool() for tool in tools]
    return [(tool.name, tool.description) for tool in sent]


async def _listed(server: Any) -> Any:
    if hasattr(server, "list_tools"):
        return await server.list_tools()
    return (await server.get_tools()).values()  # FastMCP 2
