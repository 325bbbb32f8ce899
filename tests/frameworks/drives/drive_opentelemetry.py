"""Runs planned requests through Pydantic AI's own OpenTelemetry spans: PLAN DATA_DIR."""

import asyncio
import sys

from opentelemetry.sdk.trace import TracerProvider
from pydantic_agent import main
from pydantic_ai.capabilities import Instrumentation
from pydantic_ai.models.instrumented import InstrumentationSettings

from coreloop.observe.adapters.otel import record_spans

provider = TracerProvider()
provider.add_span_processor(record_spans(sys.argv[2]))
settings = InstrumentationSettings(tracer_provider=provider)
asyncio.run(main(sys.argv[1], Instrumentation(settings=settings)))
