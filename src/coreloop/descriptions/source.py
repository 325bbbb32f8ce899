"""Python source as bytes, text and syntax tree, and the definitions in it.

The parser reads the bytes; the decoded text maps its positions (a line and a UTF-8 column) to bytes in the
file's own encoding.
"""

import ast
import re
import sys
import tokenize
import warnings
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass

from coreloop.base.errors import PhrasedError

Scope = ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef

_BOM = b"\xef\xbb\xbf"
# Line ends as the tokenizer sees them: not a form feed, not U+2028.
_NEWLINE = re.compile(r"\r\n|\r|\n")
_BYTES_NEWLINE = re.compile(rb"\r\n|\r|\n")
_BLOCKS = frozenset({"body", "handlers", "orelse", "finalbody", "cases"})
_PYTHON = f"Python {sys.version_info.major}.{sys.version_info.minor}"
"""Named where a file is refused, since the file may need a newer Python."""
_UNREADABLE = (SyntaxError, ValueError, LookupError, OverflowError, RecursionError, MemoryError)


class UnprovenError(PhrasedError):
    """An edit cannot be proven safe; the message is the reason, for a maintainer."""


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
        """Offset in `text` of the start of the line that contains an offset."""
        return self.line_starts[bisect_right(self.line_starts, offset) - 1]

    def byte_offset(self, offset: int) -> int:
        """Offset in `raw` of an offset in `text`; `UnprovenError` if the codec does not round-trip."""
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
            if match := _NEWLINE.search(self.text, position):
                return match.group()
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
    """`ast.parse` without warnings about existing invalid escapes."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return ast.parse(raw)


def encode(text: str, encoding: str) -> bytes:
    """Encode text; `UnprovenError` names the first character that the encoding lacks."""
    try:
        return text.encode(encoding)
    except UnicodeEncodeError as exc:
        lacking = exc.object[exc.start : exc.start + 1]
        raise UnprovenError(f"the file's encoding, {encoding}, has no {lacking!r}") from exc
    except _UNREADABLE as exc:
        raise UnprovenError(f"the file's encoding, {encoding}, cannot encode the text") from exc


def _encoding(raw: bytes) -> str:
    # The tokenizer turns a bare CR into a line end before it looks for a coding cookie; `detect_encoding`
    # leaves that to `readline`.
    lines = iter(_BYTES_NEWLINE.split(raw, maxsplit=2)[:2])
    encoding, _ = tokenize.detect_encoding(lambda: next(lines, b"") + b"\n")
    return "utf-8" if encoding == "utf-8-sig" else encoding


def _first_line(exc: BaseException) -> str:
    message = exc.msg if isinstance(exc, SyntaxError) else str(exc)
    where = f" (line {exc.lineno})" if isinstance(exc, SyntaxError) and exc.lineno else ""
    return (str(message).strip().splitlines() or [type(exc).__name__])[0] + where


def definitions(tree: ast.Module) -> Iterator[Definition]:
    """The module and every class and function of a tree in file order, also those inside blocks."""
    yield Definition("", tree)
    stack: list[tuple[str, ast.AST]] = [("", node) for node in reversed(tree.body)]
    while stack:
        scope, node = stack.pop()
        if isinstance(node, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            scope = f"{scope}.{node.name}" if scope else node.name
            yield Definition(scope, node)
        stack.extend((scope, child) for child in reversed(_blocks(node)))


def _blocks(node: ast.AST) -> list[ast.AST]:
    """The statements, handlers and cases directly below a statement."""
    names = [name for name in node._fields if name in _BLOCKS]
    return [child for name in names for child in getattr(node, name)]


def find_definition(tree: ast.Module, qualname: str, line: int | None = None) -> Definition:
    """Find the definition of a name; `UnprovenError` if absent, or if several are visible.

    Parameters
    ----------
    tree : ast.Module
    qualname : str
        Dotted; ``""`` or ``"<module>"`` is the module; ``<locals>`` parts are ignored.
    line : int, optional
        Any line from the first decorator to the ``def``; chooses among several definitions.
    """
    wanted = ".".join(part for part in qualname.split(".") if part not in ("<locals>", "<module>"))
    matching = [definition for definition in definitions(tree) if definition.qualname == wanted]
    if not matching:
        raise UnprovenError(f"nothing named {qualname} is defined here")
    if not wanted:
        return matching[0]
    lines = ", ".join(str(definition.line) for definition in matching)
    if line is not None:
        chosen = [definition for definition in matching if definition.first_line <= line <= definition.line]
        if not chosen:
            raise UnprovenError(f"{qualname} is not defined at line {line} but at {lines}")
        return chosen[0]
    visible = [definition for definition in matching if not is_shadowed(definition)] or matching
    if len(visible) > 1:
        raise UnprovenError(f"{qualname} is defined more than once, at lines {lines}; name one of them")
    return visible[0]


def is_shadowed(definition: Definition) -> bool:
    """Whether a docstring never shows: that of an ``@overload``, of a property's setter or deleter."""
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


def equal_except(
    old: ast.AST, new: ast.AST, *, pair: tuple[ast.Constant, ast.Constant] | None = None
) -> bool:
    """Whether two trees are equal apart from positions and the value of one pair of constants."""
    pairs: list[tuple[object, object]] = [(old, new)]
    while pairs:
        left, right = pairs.pop()
        if type(left) is not type(right):
            return False
        if isinstance(left, list) and isinstance(right, list):
            if len(left) != len(right):
                return False
            pairs.extend(zip(left, right, strict=True))
        elif isinstance(left, ast.AST):
            skipped = "value" if pair and left is pair[0] and right is pair[1] else ""
            for field in left._fields:
                values = getattr(left, field), getattr(right, field)
                if values[0] is not values[1] and field != skipped:
                    pairs.append(values)
        elif left != right and repr(left) != repr(right):
            return False
    return True
