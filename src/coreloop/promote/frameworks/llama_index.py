"""LlamaIndex: the metadata of its tools."""

from __future__ import annotations

import inspect
from typing import Any

from llama_index.core.tools import BaseTool, FunctionTool

KINDS = "an agent or a workflow of LlamaIndex, a list of its tools or of functions, or a tool spec"


def read(item: Any) -> list[tuple[str, str | None]] | None:
    """Name and description of each tool, or None for another type."""
    held = item.to_tool_list() if hasattr(item, "to_tool_list") else getattr(item, "tools", None)
    held = [*item.agents.values()] if hasattr(item, "agents") else held  # of a workflow
    if held is not None:
        return [pair for part in held for pair in read(part) or ()]
    if inspect.isroutine(item):
        item = FunctionTool.from_defaults(item)
    return [(item.metadata.name, item.metadata.description)] if isinstance(item, BaseTool) else None
