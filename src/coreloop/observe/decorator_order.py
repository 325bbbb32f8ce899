"""Whether `observed_tool` stands above a framework's decorator, which then keeps an unrecorded function."""

import linecache
import re
from collections.abc import Callable
from inspect import unwrap
from itertools import islice, takewhile
from types import CodeType
from typing import Any, Final

# @mcp.tool() · @agent.tool_plain · @function_tool(name="x"); not @toolbox.register, @observed_tool
_FRAMEWORK: Final = re.compile(r"@(?:\w+\.)*(?:tool|tool_plain|function_tool|beta_(?:async_)?tool)\b")
_OWN: Final = re.compile(r"@(?:\w+\.)*observed_tool\b")
_DEFINITION: Final = re.compile(r"(?:async\s+)?def\b")
_MAX_LINES: Final = 60
"""Lines of decorators that are read; a tool's descriptions in them are rarely longer."""


def is_above_framework(tool: Callable[..., Any]) -> bool:
    """Whether the source shows a framework's decorator below ours; False where there is no source to read.

    A framework that returns an object instead of a function is recognised without source: the object
    cannot be called.
    """
    if not callable(tool):
        return True
    code = getattr(unwrap(tool), "__code__", None)
    return isinstance(code, CodeType) and _is_wrong(_decorators(code))


def _decorators(code: CodeType) -> list[str]:
    lines = linecache.getlines(code.co_filename)
    below = (line.strip() for line in islice(lines, code.co_firstlineno - 1, None))
    above_def = takewhile(lambda line: not _DEFINITION.match(line), islice(below, _MAX_LINES))
    return [line for line in above_def if line.startswith("@")]


def _is_wrong(decorators: list[str]) -> bool:
    own = next((place for place, line in enumerate(decorators) if _OWN.match(line)), None)
    return own is not None and any(map(_FRAMEWORK.match, decorators[own + 1 :]))
