"""Python: each class and function with its body, and what stands between them: constants, comments."""

import ast
import re
import warnings
from collections.abc import Iterator
from itertools import groupby
from operator import itemgetter
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
    """Read a Python file; one that this Python cannot parse is plain text."""
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
    symbols = _symbols(tree)
    return Document(
        type="python",
        text=text,
        sections=tuple(_sections(text, symbols)),
        entries=tuple(symbol_entry(name, node) for name, node in symbols),
        imports=imported_modules(tree),
    )


def _sections(text: str, symbols: list[tuple[str, Symbol]]) -> Iterator[Section]:
    """Yield the lines of each symbol without those of the symbols inside it, and the lines of the module."""
    lines = _lines(text)
    owners = [""] * len(lines)
    for name, node in symbols:
        first = min([node.lineno, *(decorator.lineno for decorator in node.decorator_list)]) - 1
        while first and lines[first - 1].lstrip().startswith("#"):  # a comment above belongs to it
            first -= 1
        last = node.end_lineno or node.lineno
        owners[first:last] = [name] * (last - first)
    start = number = 0
    for heading, group in groupby(zip(owners, lines, strict=True), key=itemgetter(0)):
        part = [line for _, line in group]
        size = sum(map(len, part))
        if any(line.strip() for line in part):
            yield Section(start, start + size, number + 1, heading)
        start, number = start + size, number + len(part)


def _lines(text: str) -> list[str]:
    """Split at line feeds alone, as the parser counts lines; a form feed ends none."""
    return [part for part in re.split(r"(?<=\n)", text) if part]


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
