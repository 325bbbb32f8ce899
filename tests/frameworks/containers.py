"""What a project may name as its tools, for the framework of the environment; the tools are in orders.py."""

import importlib.util

import orders
from orders import find_orders


def _has(package):
    return importlib.util.find_spec(package) is not None


FUNCTIONS = [find_orders]
BY_NAME = {"find_orders": find_orders}
TEXT = "find_orders"


def made():
    print("noise on stdout")
    return [find_orders]


async def made_later():
    return (find_orders,)


if _has("fastmcp"):
    from fastmcp import FastMCP
    from fastmcp.tools import Tool

    CONTAINER = FastMCP("shop")
    CONTAINER.tool(find_orders)
    OBJECTS = [Tool.from_function(find_orders)]
    OVERRIDDEN = [Tool.from_function(find_orders, description="Written here.")]
elif _has("pydantic_ai"):
    from pydantic_ai import Agent, RunContext, Tool
    from pydantic_ai.toolsets import FunctionToolset

    CONTAINER = Agent(deps_type=str, toolsets=[FunctionToolset([find_orders])])
    OBJECTS = [Tool(find_orders)]
    OVERRIDDEN = FunctionToolset([Tool(find_orders, description="Written here.")])

    @CONTAINER.tool
    def who(context: RunContext[str]) -> str:
        """Tell who asks."""
        return context.deps
elif _has("agents"):
    from agents import Agent, WebSearchTool, function_tool

    CONTAINER = Agent("shop", tools=[WebSearchTool(), function_tool(find_orders)])
    OBJECTS = [function_tool(find_orders)]
    OVERRIDDEN = [function_tool(find_orders, description_override="Written here.")]
elif _has("mcp"):
    from mcp.server.mcpserver import MCPServer

    CONTAINER = MCPServer("shop")
    CONTAINER.add_tool(find_orders)
    OBJECTS = FUNCTIONS
    OVERRIDDEN = MCPServer("shop")
    OVERRIDDEN.add_tool(find_orders, description="Written here.")
elif _has("langchain_core"):
    from langchain_core.tools import BaseToolkit, StructuredTool, tool

    class Toolkit(BaseToolkit):
        def get_tools(self):
            return [tool(find_orders)]

    CONTAINER = Toolkit()
    OBJECTS = [tool(find_orders)]
    OVERRIDDEN = [StructuredTool.from_function(find_orders, description="Written here.")]
elif _has("anthropic"):
    from anthropic import beta_tool

    CONTAINER = (beta_tool(find_orders),)
    OBJECTS = [{"name": "find_orders", "description": orders.find_orders.__doc__, "input_schema": {}}]
    OVERRIDDEN = [beta_tool(description="Written here.")(find_orders)]
elif _has("llama_index"):
    from llama_index.core.agent.workflow import AgentWorkflow
    from llama_index.core.llms.mock import MockFunctionCallingLLM
    from llama_index.core.tools import FunctionTool
    from llama_index.core.tools.tool_spec.base import BaseToolSpec

    class Spec(BaseToolSpec):
        spec_functions = ("find_orders",)

        def find_orders(self, order_id: str) -> str:
            return order_id

    Spec.find_orders.__doc__ = find_orders.__doc__
    CONTAINER = Spec()
    FLOW = AgentWorkflow.from_tools_or_functions([find_orders], llm=MockFunctionCallingLLM())
    OBJECTS = [FunctionTool.from_defaults(find_orders)]
    OVERRIDDEN = [FunctionTool.from_defaults(find_orders, description="Written here.")]
