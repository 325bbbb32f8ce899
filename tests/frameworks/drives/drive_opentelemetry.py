"""Runs planned requests through Pydantic AI's own OpenTelemetry spans, exported: PLAN."""

import asyncio
import sys

from exporting import exporting
from pydantic_agent import main
from pydantic_ai.capabilities import Instrumentation
from pydantic_ai.models.instrumented import InstrumentationSettings

settings = InstrumentationSettings(tracer_provider=exporting())
asyncio.run(main(sys.argv[1], Instrumentation(settings=settings)))
