"""Texts in Python: docstrings, and string literals that describe a tool or an argument."""

import ast

from coreloop.descriptions.source import SourceText, UnprovenError, locate, read_source
from coreloop.descriptions.texts import DOCSTRING, ToolText


def docstring_text(raw: bytes, qualname: str) -> ToolText:
    """The docstring of a definition; `UnprovenError` if absent."""
    source = read_source(raw)
    located = locate(source, qualname)
    if located is None:
        raise UnprovenError(f"{qualname or 'the module'} has no docstring")
    node, value = located.node, located.literal.value
    return ToolText(qualname, "", value, *_bytes(source, node), node.lineno, DOCSTRING, qualname)


def _bytes(source: SourceText, node: ast.expr) -> tuple[int, int]:
    start, end = source.span(node)
    return source.byte_offset(start), source.byte_offset(end)
