"""A docstring in its file: locate it, splice text into it, and prove that nothing else changed."""

import ast
import re
from collections.abc import Collection
from dataclasses import dataclass

from coreloop.descriptions.literal import StringLiteral, read_literal
from coreloop.descriptions.sections import Layout, scan
from coreloop.descriptions.source import (
    Definition,
    SourceText,
    UnprovenError,
    encode,
    equal_except,
    find_definition,
    read_source,
)

_LEAD = re.compile(r"(?P<indent>[ \t\f]*)(?:@[ \t]*)?")


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
        Scanned for the requested sections.
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
    indent = first_indent(source, definition)
    layout = scan(literal.value, asked=asked)
    return Located(place, source, definition, node, literal, layout, indent if literal.triple else "")


def first_indent(source: SourceText, definition: Definition) -> str:
    """White space before a body's first statement; `UnprovenError` if its logical line has anything else."""
    line, column = first_position(definition)
    start = source.line_starts[line - 1]
    above = source.text[source.line_start_before(start - 1) : start].strip() if start else ""
    lead = _LEAD.fullmatch(source.text, start, source.offset(line, column))
    if lead is None or (above.endswith("\\") and not above.startswith("#")):
        raise UnprovenError("the body is on the line of its definition")
    return lead["indent"].replace("\f", "")


def first_position(definition: Definition) -> tuple[int, int]:
    """Line and column of a body's first statement, or of its first decorator (after the @)."""
    statement = definition.node.body[0]
    nodes: list[ast.stmt | ast.expr] = [statement, *getattr(statement, "decorator_list", [])]
    return min((node.lineno, node.col_offset) for node in nodes)


def splice(source: SourceText, start: int, end: int, spelled: str) -> tuple[SourceText, int, bytes]:
    """Replace ``text[start:end]``; return the new file read back, the byte offset and the new bytes."""
    at, end_at = source.byte_offset(start), source.byte_offset(end)
    inserted = encode(spelled, source.encoding)
    new = read_source(source.raw[:at] + inserted + source.raw[end_at:])
    if new.text != source.text[:start] + spelled + source.text[end:]:
        raise UnprovenError(f"text inserted in {source.encoding} would not read back as it was written")
    return new, at, inserted


def prove_tree(target: Located, new: SourceText, *, value: str) -> int:
    """Prove that the definition has the new docstring in the same place and the trees are equal otherwise."""
    edited = find_definition(new.tree, target.place.qualname, target.place.line)
    node = docstring_node(edited)
    if node is None or node.value != value:
        raise UnprovenError("the docstring would not read back as it was written")
    start, end = target.source.span(target.node)
    grown = len(new.text) - len(target.source.text)
    if new.span(node) != (start, end + grown) or edited.line != target.definition.line:
        raise UnprovenError("the insertion would not stay inside the docstring")
    if not equal_except(target.source.tree, new.tree, pair=(target.node, node)):
        raise UnprovenError("code outside the docstring would change")
    return edited.line
