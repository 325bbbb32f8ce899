"""Runs planned requests through Pydantic AI: PLAN DATA_DIR."""

import asyncio
import sys

from pydantic_agent import main

from coreloop.observe.adapters.pydantic_ai import record_runs

asyncio.run(main(sys.argv[1], record_runs(sys.argv[2])))
