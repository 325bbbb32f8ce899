"""Python: the module's docstring, and each class and function with its signature and docstring."""

import ast
import re
import warnings
from collections.abc import Iterator
from typing import Final

from coreloop.search.extract.decode import decode_text
from coreloop.search.extract.document import Document, Section, Unreadable
from coreloop.search.extract.plain import plain_document

_Symbol = ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef
_MAX_PARSED_CHARS: Final = 2_000_000
"""A syntax tree takes a hundred times the memory of its text."""
_BLOCKS: Final = (ast.If, ast.Try, ast.With)
_UNREADABLE: Final = (SyntaxError, ValueError, RecursionError, MemoryError)


def extract_python(data: bytes) -> Document | Unreadable:
    """Read a Python file; one that this Python cannot parse, or without symbols, is plain text."""
    text = decode_text(data)
    if isinstance(text, Unreadable):
        return text
    if len(text) > _MAX_PARSED_CHARS:
        return plain_document(text)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            tree = ast.parse(text)
    except _UNREADABLE:
        return plain_document(text)
    starts = [0, *(match.end() for match in re.finditer("\n", text)), len(text)]
    sections = tuple(
        Section(starts[first - 1], starts[last], first, heading) for heading, first, last in _symbols(tree)
    )
    return Document(type="python", text=text, sections=sections) if sections else plain_document(text)


def _symbols(tree: ast.Module) -> Iterator[tuple[str, int, int]]:
    """Yield the qualified name, the first and the last line of every symbol, the module's docstring first."""
    if ast.get_docstring(tree, clean=False):
        yield "", tree.body[0].lineno, tree.body[0].end_lineno or 1
    found: list[tuple[str, int, int]] = []
    waiting: list[tuple[ast.AST, str]] = [(tree, "")]
    while waiting:
        parent, prefix = waiting.pop()
        for node in ast.iter_child_nodes(parent):
            if isinstance(node, _Symbol):
                found.append((f"{prefix}{node.name}", node.lineno, _last_line(node)))
            if isinstance(node, ast.ClassDef):
                waiting.append((node, f"{prefix}{node.name}."))
            elif isinstance(node, _BLOCKS):
                waiting.append((node, prefix))
    yield from sorted(found, key=lambda symbol: symbol[1])


def _last_line(symbol: _Symbol) -> int:
    """The last line of the docstring, or else of the signature."""
    first = symbol.body[0]
    if ast.get_docstring(symbol, clean=False):
        return first.end_lineno or first.lineno
    decorators = first.decorator_list if isinstance(first, _Symbol) else []
    return max(symbol.lineno, min([first.lineno, *(node.lineno for node in decorators)]) - 1)
