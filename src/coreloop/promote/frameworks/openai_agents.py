"""The OpenAI Agents SDK: function tools, alone or of an agent."""

from __future__ import annotations

import inspect
from typing import Any

from agents import Agent, FunctionTool, function_tool

KINDS = "an Agent of the OpenAI Agents SDK, or a list of its tools or of functions"


def read(item: Any) -> list[tuple[str, str | None]] | None:
    """Name and description of each tool, or None for another type."""
    if isinstance(item, Agent):
        return [pair for tool in item.tools for pair in read(tool) or ()]
    if inspect.isroutine(item):
        item = function_tool(
            item, strict_mode=False
        )  # strict mode refuses some signatures; the text is the same
    if isinstance(item, FunctionTool):
        return [(item.name, item.description)]
    # Hosted tools (web search, …) have no text from the project.
    return [] if type(item).__module__.partition(".")[0] == "agents" else None
