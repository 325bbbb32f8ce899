"""The functions that a project declares as tools with a decorator of an agent framework."""

import ast
import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Final

from coreloop.base.project.tools import (
    Tool,
    definitions,
    is_tool_decorator,
    is_tool_name,
    make_tool,
    parse_python,
    python_files,
)

_MENTION: Final = re.compile(rb"@[\w.]*tool")
_NAMES: Final = ("name", "name_override")


def decorated_tools(root: Path) -> dict[str, Tool]:
    """Find the decorated tools of a project without importing anything.

    Parameters
    ----------
    root : Path
        The project's folder, searched like in `coreloop.base.project.tools.resolve_tools`.

    Returns
    -------
    dict of str to Tool
        By the name that the model knows. If a name is defined more than once, the first definition.
    """
    tools: dict[str, Tool] = {}
    for path in python_files(root):
        for tool in _file_tools(path, path.relative_to(root).as_posix()):
            tools.setdefault(tool.name, tool)
    return tools


def _file_tools(path: Path, file: str) -> Iterator[Tool]:
    tree = parse_python(path, mention=_MENTION)
    for qualname, node in definitions(tree) if tree is not None else ():
        if isinstance(node, ast.ClassDef):
            continue
        decorators = filter(is_tool_decorator, node.decorator_list)
        names = [_explicit_name(decorator) or node.name for decorator in decorators]
        if names and is_tool_name(names[0]):
            yield replace(make_tool(node.name, file, qualname, node, tree), name=names[0])


def _explicit_name(decorator: ast.expr) -> str | None:
    """Return the name in ``@tool("name")`` or ``@mcp.tool(name="name")``, or None if absent."""
    if not isinstance(decorator, ast.Call):
        return None
    named = [keyword.value for keyword in decorator.keywords if keyword.arg in _NAMES]
    values = (node.value for node in named or decorator.args[:1] if isinstance(node, ast.Constant))
    return next((value for value in values if isinstance(value, str)), None)
