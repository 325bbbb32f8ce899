"""A line in each kind of text: models are sent it there, and nothing else of what they are sent changes."""

import json
import subprocess
from collections.abc import Callable, Iterator
from functools import partial
from inspect import cleandoc
from itertools import chain
from pathlib import Path
from typing import Any

import pytest

from coreloop.descriptions.edit import Edited
from coreloop.descriptions.place import Wanted
from coreloop.descriptions.texts import ToolText, find_text, find_texts, put_lines, remove_lines
from editing import DAY
from frameworks.environments import command

pytestmark = pytest.mark.frameworks
_TOOLS = '''import json
from typing import Annotated
from pydantic import Field
@tool()
def by_docstring(day: Annotated[str, "Annotated."], n: Annotated[int, Field(description="Field.")]) -> str:
    """Docstring."""
@tool(description="Keyword.")
def by_keyword(n: int = Field(5, description="Default.")) -> str: ...
SCHEMA = {"type": "object", "properties": {"day": {"type": "string", "description": "Dictionary."}}}
'''
_FASTMCP = """from fastmcp import FastMCP
server = FastMCP()
tool = server.tool
TOOLS
server.run()"""
_MCP = _FASTMCP.replace("fastmcp import FastMCP", "mcp.server import MCPServer as FastMCP")
_LOW_LEVEL = """import asyncio, json, tomllib, yaml
from pathlib import Path
from mcp.server import Server
from mcp.server.stdio import stdio_server
from mcp.types import ListToolsResult, Tool
SCHEMA = {"type": "object", "properties": {"day": {"type": "string", "description": "Dictionary."}}}
async def listed(context, params):
    tools = [Tool(name="by_call", description="Call.", input_schema=SCHEMA)]
    for load, file in ((json.loads, "a.json"), (yaml.safe_load, "a.yaml"), (tomllib.loads, "a.toml")):
        tools += map(Tool.model_validate, load(Path(file).read_text())["tools"])
    return ListToolsResult(tools=tools)
async def main():
    server = Server("shop", on_list_tools=listed)
    async with stdio_server() as streams:
        await server.run(*streams, server.create_initialization_options())
asyncio.run(main())"""
_PYDANTIC_AI = """from pydantic_ai import Agent, FunctionToolset, Tool
from pydantic_ai.models.function import FunctionModel
server = FunctionToolset()
tool = server.tool_plain
TOOLS
def reply(messages, info):
    tools = [[tool.description, tool.parameters_json_schema] for tool in info.function_tools]
    print(json.dumps({"id": 2, "tools": tools}), flush=True)
by_schema = Tool.from_schema(print, "by_schema", "Call.", json_schema=SCHEMA)
Agent(FunctionModel(reply), tools=[by_schema], toolsets=[server]).run_sync("Book.")"""
_OPENAI = """import httpx2, openai
from agents import Agent, FunctionTool, OpenAIResponsesModel, Runner
from agents import function_tool as tool
TOOLS
def reply(request):
    print(json.dumps({"id": 2, "tools": json.loads(request.content)["tools"]}), flush=True)
transport = httpx2.AsyncClient(transport=httpx2.MockTransport(reply))
model = OpenAIResponsesModel("m", openai.AsyncOpenAI(api_key="-", http_client=transport))
by_schema = FunctionTool("by_schema", "Call.", params_json_schema=SCHEMA, on_invoke_tool=None)
Runner.run_sync(Agent("shop", tools=[by_docstring, by_keyword, by_schema], model=model), "Book.")"""
_TYPESCRIPT = """import { McpServer } from "@modelcontextprotocol/sdk/server/mcp.js";
import { StdioServerTransport } from "@modelcontextprotocol/sdk/server/stdio.js";
import { z } from "zod";
const server: McpServer = new McpServer({ name: "shop", version: "1" });
const book = async () => ({ content: [] });
server.tool("by_tool", "tool", { day: z.string().describe("zod") }, book);
const inputSchema = { day: z.string().optional().describe('zod of registerTool') };
server.registerTool("by_register", { description: `registerTool`, inputSchema }, book);
await server.connect(new StdioServerTransport());"""
_AI = """import { generateText, tool } from "ai";
import { MockLanguageModelV3 } from "ai/test";
import { z } from "zod";
const day = z.string().describe("zod");
const by_tool = tool({ description: "tool", inputSchema: z.object({ day }) });
const doGenerate = async ({ tools }) => console.log(JSON.stringify({ id: 2, tools }));
await generateText({ model: new MockLanguageModelV3({ doGenerate }), prompt: "-", tools: { by_tool } });"""
_OVERRIDE = _TOOLS.replace("tool(description", "tool(description_override")
SERVERS = {
    "FastMCP": ("fastmcp", 5, _FASTMCP),
    "MCP SDK": ("mcp", 4, _MCP),
    "MCP SDK, low-level": ("mcp", 8, _LOW_LEVEL),
    "Pydantic AI": ("pydantic-ai-slim", 6, _PYDANTIC_AI),
    "OpenAI Agents": ("openai-agents", 7, _OPENAI.replace("TOOLS\n", _OVERRIDE)),
    "MCP SDK for TypeScript": ("npm", 4, _TYPESCRIPT),
    "AI SDK": ("npm", 2, _AI),
}
"""Distribution, how many texts are sent, and source; two frameworks do not send Annotated[…]."""
_LIST = """{"tools": [{"name": "by_FILE", "description": "FILE.", "inputSchema":
  {"type": "object", "properties": {"day": {"type": "string", "description": "Day of FILE."}}}}]}"""
_TOML = '''[[tools]]
name = "by_toml"
description = """toml."""
inputSchema = {type = "object", properties.day.description = "Day."}
'''
_FILES = {"a.json": _LIST.replace("FILE", "JSON"), "a.yaml": _LIST.replace("FILE", "YAML"), "a.toml": _TOML}
_PARAMS = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "x", "version": "1"}}
_ASKED = (
    {"id": 1, "method": "initialize"},
    {"method": "notifications/initialized"},
    {"id": 2, "method": "tools/list"},
)


def sent(words: list[str], folder: Path) -> Any:
    """What a server lists over stdio, or an agent prints of its request to a model."""
    pipe = subprocess.PIPE
    with subprocess.Popen(words, cwd=folder, stdin=pipe, stdout=pipe, text=True) as process:
        messages = [json.dumps({"jsonrpc": "2.0", "params": _PARAMS, **its}) + "\n" for its in _ASKED]
        process.stdin.writelines(messages)
        process.stdin.flush()
        answers = (json.loads(line) for line in process.stdout)
        answer = next(answer for answer in answers if answer.get("id") == 2)
        process.kill()
    return answer


def changes(before: Any, after: Any) -> Iterator[tuple[str, str]]:
    """The values that differ, without indentation."""
    if isinstance(before, dict) and isinstance(after, dict) and list(before) == list(after):
        before, after = list(before.values()), list(after.values())
    if isinstance(before, list) and isinstance(after, list) and len(before) == len(after):
        for pair in zip(before, after, strict=True):
            yield from changes(*pair)
    elif before != after:
        yield cleandoc(before.strip()), cleandoc(after.strip())


def edit(path: Path, change: Callable[[str, bytes, ToolText], Edited]) -> Iterator[Edited]:
    """Change each text of a file."""
    for name in [text.name for text in find_texts(path.name, path.read_bytes())]:
        raw = path.read_bytes()
        edited = change(path.name, raw, find_text(path.name, raw, name))
        path.write_bytes(edited.source)
        yield edited


@pytest.mark.parametrize("name", SERVERS)
def test_each_line_arrives_and_nothing_else_changes(name: str, tmp_path: Path) -> None:
    distribution, n_sent, source = SERVERS[name]
    words = command(distribution, tmp_path)
    for file, text in {words[-1]: source.replace("TOOLS\n", _TOOLS), **_FILES}.items():
        (tmp_path / file).write_text(text, encoding="utf-8")
    paths, before = [*tmp_path.glob("*.*")], sent(words, tmp_path)
    put, remove = partial(put_lines, wanted=Wanted((DAY,))), partial(remove_lines, lines=(DAY,))
    edits = [edited for path in paths for edited in edit(path, put)]
    arrived = dict(changes(before, sent(words, tmp_path)))
    assert arrived.items() <= {*chain(*(changes(its.before, its.after) for its in edits))}
    assert len(arrived) == n_sent
    assert all([*edit(path, remove)] for path in paths)
    assert sent(words, tmp_path) == before
