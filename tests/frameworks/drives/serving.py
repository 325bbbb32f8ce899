"""Sends planned requests to an MCP server over the SDK's in-memory client; each request is a session."""

import asyncio
import contextlib
import json
import sys
from pathlib import Path

from coreloop import dropped


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
