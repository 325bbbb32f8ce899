"""Sends planned requests to an MCP server over the SDK's in-memory client; each request is a session."""

import asyncio
import contextlib
import json
import sys
from pathlib import Path
from typing import Annotated

from pydantic import Field
from tools import booking, cancelled, rooms

from coreloop import dropped
from coreloop.observe.adapters.mcp import record_calls


async def call(client, request):
    for calls in request["rounds"]:
        await asyncio.gather(*(ask(client, call["tool"], call["args"]) for call in calls))


async def ask(client, tool, args):
    with contextlib.suppress(Exception):
        await client.call_tool(tool, args)


async def drive(connect):
    """Call the planned tools."""
    plan = json.loads(Path(sys.argv[1]).read_text(encoding="utf-8"))
    for request in plan:
        async with connect() as client:
            await client.list_tools()
            await call(client, request)
    print(json.dumps(dropped()))


def run(server, client, tool_error):
    """Give a server the tools, record its calls, and call the planned ones."""

    @server.tool()
    def find_rooms(city: str, seats: Annotated[int, Field(ge=1, le=20)]) -> dict:
        """Find free rooms."""
        return rooms(city, seats)

    @server.tool()
    async def book_room(room_id: str, hours: int) -> dict:
        """Book a room."""
        try:
            return booking(room_id, hours)
        except ValueError as error:
            raise tool_error(str(error)) from error

    @server.tool()
    def cancel_booking(booking_id: str) -> dict:
        """Cancel a booking."""
        return cancelled(booking_id)

    record_calls(server, sys.argv[2])
    asyncio.run(drive(lambda: client(server, mode="legacy")))
