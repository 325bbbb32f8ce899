"""Python source as bytes, text and syntax tree at once, and the definitions in it.

The parser reads the bytes themselves; the decoded text exists to find, for a position that the parser reports
(a line and a UTF-8 column), the byte it stands for in the file's own encoding.
"""

import ast
import re
import sys
import tokenize
import warnings
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass

Scope = ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef

_BOM = b"\xef\xbb\xbf"
# What the tokenizer takes for the end of a line: not a form feed, not U+2028.
_NEWLINE = re.compile(r"\r\n|\r|\n")
_BYTES_NEWLINE = re.compile(rb"\r\n|\r|\n")
_BLOCKS = frozenset({"body", "handlers", "orelse", "finalbody", "cases"})
_PYTHON = f"Python {sys.version_info.major}.{sys.version_info.minor}"
"""A file for a newer Python is refused, and this tells why."""
_UNREADABLE = (SyntaxError, ValueError, LookupError, OverflowError, RecursionError, MemoryError)


class UnprovenError(Exception):
    """What was asked for cannot be shown to be safe; the message is the reason, for a maintainer."""


@dataclass(frozen=True, slots=True)
class SourceText:
    """One file.

    Parameters
    ----------
    raw : bytes
        The file, byte order mark included.
    text : str
        Decoded, line ends as they are, without byte order mark.
    encoding : str
        The codec of ``text``.
    tree : ast.Module
        Parsed from ``raw``.
    line_starts : tuple of int
        Offset in ``text`` of each line.
    """

    raw: bytes
    text: str
    encoding: str
    tree: ast.Module
    line_starts: tuple[int, ...]

    def offset(self, lineno: int, column: int) -> int:
        """Offset in `text` of a parser's position: a line from 1, a column in UTF-8 bytes from 0."""
        start = self.line_starts[lineno - 1]
        line = self.text[start : self.line_end(lineno)]
        if line.isascii():
            return start + column
        return start + len(line.encode("utf-8", "surrogatepass")[:column].decode("utf-8", "surrogatepass"))

    def span(self, node: ast.expr) -> tuple[int, int]:
        """Offsets in `text` of an expression's start and end."""
        end = self.offset(node.end_lineno or node.lineno, node.end_col_offset or 0)
        return self.offset(node.lineno, node.col_offset), end

    def line_end(self, lineno: int) -> int:
        """Offset in `text` of the end of a line, its line break included."""
        return self.line_starts[lineno] if lineno < len(self.line_starts) else len(self.text)

    def line_start_before(self, offset: int) -> int:
        """Offset in `text` of the start of the line that holds an offset."""
        return self.line_starts[bisect_right(self.line_starts, offset) - 1]

    def byte_offset(self, offset: int) -> int:
        """Offset in `raw` of an offset in `text`, if the codec leads back to the same bytes."""
        head = self._bom + encode(self.text[:offset], self.encoding)
        if not self.raw.startswith(head):
            raise UnprovenError(
                f"the bytes before the docstring do not survive a round trip through {self.encoding}"
            )
        return len(head)

    def newline_near(self, offset: int, start: int, end: int) -> str:
        """The line break in use: the last one in ``start..offset``, else the next one, else any."""
        before = _NEWLINE.findall(self.text, start, offset)
        if before:
            return str(before[-1])
        for position in (offset, end, 0):
            if found := _NEWLINE.search(self.text, position):
                return found.group()
        return "\n"

    @property
    def _bom(self) -> bytes:
        return _BOM if self.raw.startswith(_BOM) else b""


@dataclass(frozen=True, slots=True)
class Definition:
    """A scope that can have a docstring; `qualname` is dotted, without ``<locals>``, empty for the module."""

    qualname: str
    node: Scope

    @property
    def first_line(self) -> int:
        """Line of its first decorator, or of the ``def``."""
        if isinstance(self.node, ast.Module):
            return 1
        return min([self.node.lineno, *(decorator.lineno for decorator in self.node.decorator_list)])

    @property
    def line(self) -> int:
        """Line of the ``def`` or ``class``."""
        return 1 if isinstance(self.node, ast.Module) else self.node.lineno


def read_source(raw: bytes) -> SourceText:
    """Decode and parse a file; `UnprovenError` if Python could not."""
    try:
        encoding = _encoding(raw)
        text = raw.removeprefix(_BOM).decode(encoding)
        tree = parse(raw)
    except _UNREADABLE as exc:
        raise UnprovenError(f"{_PYTHON} cannot read the file: {_first_line(exc)}") from exc
    starts = (0, *(match.end() for match in _NEWLINE.finditer(text)))
    return SourceText(raw, text, encoding, tree, starts)


def parse(raw: bytes) -> ast.Module:
    """`ast.parse` without the warnings about the escapes that the file has always had."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return ast.parse(raw)


def encode(text: str, encoding: str) -> bytes:
    """Encode; `UnprovenError` names the first character that the encoding lacks."""
    try:
        return text.encode(encoding)
    except UnicodeEncodeError as exc:
        lacking = exc.object[exc.start : exc.start + 1]
        raise UnprovenError(f"the file's encoding, {encoding}, has no {lacking!r}") from exc
    except _UNREADABLE as exc:
        raise UnprovenError(f"the file's encoding, {encoding}, cannot hold the text") from exc


def _encoding(raw: bytes) -> str:
    # The tokenizer turns a bare CR into a line end before it looks for a coding cookie; `detect_encoding`
    # leaves that to its readline.
    lines = iter(_BYTES_NEWLINE.split(raw, maxsplit=2)[:2])
    encoding, _ = tokenize.detect_encoding(lambda: next(lines, b"") + b"\n")
    return "utf-8" if encoding == "utf-8-sig" else encoding


def _first_line(exc: BaseException) -> str:
    message = exc.msg if isinstance(exc, SyntaxError) else str(exc)
    where = f" (line {exc.lineno})" if isinstance(exc, SyntaxError) and exc.lineno else ""
    return (str(message).strip().splitlines() or [type(exc).__name__])[0] + where


def definitions(tree: ast.Module) -> Iterator[Definition]:
    """Every module, class and function of a tree, in the order of the file, whatever blocks they stand in."""
    yield Definition("", tree)
    stack: list[tuple[str, ast.AST]] = [("", node) for node in reversed(tree.body)]
    while stack:
        scope, node = stack.pop()
        if isinstance(node, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            scope = f"{scope}.{node.name}" if scope else node.name
            yield Definition(scope, node)
        stack.extend((scope, child) for child in reversed(_blocks(node)))


def _blocks(node: ast.AST) -> list[ast.AST]:
    """The statements, handlers and cases right below a statement."""
    names = [name for name in node._fields if name in _BLOCKS]
    return [child for name in names for child in getattr(node, name)]


def find_definition(tree: ast.Module, qualname: str, line: int | None = None) -> Definition:
    """The one definition of a name; `UnprovenError` if there is none, or more than one that shows.

    Parameters
    ----------
    tree : ast.Module
    qualname : str
        Dotted; ``""`` or ``"<module>"`` is the module; ``<locals>`` parts are ignored.
    line : int, optional
        Any line from the first decorator to the ``def`` itself; chooses among several.
    """
    wanted = ".".join(part for part in qualname.split(".") if part not in ("<locals>", "<module>"))
    found = [definition for definition in definitions(tree) if definition.qualname == wanted]
    if not found:
        raise UnprovenError(f"nothing named {qualname} is defined here")
    if not wanted:
        return found[0]
    lines = ", ".join(str(definition.line) for definition in found)
    if line is not None:
        chosen = [definition for definition in found if definition.first_line <= line <= definition.line]
        if not chosen:
            raise UnprovenError(f"{qualname} is not defined at line {line} but at {lines}")
        return chosen[0]
    visible = [definition for definition in found if not is_shadowed(definition)] or found
    if len(visible) > 1:
        raise UnprovenError(f"{qualname} is defined more than once, at lines {lines}; name one of them")
    return visible[0]


def is_shadowed(definition: Definition) -> bool:
    """Whether `definition` never shows its docstring: an ``@overload``, a property's setter or deleter."""
    if isinstance(definition.node, ast.Module):
        return False
    name = definition.node.name
    hiding = {f"{name}.setter", f"{name}.deleter"}
    decorators = [_dotted(decorator) for decorator in definition.node.decorator_list]
    return any(text in hiding or text.rpartition(".")[2] == "overload" for text in decorators)


def _dotted(node: ast.expr) -> str:
    if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
        return f"{node.value.id}.{node.attr}"
    return node.id if isinstance(node, ast.Name) else ""


def same_but(old: ast.AST, new: ast.AST, *, but: tuple[ast.Constant, ast.Constant] | None = None) -> bool:
    """Whether two trees are equal, positions aside, and the value of one pair of constants aside."""
    pairs: list[tuple[object, object]] = [(old, new)]
    while pairs:
        one, other = pairs.pop()
        if type(one) is not type(other):
            return False
        if isinstance(one, list) and isinstance(other, list):
            if len(one) != len(other):
                return False
            pairs.extend(zip(one, other, strict=True))
        elif isinstance(one, ast.AST):
            skipped = "value" if but and one is but[0] and other is but[1] else ""
            for field in one._fields:
                left, right = getattr(one, field), getattr(other, field)
                if left is not right and field != skipped:
                    pairs.append((left, right))
        elif one != other and repr(one) != repr(other):
            return False
    return True
