"""One docstring in one file: found, read, and written to, with the proof that nothing else is."""

import ast
import re
from collections.abc import Collection
from dataclasses import dataclass

from coreloop.docstrings.literal import StringLiteral, read_literal
from coreloop.docstrings.sections import Layout, scan
from coreloop.docstrings.source import (
    Definition,
    SourceText,
    UnprovenError,
    encode,
    find_definition,
    read_source,
    same_but,
)

_LEAD = re.compile(r"(?P<indent>[ \t\f]*)(?:@[ \t]*)?")


@dataclass(frozen=True, slots=True)
class Place:
    """Which docstring: a dotted name, and a line where it is defined more than once."""

    qualname: str
    line: int | None = None


@dataclass(frozen=True, slots=True)
class Located:
    """A docstring in its file.

    Attributes
    ----------
    layout : Layout
        Scanned for the sections that were asked for.
    indent : str
        White space for lines below a first and only one.
    """

    place: Place
    source: SourceText
    definition: Definition
    node: ast.Constant
    literal: StringLiteral
    layout: Layout
    indent: str


def docstring_node(definition: Definition) -> ast.Constant | None:
    """The docstring's literal, None if there is none; `UnprovenError` for what only looks like one."""
    body = definition.node.body
    if not body or not isinstance(body[0], ast.Expr):
        return None
    value = body[0].value
    if isinstance(value, ast.JoinedStr):
        raise UnprovenError("the docstring is an f-string, which Python does not take for a docstring")
    if type(value).__name__ == "TemplateStr":  # of Python 3.14
        raise UnprovenError("the docstring is a t-string, which Python does not take for a docstring")
    if isinstance(value, ast.Constant) and isinstance(value.value, bytes):
        raise UnprovenError("the docstring is a bytes literal, which Python does not take for a docstring")
    return value if isinstance(value, ast.Constant) and isinstance(value.value, str) else None


def locate(source: SourceText, place: Place, *, asked: Collection[str] = ()) -> Located | None:
    """A definition's docstring; None where it has none, `UnprovenError` for one that cannot be told."""
    definition = find_definition(source.tree, place.qualname, place.line)
    node = docstring_node(definition)
    if node is None:
        return None
    literal = read_literal(source.text, *source.span(node))
    if literal.value != node.value:
        raise UnprovenError("the docstring's place in the file cannot be told")
    indent = first_indent(source, definition)
    layout = scan(literal.value, asked=asked)
    return Located(place, source, definition, node, literal, layout, indent if literal.triple else "")


def first_indent(source: SourceText, definition: Definition) -> str:
    """White space before the first statement of a body; refused if more than that is on its logical line."""
    line, column = first_position(definition)
    start = source.line_starts[line - 1]
    above = source.text[source.line_start_before(start - 1) : start].strip() if start else ""
    lead = _LEAD.fullmatch(source.text, start, source.offset(line, column))
    if lead is None or (above.endswith("\\") and not above.startswith("#")):
        raise UnprovenError("the body is on the line of its definition")
    return lead["indent"].replace("\f", "")


def first_position(definition: Definition) -> tuple[int, int]:
    """Line and column of a body's first statement, of its first decorator (after the @) if it has one."""
    statement = definition.node.body[0]
    nodes: list[ast.stmt | ast.expr] = [statement, *getattr(statement, "decorator_list", [])]
    return min((node.lineno, node.col_offset) for node in nodes)


def splice(source: SourceText, start: int, end: int, spelled: str) -> tuple[SourceText, int, bytes]:
    """The new file with ``text[start:end]`` replaced, read back; the place in bytes, and the new bytes."""
    at, behind = source.byte_offset(start), source.byte_offset(end)
    inserted = encode(spelled, source.encoding)
    new = read_source(source.raw[:at] + inserted + source.raw[behind:])
    if new.text != source.text[:start] + spelled + source.text[end:]:
        raise UnprovenError(f"text inserted in {source.encoding} would be read back as something else")
    return new, at, inserted


def prove_tree(target: Located, new: SourceText, *, value: str) -> int:
    """The same definition has the new docstring, at the same place, and the trees differ in nothing else."""
    found = find_definition(new.tree, target.place.qualname, target.place.line)
    node = docstring_node(found)
    if node is None or node.value != value:
        raise UnprovenError("the lines would arrive in the docstring as something else")
    start, end = target.source.span(target.node)
    grown = len(new.text) - len(target.source.text)
    if new.span(node) != (start, end + grown) or found.line != target.definition.line:
        raise UnprovenError("the insertion would not stay inside the docstring")
    if not same_but(target.source.tree, new.tree, but=(target.node, node)):
        raise UnprovenError("code outside of the docstring would change")
    return found.line
