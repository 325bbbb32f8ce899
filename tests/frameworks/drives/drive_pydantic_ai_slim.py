"""Runs planned requests through Pydantic AI: PLAN DATA_DIR; then one that the framework ends at its limit."""

import asyncio
import sys
from contextlib import suppress

from pydantic_agent import Scripted, book_room, main
from pydantic_ai import Agent
from pydantic_ai.exceptions import UnexpectedModelBehavior
from pydantic_ai.models.function import FunctionModel

from coreloop.observe.adapters.pydantic_ai import record_runs

capability = record_runs(sys.argv[2])
calls = [[{"tool": "book_room", "args": {"room_id": "a", "hours": 99}}]] * 2
agent = Agent(
    FunctionModel(Scripted({"rounds": calls, "end": "answer"})), tools=[book_room], capabilities=[capability]
)
with suppress(UnexpectedModelBehavior):
    agent.run_sync("out of retries")
asyncio.run(main(sys.argv[1], capability))
