"""Runs planned requests through the OpenAI Agents SDK: PLAN DATA_DIR."""

import asyncio
import contextlib
import json
import sys
from pathlib import Path

from openai_agent import CONFIG, TOOLS, called, find_rooms, said  # isort: skip - before the SDK
from agents import Agent, AgentsException, Runner, function_tool
from agents.testing import ModelStep, ScriptedModel

from coreloop import dropped
from coreloop.observe.adapters.openai_agents import record_runs


def model_for(request):
    steps = [
        [called(number, place, call) for place, call in enumerate(calls)]
        for number, calls in enumerate(request["rounds"])
    ]
    if request["end"] == "model_error":
        return ScriptedModel([*steps, RuntimeError("the model is overloaded")])
    if request["end"] == "cancel":
        return ScriptedModel([*steps, ModelStep.respond(wait)])
    return ScriptedModel([*steps, said("done")])


async def wait(call):
    asyncio.current_task().cancel()
    await asyncio.sleep(60)


def agent_for(request):
    return Agent("planner", model=model_for(request), tools=TOOLS)


async def drive(request):
    agent, options = agent_for(request), {"run_config": CONFIG, "max_turns": 20}
    try:
        if request["end"] == "stream":
            result = Runner.run_streamed(agent, request["question"], **options)
            async for _ in result.stream_events():
                pass
        elif request["end"] == "nested":
            await nested(request, agent, options)
        else:
            await Runner.run(agent, request["question"], **options)
    except (RuntimeError, asyncio.CancelledError):
        pass


async def nested(request, inner, options):
    """The planned request is made by an agent that another one uses as a tool."""
    tool = inner.as_tool("delegate", "Hand the task to another agent.", **options)
    call = {"tool": "delegate", "args": {"input": request["question"]}}
    outer = Agent("outer", model=ScriptedModel([[called(0, 0, call)], said("done")]), tools=[tool])
    await Runner.run(outer, f"outer of {request['question']}")


def own_message(context, error):
    return f"Sorry: {error}"


@function_tool(failure_error_function=own_message)
def with_own_message(hours: int) -> str:
    """Fail with a message of the project's own."""
    raise LookupError("no such room")


@function_tool(failure_error_function=None)
def without_message(hours: int) -> str:
    """End the run."""
    raise LookupError("no such room")


async def other_settings():
    """What the SDK does by default with an unknown tool, and the two other settings for failures."""
    tools = [with_own_message, without_message, find_rooms]
    good = {"tool": "find_rooms", "args": {"city": "Oslo", "seats": 4}}
    for question, calls in {
        "unknown tool ends the run": [good, {"tool": "find_desks", "args": {}}],
        "own message": [{"tool": "with_own_message", "args": {"hours": 1}}],
        "own message, rejected": [{"tool": "with_own_message", "args": {"hours": "Zq7-private"}}],
        "without message": [{"tool": "without_message", "args": {"hours": 1}}],
        "without message, rejected": [{"tool": "without_message", "args": {"hours": "Zq7-private"}}],
    }.items():
        steps = [[called(0, place, call) for place, call in enumerate(calls)], said("done")]
        with contextlib.suppress(AgentsException, LookupError):
            await Runner.run(Agent("planner", model=ScriptedModel(steps), tools=tools), question)


async def main():
    plan = json.loads(Path(sys.argv[1]).read_text(encoding="utf-8"))
    record_runs(sys.argv[2])
    for start in range(0, len(plan), 20):
        await asyncio.gather(*(asyncio.create_task(drive(request)) for request in plan[start : start + 20]))
    await other_settings()
    print(json.dumps(dropped()))


asyncio.run(main())
