"""A docstring in its file: its literal, where its value is in the source, and how new text is spelled."""

import ast
import re
import warnings
from bisect import bisect_left
from collections.abc import Collection
from dataclasses import dataclass
from functools import lru_cache

from coreloop.descriptions.sections import Layout, scan
from coreloop.descriptions.source import (
    Definition,
    SourceText,
    UnprovenError,
    find_definition,
)

# The possessive repeat avoids exponential time on text that does not match. The group's own repeat is not
# possessive: in Python 3.11.2 such a group never matches.
_LITERAL = re.compile(
    r"(?P<prefix>[rRuU]?)(?P<quote>\"\"\"|'''|\"|')"
    r"(?P<body>(?:[^\\\"']++|\\.|(?!(?P=quote))[\"'])*)(?P=quote)",
    re.DOTALL,
)
_NEWLINE = re.compile(r"\r\n?")
_ESCAPE = re.compile(
    r"\\(?:\r\n|[0-7]{1,3}|x[0-9a-fA-F]{2}|u[0-9a-fA-F]{4}|U[0-9a-fA-F]{8}|N\{[^{}\\]*\}|.)|\r\n?", re.DOTALL
)


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
                "the docstring is a raw string in single quotes, which cannot contain a line break"
            )
        if self.quote in lines:
            raise UnprovenError(f"the docstring is a raw string, which cannot contain {self.quote}")
        return lines.replace("\n", newline)


def read_literal(text: str, start: int, end: int) -> StringLiteral:
    """Read the literal at ``text[start:end]``; `UnprovenError` for several joined literals."""
    match = _LITERAL.fullmatch(text, start, end)
    if not match:
        raise UnprovenError("the docstring consists of several literals")
    raw = match["prefix"] in ("r", "R")
    parts, marks = [], [(0, match.start("body"))]
    length, copied = 0, match.start("body")
    for unit in (_NEWLINE if raw else _ESCAPE).finditer(text, match.start("body"), match.end("body")):
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
class DocstringPlace:
    """Which docstring: a dotted name, and a line if the name is defined more than once."""

    qualname: str
    line: int | None = None


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

    place: DocstringPlace
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
    if isinstance(value, ast.JoinedStr):
        raise UnprovenError("the docstring is an f-string, which Python does not treat as a docstring")
    if type(value).__name__ == "TemplateStr":  # of Python 3.14
        raise UnprovenError("the docstring is a t-string, which Python does not treat as a docstring")
    if isinstance(value, ast.Constant) and isinstance(value.value, bytes):
        raise UnprovenError("the docstring is a bytes literal, which Python does not treat as a docstring")
    return value if isinstance(value, ast.Constant) and isinstance(value.value, str) else None


def locate(source: SourceText, place: DocstringPlace, *, asked: Collection[str] = ()) -> Located | None:
    """Find a definition's docstring; None if absent, `UnprovenError` if it cannot be located safely."""
    definition = find_definition(source.tree, place.qualname, place.line)
    node = docstring_node(definition)
    if node is None:
        return None
    literal = read_literal(source.text, *source.span(node))
    if literal.value != node.value:
        raise UnprovenError("the docstring's position in the file cannot be determined")
    indent = _indent(source, definition.node.body[0])
    layout, indent = scan(literal.value, asked=asked), indent if literal.triple else ""
    return Located(place, source, definition, node, literal, layout, indent, tuple(asked))


def _indent(source: SourceText, node: ast.stmt) -> str:
    """White space before a docstring; `UnprovenError` if its logical line has anything else."""
    start = source.line_starts[node.lineno - 1]
    above = source.text[source.line_start_before(start - 1) : start].strip() if start else ""
    lead = source.text[start : source.offset(node.lineno, node.col_offset)]
    if lead.strip(" \t\f") or (above.endswith("\\") and not above.startswith("#")):
        raise UnprovenError("the body is on the line of its definition")
    return lead.replace("\f", "")
