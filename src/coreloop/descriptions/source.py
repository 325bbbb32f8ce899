"""Python source as bytes and syntax tree, with the places of its parts in the file's own encoding."""

import ast
import re
import sys
import tokenize
import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import zip_longest

from coreloop.base.project.definitions import AnyDefinition

BOM = b"\xef\xbb\xbf"
# Line ends as the tokenizer sees them: not a form feed, not U+2028.
_NEWLINE = re.compile(rb"\r\n|\r|\n")
_PYTHON = f"Python {sys.version_info.major}.{sys.version_info.minor}"
"""Named where a file is refused, since the file may need a newer Python."""


class UnprovenError(Exception):
    """An edit cannot be proven safe; the message is the reason, for a maintainer."""


@dataclass(frozen=True, slots=True)
class SourceText:
    """One file.

    Parameters
    ----------
    raw : bytes
        The file, byte order mark included.
    text : str
        Decoded, without byte order mark.
    encoding : str
        The codec of ``text``.
    tree : ast.Module
        Parsed from ``raw``.
    line_starts : tuple of int
        Offset in ``raw`` of each line.
    """

    raw: bytes
    text: str
    encoding: str
    tree: ast.Module
    line_starts: tuple[int, ...]

    def offset(self, lineno: int, column: int) -> int:
        """Offset in `raw` of a parser's position: a line from 1, a column in UTF-8 bytes from 0."""
        start = self.line_starts[lineno - 1]
        if self.encoding == "utf-8":
            return start + column
        line = self.raw[start : self.line_starts[lineno] if lineno < len(self.line_starts) else None]
        text = line.decode(self.encoding)
        if encode(text, self.encoding) != line:
            raise UnprovenError(f"line {lineno} does not survive a round trip through {self.encoding}")
        return start + len(encode(text.encode()[:column].decode(), self.encoding))

    def span(self, node: ast.expr) -> tuple[int, int]:
        """Offsets in `raw` of an expression's start and end."""
        end = self.offset(node.end_lineno or node.lineno, node.end_col_offset or 0)
        return self.offset(node.lineno, node.col_offset), end


def read_source(raw: bytes) -> SourceText:
    """Decode and parse a file; `UnprovenError` if Python could not."""
    try:
        encoding, body = _encoding(raw), raw.removeprefix(BOM)
        text = body.decode(encoding)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # invalid escapes
            tree = ast.parse(raw)
    except (SyntaxError, ValueError, LookupError, OverflowError, RecursionError, MemoryError) as exc:
        reason = str(exc).strip().partition("\n")[0].replace("<unknown>, ", "") or type(exc).__name__
        raise UnprovenError(f"{_PYTHON} cannot read the file: {reason}") from exc
    starts = (len(raw) - len(body), *(match.end() for match in _NEWLINE.finditer(raw)))
    return SourceText(raw, text, encoding, tree, starts)


def encode(text: str, encoding: str) -> bytes:
    """Encode text; `UnprovenError` if the encoding lacks a character."""
    try:
        return text.encode(encoding)
    except ValueError as exc:
        raise UnprovenError(f"the file's encoding, {encoding}, cannot encode the text") from exc


def _encoding(raw: bytes) -> str:
    # The tokenizer turns a bare CR into a line end before it looks for a coding cookie; `detect_encoding`
    # leaves that to `readline`.
    lines = iter(_NEWLINE.split(raw, maxsplit=2)[:2])
    encoding, _ = tokenize.detect_encoding(lambda: next(lines, b"") + b"\n")
    return "utf-8" if encoding == "utf-8-sig" else encoding


def docstring_node(node: AnyDefinition) -> ast.Constant | None:
    """The docstring's literal; None if it is absent, or an f-string or bytes, which Python does not show."""
    value = getattr(node.body[0], "value", None) if isinstance(node.body[0], ast.Expr) else None
    return value if isinstance(value, ast.Constant) and isinstance(value.value, str) else None


def differences(old: object, new: object) -> list[tuple[object, object]]:
    """Where two trees of nodes, collections and values differ, apart from positions in a file."""
    pairs = zip_longest(_flat(old), _flat(new))
    return [(left, right) for left, right in pairs if left is not right and repr(left) != repr(right)]


def _flat(tree: object) -> Iterator[object]:
    """The values of a tree in its order; of each part that has others, its type and how many."""
    stack = [tree]
    while stack:
        value = stack.pop()
        parts: Sequence[object] | None = value if isinstance(value, list | tuple) else None
        if isinstance(value, ast.AST):
            parts = [getattr(value, field) for field in value._fields]
        elif isinstance(value, dict):
            parts = [*value.items()]
        yield value if parts is None else (type(value), len(parts))
        stack += parts or ()
