"""Runs planned requests against a server of the MCP SDK: PLAN DATA_DIR."""

import asyncio
import sys
from typing import Annotated

from mcp.client import Client
from mcp.server import MCPServer
from mcp.server.mcpserver.exceptions import ToolError
from pydantic import Field
from tools import booking, cancelled, rooms

from coreloop.observe.adapters.mcp import record_calls
from serving import drive

server = MCPServer("rooms")


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
        raise ToolError(str(error)) from error


@server.tool()
def cancel_booking(booking_id: str) -> dict:
    """Cancel a booking."""
    return cancelled(booking_id)


record_calls(server, sys.argv[2])
asyncio.run(drive(lambda: Client(server, mode="legacy")))
