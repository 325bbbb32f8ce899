"""LlamaIndex: the metadata of its tools."""

from __future__ import annotations

import inspect
from typing import Any

from llama_index.core.tools import BaseTool, FunctionTool

KINDS = "a list of LlamaIndex tools or of functions, or a tool spec"


def read(item: Any) -> list[tuple[str, str | None]] | None:
    """Name and description of each tool, or None for another type."""
    if hasattr(item, "to_tool_list"):
        return [pair for tool in item.to_tool_list() for pair in read(tool) or ()]
    if inspect.isroutine(item):
        item = FunctionTool.from_defaults(item)
    return [(item.metadata.name, item.metadata.description)] if isinstance(item, BaseTool) else None
