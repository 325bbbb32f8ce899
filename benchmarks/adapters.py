"""Processor time of scripted agents with an adapter, against the same runs without it.

    uv run python benchmarks/adapters.py [NAME…]     the ratio, lowest and highest of five rounds

A run is four replies of the model and three calls, one of them rejected; a round is 150 runs with and 150
without, in processes of their own. Of an MCP server, a run is the three calls of one client in the same
process. OpenTelemetry is Pydantic AI with its own spans, on both sides without an exporter. The
frameworks' environments are those of tests/frameworks.
"""

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT / "tests"))

from frameworks.environments import RECORDING, interpreter  # noqa: E402 - needs the path above

ROUNDS, RUNS = 5, 150
HEAD = """
import asyncio, os, sys, time
os.environ.pop("OPENAI_API_KEY", None)
records = sys.argv[1] == "with"
CALLS = [{"city": "Oslo", "seats": "four"}, {"city": "Oslo", "seats": 4}, {"city": "Oslo", "seats": 5}]
def find_rooms(city: str, seats: int) -> dict:
    "Find free rooms."
    return {"rooms": [{"room_id": "os-fjord", "city": city, "seats": seats}]}
"""
TAIL = """
async def main():
    for number in range(int(sys.argv[2]) + 10):
        if number == 10:  # imports and caches are warm
            begun = time.process_time()
        await run(number)
    print(time.process_time() - begun)
asyncio.run(main())
"""
SERVER = """
from contextlib import suppress
server.tool()(find_rooms)
if records:
    from coreloop.observe.adapters.mcp import record_calls
    record_calls(server)
async def run(number):
    async with Client(server) as client:
        for args in CALLS:
            with suppress(Exception):  # some clients raise for a failed call
                await client.call_tool("find_rooms", args)
"""
AGENTS = {
    "pydantic-ai-slim": """
from pydantic_ai import Agent
from pydantic_ai.messages import ModelResponse, TextPart, ToolCallPart
from pydantic_ai.models.function import FunctionModel
def model(messages, info):
    n = sum(message.kind == "response" for message in messages)
    return ModelResponse([TextPart("done")] if n == 3 else [ToolCallPart("find_rooms", CALLS[n])])
if records:
    from coreloop.observe.adapters.pydantic_ai import record_runs
agent = Agent(FunctionModel(model), tools=[find_rooms], capabilities=[record_runs()] if records else [])
async def run(number):
    await agent.run(f"question {number}")
""",
    "openai-agents": """
import json
from agents import Agent, Runner, function_tool, set_trace_processors
from agents.testing import ScriptedModel
from openai.types.responses import ResponseFunctionToolCall, ResponseOutputMessage, ResponseOutputText
set_trace_processors([])
tool = function_tool(find_rooms)
if records:
    from coreloop.observe.adapters.openai_agents import record_runs
    record_runs()
def call(n):
    args = json.dumps(CALLS[n])
    own = {"call_id": f"c{n}", "type": "function_call", "name": "find_rooms"}
    return [ResponseFunctionToolCall(**own, arguments=args)]
def said():
    text = [ResponseOutputText(text="done", type="output_text", annotations=[])]
    return [ResponseOutputMessage(id="m", content=text, role="assistant", status="completed", type="message")]
async def run(number):
    agent = Agent("a", model=ScriptedModel([*map(call, range(3)), said()]), tools=[tool])
    await Runner.run(agent, f"question {number}")
""",
    "langchain": """
from langchain.agents import create_agent
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage
from langchain_core.outputs import ChatGeneration, ChatResult
from langchain_core.tools import tool
class Scripted(BaseChatModel):
    @property
    def _llm_type(self):
        return "scripted"
    def bind_tools(self, tools, **kwargs):
        return self
    def _generate(self, messages, stop=None, run_manager=None, **kwargs):
        n = sum(message.type == "ai" for message in messages)
        asked = {"name": "find_rooms", "id": f"c{n}", "type": "tool_call"}
        calls = [] if n == 3 else [{**asked, "args": CALLS[n]}]
        message = AIMessage("" if calls else "done", tool_calls=calls)
        return ChatResult(generations=[ChatGeneration(message=message)])
agent = create_agent(Scripted(), [tool(find_rooms)])
config = {}
if records:
    from coreloop.observe.adapters.langchain import record_runs
    config = {"callbacks": [record_runs()]}
async def run(number):
    await agent.ainvoke({"messages": [("user", f"question {number}")]}, config)
""",
    "mcp": """
from mcp.client import Client
from mcp.server import MCPServer
server = MCPServer("rooms")
"""
    + SERVER,
    "fastmcp": """
from fastmcp import Client, FastMCP
server = FastMCP("rooms")
"""
    + SERVER,
}


def seconds(name: str, how: str, folder: str) -> float:
    """Processor time of one process's runs."""
    script = HEAD + AGENTS[name] + TAIL
    done = subprocess.run(
        [interpreter(name, RECORDING), "-c", script, how, str(RUNS)],
        env={**os.environ, "PYTHONPATH": str(ROOT / "src")},
        cwd=folder,
        capture_output=True,
        text=True,
        check=True,
    )
    return float(done.stdout)


def main() -> None:
    for name in sys.argv[1:] or AGENTS:
        ratios = []
        for _ in range(ROUNDS):
            with tempfile.TemporaryDirectory() as folder:
                without, recorded = (seconds(name, how, folder) for how in ("without", "with"))
                (day,) = Path(folder, "data", "audit", "ai-ask").glob("*.jsonl")
                n_calls = sum(len(json.loads(line)["tool_calls"]) for line in day.open())
                assert n_calls == 3 * (RUNS + 10)
            ratios.append(recorded / without)
        print(f"{name:20} {min(ratios):.2f} to {max(ratios):.2f}")


if __name__ == "__main__":
    main()
