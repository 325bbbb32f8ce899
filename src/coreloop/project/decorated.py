"""The functions that a project's source makes tools with a decorator of an agent framework."""

import ast
import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Final

from coreloop.project.tools import Tool, definitions, is_tool_name, make_tool, parse_python, python_files

DECORATORS: Final = frozenset(
    {"tool", "tool_plain", "function_tool", "beta_tool", "beta_async_tool", "observed_tool"}
)
"""The last names of decorators: ``@tool``, ``@mcp.tool()``, ``@agent.tool_plain``, ``@function_tool`` …"""
_MENTION: Final = re.compile(rb"@[\w.]*tool")
_NAMES: Final = ("name", "name_override")


def decorated_tools(root: Path) -> dict[str, Tool]:
    """Find them without importing anything.

    Parameters
    ----------
    root : Path
        The project's folder; searched as by `coreloop.project.tools.resolve_tools`.

    Returns
    -------
    dict of str to Tool
        By the name that the model knows; of several definitions of a name, the first.
    """
    found: dict[str, Tool] = {}
    for path in python_files(root):
        for tool in _tools_of(path, path.relative_to(root).as_posix()):
            found.setdefault(tool.name, tool)
    return found


def _tools_of(path: Path, file: str) -> Iterator[Tool]:
    tree = parse_python(path, mention=_MENTION)
    for qualname, node in definitions(tree) if tree is not None else ():
        if isinstance(node, ast.ClassDef):
            continue
        named = [_given_name(one) or node.name for one in node.decorator_list if _is_tool_decorator(one)]
        if named and is_tool_name(named[0]):
            yield replace(make_tool(node.name, file, qualname, node, tree), name=named[0])


def _is_tool_decorator(decorator: ast.expr) -> bool:
    function = decorator.func if isinstance(decorator, ast.Call) else decorator
    name = function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", "")
    return name in DECORATORS


def _given_name(decorator: ast.expr) -> str | None:
    """The name in ``@tool("name")`` or ``@mcp.tool(name="name")``."""
    if not isinstance(decorator, ast.Call):
        return None
    given = [one.value for one in decorator.keywords if one.arg in _NAMES] or decorator.args[:1]
    values = (one.value for one in given if isinstance(one, ast.Constant))
    return next((value for value in values if isinstance(value, str)), None)
