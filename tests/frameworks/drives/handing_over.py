"""Runs planned requests whose first agent hands over to a second after its first round: PLAN DATA_DIR."""

import asyncio
import json
import os
import sys
from pathlib import Path
from typing import Annotated

os.environ.pop("OPENAI_API_KEY", None)

from agents import Agent, RunConfig, Runner, function_tool, set_trace_processors
from agents.testing import ScriptedModel
from openai.types.responses import ResponseFunctionToolCall, ResponseOutputMessage, ResponseOutputText
from pydantic import Field
from tools import booking, cancelled, rooms

from coreloop import dropped
from coreloop.observe.adapters.openai_agents import record_runs

set_trace_processors([])


@function_tool
def find_rooms(city: str, seats: Annotated[int, Field(ge=1, le=20)]) -> dict:
    """Find free rooms."""
    return rooms(city, seats)


@function_tool
def book_room(room_id: str, hours: int) -> dict:
    """Book a room."""
    return booking(room_id, hours)


@function_tool
def cancel_booking(booking_id: str) -> dict:
    """Cancel a booking."""
    return cancelled(booking_id)


TOOLS = [find_rooms, book_room, cancel_booking]


def asked(number, place, name, args):
    id = f"{number}-{place}"
    return ResponseFunctionToolCall(
        id=f"f{id}", call_id=f"c{id}", type="function_call", name=name, arguments=json.dumps(args)
    )


def answer():
    content = [ResponseOutputText(text="done", type="output_text", annotations=[])]
    return [
        ResponseOutputMessage(id="m", content=content, role="assistant", status="completed", type="message")
    ]


async def drive(request):
    rounds = [
        [asked(number, place, call["tool"], call["args"]) for place, call in enumerate(calls)]
        for number, calls in enumerate(request["rounds"])
    ]
    hand_over = [asked("over", 0, "transfer_to_booker", {})]
    booker = Agent("booker", model=ScriptedModel([*rounds[1:], answer()]), tools=TOOLS)
    first = Agent("planner", model=ScriptedModel([rounds[0], hand_over]), tools=TOOLS, handoffs=[booker])
    config = RunConfig(tool_not_found_behavior="return_error_to_model")
    await Runner.run(first, request["question"], run_config=config, max_turns=20)


async def main():
    record_runs(sys.argv[2])
    for request in json.loads(Path(sys.argv[1]).read_text(encoding="utf-8")):
        await drive(request)
    print(json.dumps(dropped()))


asyncio.run(main())
