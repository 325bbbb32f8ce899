"""Runs planned requests through LangChain's agents, which are graphs of LangGraph: PLAN DATA_DIR.

With ``spans`` after them, OpenInference's spans are exported instead.
"""

import asyncio
import contextlib
import json
import sys
from pathlib import Path
from typing import Annotated, Any

from langchain.agents import create_agent
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, AIMessageChunk, ToolCallChunk
from langchain_core.outputs import ChatGeneration, ChatGenerationChunk, ChatResult
from langchain_core.tools import ToolException, tool
from langchain_core.utils.function_calling import convert_to_openai_tool
from pydantic import Field
from tools import booking, cancelled, rooms

from coreloop import dropped
from coreloop.observe.adapters.langchain import record_runs


@tool
def find_rooms(city: str, seats: Annotated[int, Field(ge=1, le=20)]) -> dict:
    """Find free rooms."""
    return rooms(city, seats)


@tool
async def book_room(room_id: str, hours: int) -> dict:
    """Book a room."""
    try:
        return booking(room_id, hours)
    except ValueError as error:
        raise ToolException(str(error)) from error


book_room.handle_tool_error = True


@tool
def cancel_booking(booking_id: str) -> dict:
    """Cancel a booking."""
    return cancelled(booking_id)


class Scripted(BaseChatModel):
    """A model that asks for the rounds of one request, then answers or fails."""

    rounds: list[Any]
    end: str = "answer"
    at: int = 0
    waits: Any = None

    @property
    def _llm_type(self):
        return "scripted"

    def bind_tools(self, tools, **kwargs):
        return self.bind(tools=[convert_to_openai_tool(item) for item in tools])

    def _next(self):
        if self.at < len(self.rounds):
            self.at += 1
            return self.rounds[self.at - 1]
        if self.end == "model_error":
            raise RuntimeError("the model is overloaded")
        return None

    def _generate(self, messages, stop=None, run_manager=None, **kwargs):
        calls = self._next()
        usage = {"input_tokens": 50, "output_tokens": 5, "total_tokens": 55}
        if calls is None:
            message = AIMessage("done", usage_metadata=usage)
        else:
            asked = [
                {"name": call["tool"], "args": call["args"], "id": f"c{self.at}-{place}", "type": "tool_call"}
                for place, call in enumerate(calls)
            ]
            message = AIMessage("", tool_calls=asked, usage_metadata=usage)
        return ChatResult(generations=[ChatGeneration(message=message)])

    async def _agenerate(self, messages, stop=None, run_manager=None, **kwargs):
        if self.at == len(self.rounds) and self.end == "cancel":
            self.waits.set()
            await asyncio.Event().wait()
        return self._generate(messages)


class Streamed(Scripted):
    """The same, in pieces."""

    async def _astream(self, messages, stop=None, run_manager=None, **kwargs):
        calls = self._next()
        if calls is None:
            for text in ("do", "ne"):
                yield ChatGenerationChunk(message=AIMessageChunk(text))
            return
        for place, call in enumerate(calls):
            args = json.dumps(call["args"])
            for name, part in ((call["tool"], args[:5]), (None, args[5:])):
                id = f"c{self.at}-{place}" if name else None
                piece = ToolCallChunk(name=name, args=part, id=id, index=place)
                yield ChatGenerationChunk(message=AIMessageChunk("", tool_call_chunks=[piece]))


TOOLS = [find_rooms, book_room, cancel_booking]


async def drive(request, callbacks):
    config = {"callbacks": callbacks, "recursion_limit": 100}
    kind = Streamed if request["end"] == "stream" else Scripted
    model = kind(rounds=request["rounds"], end=request["end"], waits=asyncio.Event())
    agent = create_agent(model, TOOLS)
    question = {"messages": [{"role": "user", "content": request["question"]}]}
    with contextlib.suppress(RuntimeError, asyncio.CancelledError):
        if request["end"] == "stream":
            async for _ in agent.astream(question, config, stream_mode="messages"):
                pass
        elif request["end"] == "nested":
            await nested(request, agent, config)
        elif request["end"] == "cancel":
            run = asyncio.create_task(agent.ainvoke(question, config))
            await model.waits.wait()
            run.cancel()
            await run
        else:
            await agent.ainvoke(question, config)


async def nested(request, inner, config):
    """The planned request is made by an agent that a tool of another one calls."""

    @tool
    async def delegate(task: str) -> str:
        """Hand the task to another agent."""
        answer = await inner.ainvoke({"messages": [("user", task)]}, {"recursion_limit": 100})
        return answer["messages"][-1].content

    call = {"tool": "delegate", "args": {"task": request["question"]}}
    outer = create_agent(Scripted(rounds=[[call]]), [delegate])
    await outer.ainvoke({"messages": [("user", f"outer of {request['question']}")]}, config)


async def main():
    plan = json.loads(Path(sys.argv[1]).read_text(encoding="utf-8"))
    callbacks = [] if sys.argv[3:] == ["spans"] else [record_runs(sys.argv[2])]
    if not callbacks:
        from exporting import exporting
        from openinference.instrumentation.langchain import LangChainInstrumentor

        LangChainInstrumentor().instrument(tracer_provider=exporting())
    for start in range(0, len(plan), 20):
        tasks = [asyncio.create_task(drive(request, callbacks)) for request in plan[start : start + 20]]
        await asyncio.gather(*tasks)
    print(json.dumps(dropped()))


asyncio.run(main())
