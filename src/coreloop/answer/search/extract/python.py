"""Python: the module's docstring, and each class and function with its signature and docstring."""

import ast
import re
import warnings
from collections.abc import Iterator
from typing import Final

from coreloop.answer.search.extract.decode import decode_text
from coreloop.answer.search.extract.document import Document, Section, Unreadable
from coreloop.answer.search.extract.plain import plain_document
from coreloop.answer.search.extract.symbols import Symbol, imported_modules, symbol_entry

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
            return _document(text, ast.parse(text))
    except _UNREADABLE:
        return plain_document(text)


def _document(text: str, tree: ast.Module) -> Document:
    starts = [0, *(match.end() for match in re.finditer("\n", text)), len(text)]
    symbols = _symbols(tree)
    places = [*_module_docstring(tree), *((name, node.lineno, _last_line(node)) for name, node in symbols)]
    sections = tuple(
        Section(starts[first - 1], starts[last], first, heading) for heading, first, last in places
    )
    return Document(
        type="python" if sections else "text",
        text=text,
        sections=sections or (Section(0, len(text), 1),),
        entries=tuple(symbol_entry(name, node) for name, node in symbols),
        imports=imported_modules(tree),
    )


def _module_docstring(tree: ast.Module) -> Iterator[tuple[str, int, int]]:
    if ast.get_docstring(tree, clean=False):
        yield "", tree.body[0].lineno, tree.body[0].end_lineno or 1


def _symbols(tree: ast.Module) -> list[tuple[str, Symbol]]:
    """Return the qualified name of every class and function, in the order of their lines."""
    found: list[tuple[str, Symbol]] = []
    waiting: list[tuple[ast.AST, str]] = [(tree, "")]
    while waiting:
        parent, prefix = waiting.pop()
        for node in ast.iter_child_nodes(parent):
            if isinstance(node, Symbol):
                found.append((f"{prefix}{node.name}", node))
            if isinstance(node, ast.ClassDef):
                waiting.append((node, f"{prefix}{node.name}."))
            elif isinstance(node, _BLOCKS):
                waiting.append((node, prefix))
    return sorted(found, key=lambda symbol: symbol[1].lineno)


def _last_line(symbol: Symbol) -> int:
    """The last line of the docstring, or else of the signature."""
    first = symbol.body[0]
    if ast.get_docstring(symbol, clean=False):
        return first.end_lineno or first.lineno
    decorators = first.decorator_list if isinstance(first, Symbol) else []
    return max(symbol.lineno, min([first.lineno, *(node.lineno for node in decorators)]) - 1)
