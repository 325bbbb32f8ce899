"""Python source as bytes, text and syntax tree; the definitions in it, and where a docstring's value is.

The parser reads the bytes; the decoded text maps its positions (a line and a UTF-8 column) to bytes in the
file's own encoding.
"""

import ast
import re
import sys
import tokenize
import warnings
from bisect import bisect_left
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

from coreloop.base.project.allowed_values import last_name
from coreloop.base.project.definitions import definitions as classes_and_functions
from coreloop.descriptions.sections import Layout, scan

Scope = ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef

BOM = b"\xef\xbb\xbf"
# Line ends as the tokenizer sees them: not a form feed, not U+2028.
_NEWLINE = re.compile(r"\r\n|\r|\n")
BYTES_NEWLINE = re.compile(rb"\r\n|\r|\n")
_PYTHON = f"Python {sys.version_info.major}.{sys.version_info.minor}"
"""Named where a file is refused, since the file may need a newer Python."""
# The possessive repeat avoids exponential time on text that does not match. The group's own repeat is not
# possessive: in Python 3.11.2 such a group never matches.
_LITERAL = re.compile(
    r"(?P<prefix>[rRuU]?)(?P<quote>\"\"\"|'''|\"|')"
    r"(?P<body>(?:[^\\\"']++|\\.|(?!(?P=quote))[\"'])*)(?P=quote)",
    re.DOTALL,
)
_BREAK = re.compile(r"\r\n?")
_ESCAPE = re.compile(
    r"\\(?:\r\n|[0-7]{1,3}|x[0-9a-fA-F]{2}|u[0-9a-fA-F]{4}|U[0-9a-fA-F]{8}|N\{[^{}\\]*\}|.)|\r\n?", re.DOTALL
)
_UNREADABLE = (SyntaxError, ValueError, LookupError, OverflowError, RecursionError, MemoryError)


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

    def byte_offset(self, offset: int) -> int:
        """Offset in `raw` of an offset in `text`; `UnprovenError` if the codec does not round-trip."""
        head = self.bom + encode(self.text[:offset], self.encoding)
        if not self.raw.startswith(head):
            raise UnprovenError(
                f"the bytes before the docstring do not survive a round trip through {self.encoding}"
            )
        return len(head)

    def newline_at(self, offset: int) -> str:
        """The line break in use: the last one before an offset, else any."""
        found = _NEWLINE.findall(self.text, 0, offset) or _NEWLINE.findall(self.text)
        return str(found[-1]) if found else "\n"

    @property
    def bom(self) -> bytes:
        return BOM if self.raw.startswith(BOM) else b""


@dataclass(frozen=True, slots=True)
class Definition:
    """A scope that can have a docstring; `qualname` is dotted, without ``<locals>``, empty for the module."""

    qualname: str
    node: Scope

    @property
    def name(self) -> str:
        """Its own name, without those of its scopes."""
        return self.qualname.rpartition(".")[2]

    @property
    def line(self) -> int:
        """Line of the ``def`` or ``class``."""
        return 1 if isinstance(self.node, ast.Module) else self.node.lineno


def read_source(raw: bytes) -> SourceText:
    """Decode and parse a file; `UnprovenError` if Python could not."""
    try:
        encoding = _encoding(raw)
        text = raw.removeprefix(BOM).decode(encoding)
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
    """Encode text; `UnprovenError` if the encoding lacks a character."""
    try:
        return text.encode(encoding)
    except ValueError as exc:
        raise UnprovenError(f"the file's encoding, {encoding}, cannot encode the text") from exc


def _encoding(raw: bytes) -> str:
    # The tokenizer turns a bare CR into a line end before it looks for a coding cookie; `detect_encoding`
    # leaves that to `readline`.
    lines = iter(BYTES_NEWLINE.split(raw, maxsplit=2)[:2])
    encoding, _ = tokenize.detect_encoding(lambda: next(lines, b"") + b"\n")
    return "utf-8" if encoding == "utf-8-sig" else encoding


def _first_line(exc: BaseException) -> str:
    message = exc.msg if isinstance(exc, SyntaxError) else str(exc)
    where = f" (line {exc.lineno})" if isinstance(exc, SyntaxError) and exc.lineno else ""
    return (str(message).strip().splitlines() or [type(exc).__name__])[0] + where


def definitions(tree: ast.Module) -> Iterator[Definition]:
    """The module and every class and function of a tree in file order, also those inside blocks."""
    yield Definition("", tree)
    yield from (Definition(qualname, node) for qualname, node in classes_and_functions(tree))


def find_definition(tree: ast.Module, qualname: str) -> Definition:
    """Find the definition of a name; `UnprovenError` if absent, or if several are visible.

    Parameters
    ----------
    tree : ast.Module
    qualname : str
        Dotted; ``""`` or ``"<module>"`` is the module; ``<locals>`` parts are ignored.
    """
    wanted = ".".join(part for part in qualname.split(".") if part not in ("<locals>", "<module>"))
    matching = [definition for definition in definitions(tree) if definition.qualname == wanted]
    if not matching:
        raise UnprovenError(f"nothing named {qualname} is defined here")
    if not wanted:
        return matching[0]
    visible = [definition for definition in matching if not is_shadowed(definition)] or matching
    if len(visible) > 1:
        lines = ", ".join(str(definition.line) for definition in matching)
        raise UnprovenError(f"{qualname} is defined more than once, at lines {lines}; keep one of them")
    return visible[0]


def is_shadowed(definition: Definition) -> bool:
    """Whether a docstring never shows: that of an ``@overload``, of a property's setter or deleter."""
    if isinstance(definition.node, ast.Module):
        return False
    hiding = {f"{definition.node.name}.setter", f"{definition.node.name}.deleter"}
    names = [(getattr(one, "value", one), last_name(one)) for one in definition.node.decorator_list]
    return any(last == "overload" or f"{last_name(owner)}.{last}" in hiding for owner, last in names)


def differences(old: object, new: object) -> list[tuple[object, object]]:
    """Where two trees of nodes, collections and values differ, apart from positions in a file."""
    pairs, differing = [(old, new)], list[tuple[object, object]]()
    while pairs:
        left, right = pairs.pop()
        if left is right:
            continue
        parts, others = _parts(left), _parts(right)
        if type(left) is type(right) and parts is not None and others is not None:
            if len(parts) == len(others):
                pairs.extend(zip(parts, others, strict=True))
                continue
        elif type(left) is type(right) and (left == right or repr(left) == repr(right)):
            continue
        differing.append((left, right))
    return differing


def _parts(value: object) -> Sequence[object] | None:
    if isinstance(value, ast.AST):
        return [getattr(value, field) for field in value._fields]
    if isinstance(value, dict):
        return [*value.items()]
    return value if isinstance(value, list | tuple) else None


@dataclass(frozen=True, slots=True)
class StringLiteral:
    """A plain string literal.

    Parameters
    ----------
    prefix, quote : str
        As written.
    start, end : int
        Offsets in the text of the part between the quotes.
    value : str
        Its value in Python.
    marks : tuple of (int, int)
        Offsets in ``value`` and in the text, after each escape and each line break that is spelled
        differently; between marks, both advance equally.
    """

    prefix: str
    quote: str
    start: int
    end: int
    value: str
    marks: tuple[tuple[int, int], ...]

    @property
    def raw(self) -> bool:
        return self.prefix in ("r", "R")

    @property
    def triple(self) -> bool:
        return len(self.quote) == 3

    def offset(self, position: int) -> int:
        """Offset in the text of an offset in the value (the end of one of its lines)."""
        number = bisect_left(self.marks, (position, 0))
        if number == len(self.marks) or self.marks[number][0] > position:
            number -= 1
        value, text = self.marks[number]
        return text + position - value

    def spell(self, lines: str, newline: str) -> str:
        """Spell text (line breaks LF) for the literal; `UnprovenError` if that is impossible."""
        if self.raw:
            return self._spell_raw(lines, newline)
        escaped = lines.replace("\\", "\\\\")
        if self.triple:
            return escaped.replace(self.quote, "\\" + "\\".join(self.quote)).replace("\n", newline)
        return escaped.replace(self.quote, "\\" + self.quote).replace("\n", "\\n")

    def _spell_raw(self, lines: str, newline: str) -> str:
        if not self.triple:
            raise UnprovenError(
                "the text is a raw string in single quotes, which cannot contain a line break"
            )
        if self.quote in lines:
            raise UnprovenError(f"the text is a raw string, which cannot contain {self.quote}")
        return lines.replace("\n", newline)


def read_literal(text: str, start: int, end: int) -> StringLiteral:
    """Read the literal at ``text[start:end]``; `UnprovenError` for several joined literals."""
    match = _LITERAL.fullmatch(text, start, end)
    if not match:
        raise UnprovenError("it is made of several literals")
    raw = match["prefix"] in ("r", "R")
    parts, marks = [], [(0, match.start("body"))]
    length, copied = 0, match.start("body")
    for unit in (_BREAK if raw else _ESCAPE).finditer(text, match.start("body"), match.end("body")):
        meaning = "\n" if unit.group()[0] == "\r" else _meaning(unit.group())
        parts += [text[copied : unit.start()], meaning]
        length += unit.start() - copied + len(meaning)
        copied = unit.end()
        marks.append((length, copied))
    parts.append(text[copied : match.end("body")])
    value = "".join(parts)
    return StringLiteral(
        match["prefix"], match["quote"], match.start("body"), match.end("body"), value, tuple(marks)
    )


@lru_cache(maxsize=1024)
def _meaning(escape: str) -> str:
    if escape[1] in "\r\n":
        return ""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return str(ast.literal_eval(f'"{escape}"'))


@dataclass(frozen=True, slots=True)
class Located:
    """A docstring in its file.

    Attributes
    ----------
    layout : Layout
        Scanned for the requested sections, ``asked``.
    indent : str
        White space for new lines if the docstring has only one line.
    """

    qualname: str
    source: SourceText
    definition: Definition
    node: ast.Constant
    literal: StringLiteral
    layout: Layout
    indent: str
    asked: tuple[str, ...]


def docstring_node(definition: Definition) -> ast.Constant | None:
    """The docstring's literal or None; `UnprovenError` for an f-string, t-string or bytes in its place."""
    body = definition.node.body
    if not body or not isinstance(body[0], ast.Expr):
        return None
    value = body[0].value
    content = value.value if isinstance(value, ast.Constant) else None
    if type(value).__name__ in {"JoinedStr", "TemplateStr"} or isinstance(content, bytes):
        raise UnprovenError("an f-string, a t-string or bytes are no docstring for Python")
    return value if isinstance(value, ast.Constant) and isinstance(content, str) else None


def locate(source: SourceText, qualname: str, *, asked: Collection[str] = ()) -> Located | None:
    """Find a definition's docstring; None if absent, `UnprovenError` if it cannot be located safely."""
    definition = find_definition(source.tree, qualname)
    node = docstring_node(definition)
    if node is None:
        return None
    literal = read_literal(source.text, *source.span(node))
    if literal.value != node.value:
        raise UnprovenError("the docstring's position in the file cannot be determined")
    lead = indent(source, definition.node.body[0])
    layout, lead = scan(literal.value, asked=asked), lead if literal.triple else ""
    return Located(qualname, source, definition, node, literal, layout, lead, tuple(asked))


def indent(source: SourceText, node: ast.stmt) -> str:
    """White space before a statement; `UnprovenError` if its logical line has anything else before it."""
    start = source.line_starts[node.lineno - 1]
    above = source.text[source.line_starts[node.lineno - 2] : start].strip() if start else ""
    lead = source.text[start : source.offset(node.lineno, node.col_offset)]
    if lead.strip(" \t\f") or (above.endswith("\\") and not above.startswith("#")):
        raise UnprovenError("the body is on the line of its definition")
    return lead.replace("\f", "")
