"""A server of the MCP SDK and a client that calls it: a rejected argument, an unknown tool, then a good call.

Run it with ``pip install mcp`` and coreloop; the records, one a call, are printed.
"""

import asyncio
import contextlib
import json
from pathlib import Path

from mcp.client import Client
from mcp.server import MCPServer

import coreloop

CALLS = [
    ("find_rooms", {"city": "Oslo", "seats": "four"}),
    ("find_desks", {"city": "Oslo"}),
    ("find_rooms", {"city": "Oslo", "seats": 4}),
]
server = MCPServer("rooms")


@server.tool()
def find_rooms(city: str, seats: int) -> list[str]:
    """Find free rooms."""
    return ["Fjord"]


coreloop.attach(server)  # the line that records


async def main():
    """Stands for the agent."""
    async with Client(server) as client:
        for name, args in CALLS:
            with contextlib.suppress(Exception):  # some clients raise for a failed call
                await client.call_tool(name, args)


asyncio.run(main())
for path in Path("data/audit/ai-ask").glob("*.jsonl"):
    for line in path.read_text(encoding="utf-8").splitlines():
        (call,) = json.loads(line)["tool_calls"]
        print(call["name"], call["ok"], call["error"])
