"""LangChain: the descriptions that `bind_tools` sends, for tools and plain functions."""

from __future__ import annotations

import inspect
from typing import Any

from langchain_core.tools import BaseTool
from langchain_core.utils.function_calling import convert_to_openai_tool

KINDS = "a list of LangChain tools or of functions, or a toolkit"


def read(item: Any) -> list[tuple[str, str | None]] | None:
    """Name and description of each tool, or None for another type."""
    if hasattr(item, "get_tools"):
        return [pair for tool in item.get_tools() for pair in read(tool) or ()]
    if not (isinstance(item, (BaseTool, type)) or inspect.isroutine(item)):
        return None
    function = convert_to_openai_tool(item)["function"]
    return [(function["name"], function.get("description"))]
