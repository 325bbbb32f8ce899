"""A server needs no more for an adapter than its framework: no extra, and no other framework."""

import subprocess
import sys
from pathlib import Path

import pytest

from observing import run
from rows import slow_after

ADAPTERS = ("pydantic_ai", "openai_agents", "langchain", "mcp", "claude_agent", "attach")
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


_SERVER = """
import asyncio
from types import SimpleNamespace
from coreloop.observe.adapters.mcp import record_calls

server = SimpleNamespace(middleware=[])
record_calls(server)
called = {"method": "tools/call", "params": {"name": "book"}}
asked = SimpleNamespace(**called, request=None, protocol_version="2026-07-28")

async def call_next(ctx):
    return {"content": []}

asyncio.run(server.middleware[0](asked, call_next))
"""


def test_a_server_that_its_host_starts_elsewhere_records_in_its_own_project(tmp_path: Path) -> None:
    project, elsewhere = tmp_path / "project", tmp_path / "elsewhere"
    project.mkdir()
    elsewhere.mkdir()
    (project / "coreloop.yaml").write_text("data_dir: kept\n")
    (project / "server.py").write_text(_SERVER)
    subprocess.run([sys.executable, project / "server.py"], cwd=elsewhere, check=True)
    assert len(list(project.glob("kept/audit/ai-ask/*.jsonl"))) == 1
    assert not list(elsewhere.iterdir())
