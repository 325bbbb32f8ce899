"""Sends planned requests to an MCP server over the SDK's in-memory client; each request is a session."""

import asyncio
import contextlib
import json
import sys
from pathlib import Path

from coreloop import dropped

EARLIER = "It was listed earlier."


async def call(client, request):
    for calls in request["rounds"]:
        await asyncio.gather(*(ask(client, call["tool"], call["args"]) for call in calls))


async def ask(client, tool, args):
    with contextlib.suppress(Exception):
        await client.call_tool(tool, args)


def arguments(tools):
    tool = next(tool for tool in tools if tool.name == "find_rooms")
    schema = getattr(tool, "input_schema", None) or tool.inputSchema
    return sorted(schema["properties"])


async def drive(connect, connect_asking):
    """Call the planned tools, then one of a server that asks for intents."""
    plan = json.loads(Path(sys.argv[1]).read_text(encoding="utf-8"))
    for request in plan:
        async with connect() as client:
            await client.list_tools()
            await call(client, request)
    print(json.dumps(dropped()))
    async with connect_asking(mode="legacy") as client:  # it has the list from another process of the server
        await ask(client, "find_rooms", {"city": "Oslo", "seats": 4, "intent": EARLIER})
    listed = {}
    for name, opened in (("asked", connect_asking), ("not asked", connect)):
        async with opened() as client:
            tools = await client.list_tools()
            listed[name] = arguments(getattr(tools, "tools", tools))
            if name == "asked":
                args = {"city": "Oslo", "seats": 4, "intent": "I need a room for a meeting."}
                await client.call_tool("find_rooms", args)
    print(json.dumps(listed))
