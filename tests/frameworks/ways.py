"""Prints, in a framework's environment, the schema of every tool's arguments as each of its ways sends it.

    python ways.py DISTRIBUTION

Stands beside tools.py; also the module that the readers are pointed at, for tools made by a decorator.
"""

import asyncio
import importlib.util
import json
import sys

from tools import TOOLS


def _has(package):
    return importlib.util.find_spec(package) is not None


if _has("langchain_core"):
    from langchain_core.tools import tool

    PLAIN = [tool(function) for function in TOOLS]
    # By default a docstring that is not Google's is an error: there is no tool, with or without new lines.
    PARSED = [tool(parse_docstring=True, error_on_invalid_docstring=False)(function) for function in TOOLS]


def fastmcp():
    from fastmcp.tools import Tool

    return {"fastmcp": {f.__name__: Tool.from_function(f).parameters for f in TOOLS}}


def mcp():
    from mcp.server.mcpserver import MCPServer

    server = MCPServer("tools")
    for function in TOOLS:
        server.add_tool(function)
    return {"mcp": {tool.name: tool.input_schema for tool in asyncio.run(server.list_tools())}}


def pydantic_ai_slim():
    from pydantic_ai import Tool

    return {"pydantic-ai": {f.__name__: Tool(f).tool_def.parameters_json_schema for f in TOOLS}}


def openai_agents():
    from agents import function_tool

    return {"openai-agents": {f.__name__: function_tool(f).params_json_schema for f in TOOLS}}


def langchain_core():
    from langchain_core.utils.function_calling import convert_to_openai_tool

    ways = {"langchain-tool": PLAIN, "langchain-parsed": PARSED, "langchain-function": TOOLS}
    sent = {way: [convert_to_openai_tool(item)["function"] for item in items] for way, items in ways.items()}
    return {way: {tool["name"]: tool["parameters"] for tool in tools} for way, tools in sent.items()}


def anthropic():
    from anthropic import beta_tool

    return {"anthropic": {f.__name__: beta_tool(f).to_dict()["input_schema"] for f in TOOLS}}


def llama_index_core():
    from llama_index.core.tools import FunctionTool

    tools = {f.__name__: FunctionTool.from_defaults(f).metadata for f in TOOLS}
    return {"llama-index": {name: tool.get_parameters_dict() for name, tool in tools.items()}}


if __name__ == "__main__":
    print(json.dumps(globals()[sys.argv[1].replace("-", "_")]()))
