"""An agent of the OpenAI Agents SDK whose model is scripted: a rejected argument, then a good call.

Run it with ``pip install openai-agents`` and coreloop; the record is printed.
"""

import json
from pathlib import Path

from agents import Agent, Runner, function_tool, set_tracing_disabled
from agents.testing import ScriptedModel
from openai.types.responses import ResponseFunctionToolCall, ResponseOutputMessage, ResponseOutputText

import coreloop

set_tracing_disabled(True)  # without a key, there is nowhere to send traces to


def call(number, args):
    """Stands for the model: one call."""
    return ResponseFunctionToolCall(
        call_id=f"call-{number}", type="function_call", name="find_rooms", arguments=json.dumps(args)
    )


def answer(text):
    """Stands for the model: the answer."""
    content = [ResponseOutputText(text=text, type="output_text", annotations=[])]
    return ResponseOutputMessage(
        id="answer", content=content, role="assistant", status="completed", type="message"
    )


@function_tool
def find_rooms(city: str, seats: int) -> list[str]:
    """Find free rooms."""
    return ["Fjord"]


SCRIPT = [
    [call(1, {"city": "Oslo", "seats": "four"})],
    [call(2, {"city": "Oslo", "seats": 4})],
    [answer("Fjord is free.")],
]
agent = Agent("planner", model=ScriptedModel(SCRIPT), tools=[find_rooms])
agent = coreloop.attach(agent)  # the line that records: every run of this process

Runner.run_sync(agent, "Is a room free in Oslo?")
for path in Path("data/audit/ai-ask").glob("*.jsonl"):
    for recorded in json.loads(path.read_text(encoding="utf-8").splitlines()[-1])["tool_calls"]:
        print(recorded["name"], recorded["ok"], recorded["error"])
