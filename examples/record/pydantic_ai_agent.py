"""A Pydantic AI agent whose model is scripted: a rejected argument, an unknown tool, then a good call.

Run it with ``pip install pydantic-ai-slim`` and coreloop; the record is printed.
"""

import json
from pathlib import Path

from pydantic_ai import Agent
from pydantic_ai.messages import ModelResponse, TextPart, ToolCallPart
from pydantic_ai.models.function import FunctionModel

import coreloop

CALLS = [
    ("find_rooms", {"city": "Oslo", "seats": "four"}),
    ("find_desks", {"city": "Oslo"}),
    ("find_rooms", {"city": "Oslo", "seats": 4}),
]


def scripted(messages, info):
    """Stands for the model: the next call, or the answer."""
    asked = sum(isinstance(message, ModelResponse) for message in messages)
    if asked == len(CALLS):
        return ModelResponse(parts=[TextPart("Fjord is free.")])
    return ModelResponse(parts=[ToolCallPart(*CALLS[asked])])


def find_rooms(city: str, seats: int) -> list[str]:
    """Find free rooms."""
    return ["Fjord"]


agent = Agent(FunctionModel(scripted), tools=[find_rooms], retries=3)
agent = coreloop.attach(agent)  # the line that records

agent.run_sync("Is a room free in Oslo?")
for path in Path("data/audit/ai-ask").glob("*.jsonl"):
    for call in json.loads(path.read_text(encoding="utf-8").splitlines()[-1])["tool_calls"]:
        print(call["name"], call["ok"], call["error"])
