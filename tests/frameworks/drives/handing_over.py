"""Runs planned requests whose first agent hands over to a second after its first round: PLAN DATA_DIR."""

import asyncio
import json
import sys
from pathlib import Path

from openai_agent import CONFIG, TOOLS, called, said  # isort: skip - before the SDK
from agents import Agent, Runner
from agents.testing import ScriptedModel

from coreloop import dropped
from coreloop.observe.adapters.openai_agents import record_runs

HAND_OVER = {"tool": "transfer_to_booker", "args": {}}


async def drive(request):
    rounds = [
        [called(number, place, call) for place, call in enumerate(calls)]
        for number, calls in enumerate(request["rounds"])
    ]
    booker = Agent("booker", model=ScriptedModel([*rounds[1:], said("done")]), tools=TOOLS)
    planner = ScriptedModel([rounds[0], [called("over", 0, HAND_OVER)]])
    first = Agent("planner", model=planner, tools=TOOLS, handoffs=[booker])
    await Runner.run(first, request["question"], run_config=CONFIG, max_turns=20)


async def main():
    record_runs(sys.argv[2])
    for request in json.loads(Path(sys.argv[1]).read_text(encoding="utf-8")):
        await drive(request)
    print(json.dumps(dropped()))


asyncio.run(main())
