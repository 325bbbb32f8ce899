"""Spans of a Pydantic AI agent, recorded: a rejected argument, an unknown tool, a good call.

Run it with ``pip install pydantic-ai-slim opentelemetry-sdk`` and coreloop; the record is printed.
"""

import json
from pathlib import Path

from opentelemetry.sdk.trace import TracerProvider
from pydantic_ai import Agent
from pydantic_ai.capabilities import Instrumentation
from pydantic_ai.messages import ModelResponse, TextPart, ToolCallPart
from pydantic_ai.models.function import FunctionModel
from pydantic_ai.models.instrumented import InstrumentationSettings

from coreloop.observe.adapters.otel import record_spans

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


provider = TracerProvider()
provider.add_span_processor(record_spans())  # the line that records
spans = Instrumentation(settings=InstrumentationSettings(tracer_provider=provider))
agent = Agent(FunctionModel(scripted), tools=[find_rooms], retries=3, capabilities=[spans])

agent.run_sync("Is a room free in Oslo?")
for path in Path("data/audit/ai-ask").glob("*.jsonl"):
    for call in json.loads(path.read_text(encoding="utf-8").splitlines()[-1])["tool_calls"]:
        print(call["name"], call["ok"], call["error"])
