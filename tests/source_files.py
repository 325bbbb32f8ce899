"""The files of the source, each parsed once, for tests that read code."""

import ast
from functools import cache
from pathlib import Path


@cache
def parsed(path: Path) -> ast.Module:
    """A file of the source, parsed by the first test that asks."""
    return ast.parse(path.read_text("utf-8"))


@cache
def nodes(path: Path) -> tuple[ast.AST, ...]:
    """Everything in a file, in no order."""
    return tuple(ast.walk(parsed(path)))
