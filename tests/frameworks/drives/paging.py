"""Serves a list of tools in pages of one, and calls a tool after each page: mcp or fastmcp, DATA_DIR."""

import asyncio
import sys

from coreloop.observe.adapters.mcp import record_calls

NAMES = ("find_rooms", "book_room", "cancel_booking")


def with_sdk():
    from mcp.client import Client
    from mcp.server import Server
    from mcp.types import CallToolResult, ListToolsResult, TextContent, Tool

    async def listed(ctx, params):
        at = int((params and params.cursor) or 0)
        schema = {"type": "object", "properties": {}}
        tool = Tool(name=NAMES[at], description=f"Page {at}.", input_schema=schema)
        return ListToolsResult(tools=[tool], next_cursor=str(at + 1) if at + 1 < len(NAMES) else None)

    async def called(ctx, params):
        said = TextContent(type="text", text=str(sorted(params.arguments or {})))
        return CallToolResult(content=[said])

    server = Server("rooms", on_list_tools=listed, on_call_tool=called)

    def page(client, cursor):
        return client.list_tools(cursor=cursor, cache_mode="bypass")

    return server, Client, page


def with_fastmcp():
    from fastmcp import Client, FastMCP

    server = FastMCP("rooms", list_page_size=1)
    for name in NAMES:
        server.tool(name=name)(lambda: "[]")
    return server, Client, lambda client, cursor: client.list_tools_mcp(cursor=cursor)


async def main():
    server, connect, page = {"mcp": with_sdk, "fastmcp": with_fastmcp}[sys.argv[1]]()
    record_calls(server, sys.argv[2])
    async with connect(server) as first, connect(server) as second:
        cursor = None
        for _ in NAMES:
            for client in (first, second):  # by turns
                listed = await page(client, cursor)
            cursor = listed.next_cursor
            await first.call_tool("find_rooms", {})


asyncio.run(main())
