"""Put lines into one section of one docstring, as one insertion into the file's bytes, or say why not.

Nothing is returned as edited that was not proven: both files are parsed, compared and scanned before the new
bytes leave this module. No file is opened here.
"""

import ast
import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass

from coreloop.docstrings.literal import StringLiteral, read_literal
from coreloop.docstrings.placement import Placement, new_section, place, prove_placement
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
_RULE = re.compile(r"-+|=+")
_SECTION_NAME = re.compile(r"[^\W\d_][\w /&-]{0,60}")
# Controls, format characters (bidirectional marks hide text from a reviewer), surrogates, line separators.
_UNWANTED = frozenset({"Cc", "Cf", "Cs", "Zl", "Zp"})


@dataclass(frozen=True, slots=True)
class Edited:
    """A proven edit.

    Parameters
    ----------
    source : bytes
        The whole new file: the old one with `inserted` at `offset`.
    offset : int
        Byte offset in the old file.
    inserted : bytes
        In the file's own encoding, with its own line ends.
    line : int
        Line of the ``def`` or ``class`` (1 for a module).
    appended : tuple of str
        The asked lines that were not there yet.
    created_section : bool
        Whether the heading is new too.
    before, after : str
        The docstring's value; ``before`` is empty if the docstring is new.
    """

    source: bytes
    offset: int
    inserted: bytes
    line: int
    appended: tuple[str, ...]
    created_section: bool
    before: str
    after: str


@dataclass(frozen=True, slots=True)
class Unchanged:
    """The section has every line already; `line` is that of the definition, `docstring` its value."""

    line: int
    docstring: str


@dataclass(frozen=True, slots=True)
class Refused:
    """Nothing was done; `reason` tells a maintainer why."""

    reason: str


@dataclass(frozen=True, slots=True)
class _Request:
    qualname: str
    section: str
    lines: tuple[str, ...]
    line: int | None


@dataclass(frozen=True, slots=True)
class _Target:
    """The docstring to edit; `indent` is the white space for lines below a first and only one."""

    source: SourceText
    definition: Definition
    node: ast.Constant
    literal: StringLiteral
    layout: Layout
    indent: str


def append_to_section(
    source: bytes,
    qualname: str,
    section: str,
    lines: Sequence[str],
    *,
    line: int | None = None,
    create_docstring: bool = False,
) -> Edited | Unchanged | Refused:
    """Append lines to a section of a docstring.

    Lines that the section has already are not added again. A section that is missing is created at the end,
    in the style of the docstring's other sections (numpydoc if it has none). Nothing else of the file
    changes, and that is proven: the new file parses to the same tree but for this docstring; the change is
    one insertion between its quotes; every old line of it is there, unchanged; the new ones are in the
    section, and no other section gained or lost a line; the same call on the new file gives `Unchanged`.

    A docstring in single quotes gets its line breaks as escapes; a raw one in single quotes is refused.

    Parameters
    ----------
    source : bytes
        A Python file in whatever encoding it declares.
    qualname : str
        Dotted name (``Class.method``, ``outer.inner``); ``""`` or ``"<module>"`` is the module.
    section : str
        Heading; other spellings of the known ones (``Args``, ``SeeAlso``) are found too.
    lines : sequence of str
        Without line breaks and indentation of their own, but for what is meant to hang below another line.
    line : int, optional
        Line of the ``def`` or of one of its decorators, where a name is defined more than once.
    create_docstring : bool
        Whether a definition without docstring gets one that holds only this section.

    Returns
    -------
    Edited or Unchanged or Refused
    """
    request = _Request(qualname, section, tuple(text.rstrip() for text in lines), line)
    try:
        _check_request(request)
        return _append(read_source(source), request, create_docstring=create_docstring)
    except UnprovenError as reason:
        return Refused(str(reason))


def docstring_node(definition: Definition) -> ast.Constant | None:
    """The docstring's literal, None if there is none; `UnprovenError` for what only looks like one."""
    body = definition.node.body
    if not body or not isinstance(body[0], ast.Expr):
        return None
    value = body[0].value
    if isinstance(value, ast.JoinedStr):
        raise UnprovenError("the docstring is an f-string, which Python does not take for a docstring")
    if isinstance(value, ast.Constant) and isinstance(value.value, bytes):
        raise UnprovenError("the docstring is a bytes literal, which Python does not take for a docstring")
    return value if isinstance(value, ast.Constant) and isinstance(value.value, str) else None


def _check_request(request: _Request) -> None:
    if not _SECTION_NAME.fullmatch(request.section):
        raise UnprovenError(f"{request.section!r} cannot be the name of a section")
    if not request.lines:
        raise UnprovenError("there are no lines to append")
    for text in (request.section, *request.lines):
        if not text.strip():
            raise UnprovenError("one of the lines is empty")
        if _RULE.fullmatch(text.strip()):
            raise UnprovenError("one of the lines would be read as the underline of a heading")
        if unwanted := next((char for char in text if unicodedata.category(char) in _UNWANTED), None):
            raise UnprovenError(f"a line holds the control or format character U+{ord(unwanted):04X}")


def _append(source: SourceText, request: _Request, *, create_docstring: bool) -> Edited | Unchanged:
    definition = find_definition(source.tree, request.qualname, request.line)
    node = docstring_node(definition)
    if node is None:
        if not create_docstring:
            raise UnprovenError(f"{request.qualname or 'the module'} has no docstring")
        return _create(source, definition, request)
    target = _target(source, definition, node, request)
    placement = place(target.layout, request.section, request.lines, indent=target.indent)
    if placement is None:
        return Unchanged(definition.line, target.literal.value)
    return _splice(target, placement, request)


def _target(source: SourceText, definition: Definition, node: ast.Constant, request: _Request) -> _Target:
    literal = read_literal(source.text, *source.span(node))
    if literal.value != node.value:
        raise UnprovenError("the docstring's place in the file cannot be told")
    indent = _indent(source, definition.node.body[0])
    layout = scan(literal.value, asked=(request.section,))
    return _Target(source, definition, node, literal, layout, indent if literal.triple else "")


def _indent(source: SourceText, statement: ast.stmt) -> str:
    """White space before the first statement of a body; refused if more than that is on its logical line."""
    line, column = _start(statement)
    start = source.line_starts[line - 1]
    above = source.text[source.line_start_before(start - 1) : start].strip() if start else ""
    lead = _LEAD.fullmatch(source.text, start, source.offset(line, column))
    if lead is None or (above.endswith("\\") and not above.startswith("#")):
        raise UnprovenError("the body is on the line of its definition")
    return lead["indent"].replace("\f", "")


def _start(statement: ast.stmt) -> tuple[int, int]:
    """Line and column of a statement's first decorator (after its @), or of the statement."""
    nodes: list[ast.stmt | ast.expr] = [statement, *getattr(statement, "decorator_list", [])]
    return min((node.lineno, node.col_offset) for node in nodes)


def _splice(target: _Target, placement: Placement, request: _Request) -> Edited:
    literal = target.literal
    position = target.layout.lines[placement.after].end
    added = "".join("\n" + text for text in placement.lines)
    if literal.triple and position == len(literal.value):
        added += "\n" + placement.lead  # closing quotes on their own line: the text could end in a quote
    value = literal.value[:position] + added + literal.value[position:]
    offset = literal.offset(position)
    if not literal.start <= offset <= literal.end:
        raise UnprovenError("the insertion would be outside of the docstring")
    spelled = literal.spell(added, target.source.newline_near(offset, literal.start, literal.end))
    new, at, inserted = _insert(target.source, offset, spelled)
    line = _prove_tree(target, new, request, value=value)
    _prove_layout(target.layout, value, placement, request)
    return Edited(new.raw, at, inserted, line, placement.appended, placement.created, literal.value, value)


def _insert(source: SourceText, offset: int, spelled: str) -> tuple[SourceText, int, bytes]:
    """The new file, read back, and the byte insertion that makes it."""
    at = source.byte_offset(offset)
    inserted = encode(spelled, source.encoding)
    new = read_source(source.raw[:at] + inserted + source.raw[at:])
    if new.text != source.text[:offset] + spelled + source.text[offset:]:
        raise UnprovenError(f"text inserted in {source.encoding} would be read back as something else")
    return new, at, inserted


def _prove_tree(target: _Target, new: SourceText, request: _Request, *, value: str) -> int:
    """The same definition has the new docstring, at the same place, and the trees differ in nothing else."""
    found = find_definition(new.tree, request.qualname, request.line)
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


def _prove_layout(before: Layout, value: str, placement: Placement, request: _Request) -> None:
    after = scan(value, asked=(request.section,))
    prove_placement(before, after, placement, request.section)
    _prove_settled(after, request)


def _prove_settled(after: Layout, request: _Request) -> None:
    """A second application has nothing to do: every line is found in the section."""
    if place(after, request.section, request.lines, indent="") is not None:
        raise UnprovenError(f"the lines would not all be read as text of section {request.section}")


def _create(source: SourceText, definition: Definition, request: _Request) -> Edited:
    """Give a definition a docstring that holds one section, on lines of its own above the first statement."""
    if not definition.node.body:
        raise UnprovenError("an empty module has no place for a docstring")
    first = definition.node.body[0]
    indent = _indent(source, first)
    offset = source.line_starts[_start(first)[0] - 1]
    lines = new_section(None, request.section, tuple(dict.fromkeys(request.lines)))
    value = "".join(f"\n{indent}{text}" for text in lines) + "\n" + indent
    newline = source.newline_near(offset, offset, offset)
    spelled = StringLiteral("", '"""', 0, 0, "", ()).spell(value, newline)
    new, at, inserted = _insert(source, offset, f'{indent}"""{spelled}"""{newline}')
    line = _prove_created(source, new, definition, request, value=value)
    return Edited(new.raw, at, inserted, line, tuple(dict.fromkeys(request.lines)), True, "", value)


def _prove_created(
    source: SourceText, new: SourceText, definition: Definition, request: _Request, *, value: str
) -> int:
    """The new tree without its new docstring is the old tree, and the docstring is the one section."""
    found = find_definition(new.tree, request.qualname, request.line)
    node = docstring_node(found)
    if node is None or node.value != value or found.line != definition.line:
        raise UnprovenError("the lines would arrive in the docstring as something else")
    docstring = found.node.body.pop(0)
    same = same_but(source.tree, new.tree)
    found.node.body.insert(0, docstring)
    if not same:
        raise UnprovenError("code outside of the docstring would change")
    after = scan(value, asked=(request.section,))
    if len(after.sections) != 1:
        raise UnprovenError(f"the lines would not all be read as text of section {request.section}")
    _prove_settled(after, request)
    return found.line
