"""A scripted agent of Pydantic AI, and how planned requests are run through it."""

import asyncio
import json
from pathlib import Path
from typing import Annotated

from pydantic import Field
from pydantic_ai import Agent, ModelRetry
from pydantic_ai.messages import ModelResponse, TextPart, ToolCallPart
from pydantic_ai.models.function import DeltaToolCall, FunctionModel
from tools import booking, cancelled, rooms

from coreloop import dropped


def find_rooms(city: str, seats: Annotated[int, Field(ge=1, le=20)]) -> dict:
    """Find free rooms."""
    return rooms(city, seats)


async def book_room(room_id: str, hours: int) -> dict:
    """Book a room."""
    try:
        return booking(room_id, hours)
    except ValueError as error:
        raise ModelRetry(str(error)) from error


def cancel_booking(booking_id: str) -> dict:
    """Cancel a booking."""
    return cancelled(booking_id)


class Scripted:
    """A model that asks for the rounds of one request, then answers or fails."""

    def __init__(self, request):
        self.rounds, self.end, self.at = request["rounds"], request["end"], 0

    def next(self):
        if self.at < len(self.rounds):
            calls = self.rounds[self.at]
            self.at += 1
            return calls
        if self.end == "model_error":
            raise RuntimeError("the model is overloaded")
        if self.end == "cancel":
            raise asyncio.CancelledError
        return None

    def __call__(self, messages, info):
        calls = self.next()
        if calls is None:
            return ModelResponse(parts=[TextPart("done")])
        return ModelResponse(parts=[ToolCallPart(call["tool"], call["args"]) for call in calls])

    async def stream(self, messages, info):
        calls = self.next()
        if calls is None:
            yield "do"
            yield "ne"
            return
        for place, call in enumerate(calls):
            text = json.dumps(call["args"])
            yield {
                place: DeltaToolCall(
                    name=call["tool"], json_args=text[:5], tool_call_id=f"c{self.at}-{place}"
                )
            }
            yield {place: DeltaToolCall(json_args=text[5:])}


def agent_for(request, capability):
    model = Scripted(request)
    return Agent(
        FunctionModel(model, stream_function=model.stream),
        tools=[find_rooms, book_room, cancel_booking],
        retries=request.get("retries", 20),
        capabilities=[capability],
    )


async def drive(request, capability):
    agent = agent_for(request, capability)
    try:
        if request["end"] == "stream":
            async with agent.run_stream(request["question"]) as stream:
                await stream.get_output()
        elif request["end"] == "nested":
            await nested(request, agent, capability)
        else:
            await agent.run(request["question"])
    except (RuntimeError, asyncio.CancelledError):
        pass


async def nested(request, inner, capability):
    """The planned request is made by a tool of another agent."""

    async def delegate(task: str) -> str:
        """Hand the task to another agent."""
        return (await inner.run(task)).output

    outer = {"rounds": [[{"tool": "delegate", "args": {"task": request["question"]}}]], "end": "answer"}
    agent = Agent(FunctionModel(Scripted(outer)), tools=[delegate], capabilities=[capability])
    await agent.run(f"outer of {request['question']}")


async def main(plan, capability):
    requests = json.loads(Path(plan).read_text(encoding="utf-8"))
    for start in range(0, len(requests), 20):  # 20 requests under way at once
        await asyncio.gather(*(drive(request, capability) for request in requests[start : start + 20]))
    print(json.dumps(dropped()))
