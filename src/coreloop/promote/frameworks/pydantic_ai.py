"""Pydantic AI: the definitions of function tools."""

from __future__ import annotations

import asyncio
import inspect
from typing import Any

from pydantic_ai import Agent, RunContext, Tool
from pydantic_ai.models.test import TestModel
from pydantic_ai.toolsets import AbstractToolset, FunctionToolset
from pydantic_ai.usage import RunUsage

KINDS = "an Agent or a FunctionToolset of Pydantic AI, or a list of its tools or of functions"


def read(item: Any) -> list[tuple[str, str | None]] | None:
    """Name and description of each tool, or None for another type."""
    if isinstance(item, Agent):
        return [pair for toolset in item.toolsets for pair in _of_toolset(toolset)]
    if isinstance(item, AbstractToolset):
        return _of_toolset(item)
    if inspect.isroutine(item):
        item = Tool(item)
    if not isinstance(item, Tool):
        return None
    return [(item.tool_def.name, item.tool_def.description)]


def _of_toolset(toolset: Any) -> list[tuple[str, str | None]]:
    """Function toolsets only; a server's toolset would need a connection."""
    leaves: list[Any] = []
    toolset.apply(leaves.append)
    if not all(isinstance(leaf, FunctionToolset) for leaf in leaves):
        return []
    context = RunContext(deps=None, model=TestModel(), usage=RunUsage())
    tools = asyncio.run(toolset.get_tools(context)).values()
    return [(tool.tool_def.name, tool.tool_def.description) for tool in tools]
