"""A LangChain agent whose model is scripted: a rejected argument, an unknown tool, then a good call.

Run it with ``pip install langchain`` and coreloop; the record is printed.
"""

import json
from pathlib import Path

from langchain.agents import create_agent
from langchain_core.language_models.fake_chat_models import FakeMessagesListChatModel
from langchain_core.messages import AIMessage
from langchain_core.tools import tool

import coreloop


class Scripted(FakeMessagesListChatModel):
    """Stands for the model: its next message, whatever it is sent."""

    def bind_tools(self, tools, **options):
        return self


def call(number, name, args):
    return AIMessage("", tool_calls=[{"name": name, "args": args, "id": f"call-{number}"}])


@tool
def find_rooms(city: str, seats: int) -> list[str]:
    """Find free rooms."""
    return ["Fjord"]


SCRIPT = [
    call(1, "find_rooms", {"city": "Oslo", "seats": "four"}),
    call(2, "find_desks", {"city": "Oslo"}),
    call(3, "find_rooms", {"city": "Oslo", "seats": 4}),
    AIMessage("Fjord is free."),
]
agent = create_agent(Scripted(responses=SCRIPT), [find_rooms])
agent = coreloop.attach(agent)  # the line that records

agent.invoke({"messages": [{"role": "user", "content": "Is a room free in Oslo?"}]})
for path in Path("data/audit/ai-ask").glob("*.jsonl"):
    for recorded in json.loads(path.read_text(encoding="utf-8").splitlines()[-1])["tool_calls"]:
        print(recorded["name"], recorded["ok"], recorded["error"])
