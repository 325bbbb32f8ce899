"""The functions that a project declares as tools with a decorator of an agent framework."""

import ast
import re
from collections.abc import Collection, Iterator
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
    source_files,
)

_MENTION: Final = r"@[\w.]*tool"
_NAMES: Final = ("name", "name_override")


def possible_tools(root: Path, names: Collection[str] = ()) -> dict[str, list[Tool]]:
    """Find the decorated tools of a project, and all definitions of some names, without importing anything.

    Parameters
    ----------
    root : Path
        The project's folder, searched like in `coreloop.base.project.tools.resolve_tools`.
    names : collection of str
        Names of tools that may have no decorator.

    Returns
    -------
    dict of str to list of Tool
        By the name that the model knows.
    """
    words = [_MENTION, *(rf"\bdef\s+{re.escape(name)}\b" for name in names)]
    mention = re.compile("|".join(words).encode())
    tools: dict[str, list[Tool]] = {}
    for path in source_files(root):
        tree = parse_python(path, mention=mention)
        for tool in _file_tools(tree, path.relative_to(root).as_posix(), names) if tree is not None else ():
            tools.setdefault(tool.name, []).append(tool)
    return tools


def _file_tools(tree: ast.AST, file: str, names: Collection[str]) -> Iterator[Tool]:
    for qualname, node in definitions(tree):
        if isinstance(node, ast.ClassDef):
            continue
        decorators = filter(is_tool_decorator, node.decorator_list)
        known = [_explicit_name(decorator) or node.name for decorator in decorators]
        known += [node.name] if node.name in names else []
        if known and is_tool_name(known[0]):
            yield replace(make_tool(node.name, file, qualname, node, tree), name=known[0])


def _explicit_name(decorator: ast.expr) -> str | None:
    """Return the name in ``@tool("name")`` or ``@mcp.tool(name="name")``, or None if absent."""
    if not isinstance(decorator, ast.Call):
        return None
    named = [keyword.value for keyword in decorator.keywords if keyword.arg in _NAMES]
    values = (node.value for node in named or decorator.args[:1] if isinstance(node, ast.Constant))
    return next((value for value in values if isinstance(value, str)), None)
