"""Runs a newcomer's Pydantic AI agent, whose tools are decorated too: PLAN DATA_DIR [adapter]."""

import asyncio
import json
import sys
from pathlib import Path
from typing import Annotated, Literal

from pydantic import Field
from pydantic_ai import Agent, ModelRetry
from pydantic_ai.messages import ModelResponse, TextPart, ToolCallPart
from pydantic_ai.models.function import FunctionModel

from coreloop import AuditCollector, attach, dropped, observed_tool


@observed_tool
def find_rooms(city: str, seats: Annotated[int, Field(ge=1, le=20)]) -> dict:
    """Find free rooms."""
    return {"rooms": [{"room_id": "os-fjord", "city": city, "seats": seats}]}


@observed_tool
async def book_room(room_id: str, hours: int, priority: Literal["low", "high"] = "low") -> dict:
    """Book a room."""
    if hours > 24:
        raise ModelRetry("hours must be at most 24")
    return {"booking_id": "b-1001", "room_id": room_id, "hours": hours, "priority": priority}


@observed_tool
def cancel_booking(booking_id: str) -> dict:
    """Cancel a booking."""
    if booking_id != "b-1001":
        return {"success": False, "error": "booking not found"}
    return {"success": True, "booking_id": booking_id}


def scripted(calls):
    def model(messages, info):
        asked = sum(isinstance(message, ModelResponse) for message in messages)
        if asked == len(calls):
            return ModelResponse([TextPart("done")])
        return ModelResponse([ToolCallPart(calls[asked]["tool"], calls[asked]["args"])])

    return FunctionModel(model)


async def run(request, data_dir, adapter):
    tools = [find_rooms, book_room, cancel_booking]
    agent = Agent(scripted(request["calls"]), tools=tools, retries=9)
    if adapter:
        await attach(agent, data_dir).run(request["question"])
        return
    with AuditCollector(question=request["question"], data_dir=data_dir) as audit:
        result = await agent.run(request["question"])
        audit.flush(chunk_len=len(result.output))


async def main(plan, data_dir, way):
    for request in json.loads(Path(plan).read_text(encoding="utf-8")):
        await run(request, data_dir, way == "adapter")
    print(json.dumps(dropped()))


asyncio.run(main(*sys.argv[1:]))
