"""Runs planned requests through Pydantic AI: PLAN DATA_DIR; then one that the framework ends at its limit."""

import asyncio
import sys

from pydantic_agent import drive, main

from coreloop.observe.adapters.pydantic_ai import record_runs

capability = record_runs(sys.argv[2])
calls = [[{"tool": "book_room", "args": {"room_id": "a", "hours": 99}}]] * 2
asyncio.run(drive({"question": "out of retries", "rounds": calls, "end": "answer", "retries": 1}, capability))
asyncio.run(main(sys.argv[1], capability))
