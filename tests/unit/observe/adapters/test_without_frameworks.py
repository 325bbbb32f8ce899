"""A server needs no more for an adapter than its framework: no extra, and no other framework."""

import pytest

from observing import run
from rows import slow_after

ADAPTERS = ("pydantic_ai", "openai_agents", "langchain", "otel", "mcp", "claude_agent", "attach")
_SCRIPT = """
import sys
names = {"msgspec", "click", "polars", "yaml", "agents", "pydantic_ai", "langchain_core", "mcp", "fastmcp"}
names |= {"opentelemetry"}
import importlib
importlib.import_module("coreloop.observe.adapters." + sys.argv[1])
print(sorted(names & {module.partition(".")[0] for module in sys.modules}))
"""


@pytest.mark.parametrize("name", slow_after(2, ADAPTERS))
def test_adapter_is_imported_without_any_framework_or_extra(name: str) -> None:
    assert run(_SCRIPT, name) == ["[]"]
