"""Tools and a scripted model's replies for agents of the OpenAI Agents SDK."""

import json
import os
from typing import Annotated

os.environ.pop("OPENAI_API_KEY", None)

from agents import RunConfig, function_tool, set_trace_processors
from openai.types.responses import ResponseFunctionToolCall, ResponseOutputMessage, ResponseOutputText
from pydantic import Field
from tools import booking, cancelled, rooms

set_trace_processors([])


@function_tool
def find_rooms(city: str, seats: Annotated[int, Field(ge=1, le=20)]) -> dict:
    """Find free rooms."""
    return rooms(city, seats)


@function_tool
async def book_room(room_id: str, hours: int) -> dict:
    """Book a room."""
    return booking(room_id, hours)


@function_tool
def cancel_booking(booking_id: str) -> dict:
    """Cancel a booking."""
    return cancelled(booking_id)


def said(text):
    content = [ResponseOutputText(text=text, type="output_text", annotations=[])]
    return [
        ResponseOutputMessage(id="m", content=content, role="assistant", status="completed", type="message")
    ]


def called(number, place, call):
    return ResponseFunctionToolCall(
        id=f"f{number}-{place}",
        call_id=f"c{number}-{place}",
        type="function_call",
        name=call["tool"],
        arguments=json.dumps(call["args"]),
    )


TOOLS = [find_rooms, book_room, cancel_booking]
CONFIG = RunConfig(tool_not_found_behavior="return_error_to_model")
