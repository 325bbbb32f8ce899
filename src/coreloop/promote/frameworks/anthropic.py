"""The Anthropic SDK: `beta_tool`."""

from __future__ import annotations

import inspect
from typing import Any

from anthropic import beta_async_tool, beta_tool

KINDS = "a list of beta_tool tools of the Anthropic SDK or of functions"


def read(item: Any) -> list[tuple[str, str | None]] | None:
    """Name and description of the tool, or None for another type."""
    if inspect.isroutine(item):
        item = (beta_async_tool if inspect.iscoroutinefunction(item) else beta_tool)(item)
    if not hasattr(item, "to_dict"):
        return None
    sent = item.to_dict()
    return [(sent["name"], sent.get("description"))] if "name" in sent else []
