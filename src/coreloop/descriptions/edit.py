"""Insert lines into one docstring as one insertion into the file's bytes, or return the reason why not.

Every edit is proven before it is returned: both files are parsed, compared and scanned. No file is opened
here.
"""

import re
import unicodedata
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, replace

from coreloop.descriptions.heading import Style
from coreloop.descriptions.literal import StringLiteral
from coreloop.descriptions.located_docstring import (
    DocstringPlace,
    Located,
    docstring_node,
    first_indent,
    first_position,
    locate,
    prove_tree,
    splice,
)
from coreloop.descriptions.placement import (
    Placement,
    Wanted,
    never,
    new_section,
    place,
    prove_placement,
)
from coreloop.descriptions.removal import remove_bullets
from coreloop.descriptions.sections import Layout, scan
from coreloop.descriptions.source import (
    Definition,
    SourceText,
    UnprovenError,
    equal_except,
    find_definition,
    read_source,
)

_RULE = re.compile(r"-+|=+|~+|\^+")
_SECTION_NAME = re.compile(r"[^\W\d_][\w /&-]{0,60}")
# Controls, format characters (bidirectional marks hide text from a reviewer), surrogates, line separators.
_UNWANTED = frozenset({"Cc", "Cf", "Cs", "Zl", "Zp"})


@dataclass(frozen=True, slots=True)
class Edited:
    """A proven edit.

    Parameters
    ----------
    old, source : bytes
        The whole file before and after: the old one without the `removed` lines, with `inserted` at `offset`.
    offset : int
        Byte offset in the old file without the removed lines.
    inserted : bytes
        In the file's encoding, with its line ends.
    line : int
        Line of the ``def`` or ``class`` (1 for a module).
    appended : tuple of str
        The requested lines that were absent.
    before, after : str
        The docstring's value; ``before`` is empty if the docstring is new.
    tail : str
        Text added after the last new line: a blank line, or the line break before closing quotes.
    removed : tuple of str
        Lines that were replaced.
    """

    old: bytes
    source: bytes
    offset: int
    inserted: bytes
    line: int
    appended: tuple[str, ...]
    before: str
    after: str
    tail: str = ""
    removed: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Unchanged:
    """All lines are already present; `line` is that of the definition, `docstring` its value."""

    line: int
    docstring: str


@dataclass(frozen=True, slots=True)
class Refused:
    """Nothing was changed; `reason` is for a maintainer."""

    reason: str


@dataclass(frozen=True, slots=True)
class _Request:
    place: DocstringPlace
    wanted: Wanted

    @property
    def asked(self) -> tuple[str, ...]:
        """The section to look for."""
        return () if self.wanted.section is None else (self.wanted.section,)


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

    Lines that are already in the section are not added again. A missing section is created at the end, in
    the style of the docstring's other sections (numpydoc if it has none). Nothing else in the file changes,
    and that is proven: the new file parses to the same tree except for this docstring; the change is one
    insertion between its quotes; every old line is unchanged; the new lines are in the section, and no other
    section gained or lost a line; the same call on the new file returns `Unchanged`.

    A docstring in single quotes gets its line breaks as escapes; a raw one in single quotes is refused.

    Parameters
    ----------
    source : bytes
        A Python file in the encoding that it declares.
    qualname : str
        Dotted name (``Class.method``, ``outer.inner``); ``""`` or ``"<module>"`` is the module.
    section : str
        Heading; other spellings of known names (``Args``, ``SeeAlso``) match, too.
    lines : sequence of str
        Without line breaks; indented only to continue the line above.
    line : int, optional
        Line of the ``def`` or of one of its decorators, if a name is defined more than once.
    create_docstring : bool
        Whether a definition without a docstring gets one with only this section.

    Returns
    -------
    Edited or Unchanged or Refused
    """
    wanted = Wanted(tuple(text.rstrip() for text in lines), section)
    return _outcome(
        source, _Request(DocstringPlace(qualname, line), wanted), create_docstring=create_docstring
    )


def put_lines(
    source: bytes,
    qualname: str,
    lines: Sequence[str],
    *,
    section: str | None = None,
    style: Style = "numpydoc",
    width: int | None = None,
    is_ours: Callable[[str], bool] = never,
    replaced: Collection[str] = (),
    line: int | None = None,
) -> Edited | Unchanged | Refused:
    """Put bullets where every model reads them: at the end of the first block of text.

    That is before the first section or field, after a blank line; an existing list that has only lines of
    coreloop's forms is continued. The proof is that of `append_to_section`.

    Parameters
    ----------
    source : bytes
        A Python file in the encoding that it declares.
    qualname : str
        Dotted name (``Class.method``).
    lines : sequence of str
        Bullets, each on one line from its dash on.
    section : str, optional
        Put them at the end of this section instead.
    style : {"numpydoc", "google", "markdown"}
        Style of a new section in a docstring without sections.
    width : int, optional
        Columns at which bullets are wrapped.
    is_ours : callable, optional
        Whether a bullet is of a form that coreloop writes.
    replaced : collection of str
        Lines of coreloop's at the same place to remove; each is present exactly once. Without these and the
        new lines, the file before and after is the same, byte for byte.
    line : int, optional
        Line of the ``def`` or of one of its decorators, if a name is defined more than once.

    Returns
    -------
    Edited or Unchanged or Refused
    """
    request = _Request(DocstringPlace(qualname, line), Wanted(tuple(lines), section, style, width, is_ours))
    if not replaced:
        return _outcome(source, request, create_docstring=False)
    try:
        return _replace_lines(read_source(source), request, tuple(replaced))
    except UnprovenError as reason:
        return Refused(str(reason))


def _replace_lines(source: SourceText, request: _Request, replaced: tuple[str, ...]) -> Edited | Unchanged:
    _check_request(request)
    before = locate(source, request.place, asked=request.asked)
    core = remove_bullets(source, request.place, replaced, section=request.wanted.section)
    outcome = _append(core, request, create_docstring=False)
    if before is None or isinstance(outcome, Unchanged):
        raise UnprovenError("lines would be removed but none added; take a promotion back with git revert")
    return replace(outcome, old=source.raw, before=before.literal.value, removed=replaced)


def _outcome(source: bytes, request: _Request, *, create_docstring: bool) -> Edited | Unchanged | Refused:
    try:
        _check_request(request)
        return _append(read_source(source), request, create_docstring=create_docstring)
    except UnprovenError as reason:
        return Refused(str(reason))


def _check_request(request: _Request) -> None:
    if not all(map(_SECTION_NAME.fullmatch, request.asked)):
        raise UnprovenError(f"{request.asked[0]!r} cannot be the name of a section")
    if not request.wanted.lines:
        raise UnprovenError("there are no lines to append")
    for text in (*request.asked, *request.wanted.lines):
        if not text.strip():
            raise UnprovenError("a line is empty")
        if _RULE.fullmatch(text.strip()):
            raise UnprovenError("a line would be read as the underline of a heading")
        if unwanted := next((char for char in text if unicodedata.category(char) in _UNWANTED), None):
            raise UnprovenError(f"a line contains the control or format character U+{ord(unwanted):04X}")


def _append(source: SourceText, request: _Request, *, create_docstring: bool) -> Edited | Unchanged:
    target = locate(source, request.place, asked=request.asked)
    if target is None:
        if not create_docstring:
            raise UnprovenError(f"{request.place.qualname or 'the module'} has no docstring")
        return _create(source, request)
    placement = place(target.layout, request.wanted, indent=target.indent)
    if placement is None:
        return Unchanged(target.definition.line, target.literal.value)
    return _splice(target, placement, request)


def _splice(target: Located, placement: Placement, request: _Request) -> Edited:
    literal = target.literal
    position = target.layout.lines[placement.after].end
    added = "".join("\n" + text for text in placement.lines)
    tail = "" if placement.lines[-1] else "\n"
    if literal.triple and position == len(literal.value):
        tail = "\n" + placement.lead  # closing quotes on their own line, since the text could end in a quote
        added += tail
    value = literal.value[:position] + added + literal.value[position:]
    offset = literal.offset(position)
    if not literal.start <= offset <= literal.end:
        raise UnprovenError("the insertion would be outside the docstring")
    spelled = literal.spell(added, target.source.newline_near(offset, literal.start, literal.end))
    new, at, inserted = splice(target.source, offset, offset, spelled)
    line = prove_tree(target, new, value=value)
    _prove_layout(target.layout, value, placement, request)
    return Edited(
        old=target.source.raw,
        source=new.raw,
        offset=at,
        inserted=inserted,
        line=line,
        appended=placement.appended,
        before=literal.value,
        after=value,
        tail=tail,
    )


def _prove_layout(before: Layout, value: str, placement: Placement, request: _Request) -> None:
    after = scan(value, asked=request.asked)
    prove_placement(before, after, placement, request.wanted.section)
    _prove_settled(after, request)


def _prove_settled(after: Layout, request: _Request) -> None:
    """Prove that a second call would change nothing."""
    section = request.wanted.section
    if place(after, request.wanted, indent="") is not None:
        where = "the first block" if section is None else f"section {section}"
        raise UnprovenError(f"the lines would not all be read as text of {where}")


def _create(source: SourceText, request: _Request) -> Edited:
    """Give a definition a docstring with one section, on its own lines above the first statement."""
    definition = find_definition(source.tree, request.place.qualname, request.place.line)
    if not definition.node.body:
        raise UnprovenError("the module is empty, so a docstring has no place")
    indent = first_indent(source, definition)
    offset = source.line_starts[first_position(definition)[0] - 1]
    asked = tuple(dict.fromkeys(request.wanted.lines))
    lines = new_section(None, request.asked[0], asked, request.wanted)
    value = "".join(f"\n{indent}{text}" for text in lines) + "\n" + indent
    newline = source.newline_near(offset, offset, offset)
    spelled = StringLiteral("", '"""', 0, 0, "", ()).spell(value, newline)
    new, at, inserted = splice(source, offset, offset, f'{indent}"""{spelled}"""{newline}')
    line = _prove_created(source, new, definition, request, value=value)
    return Edited(source.raw, new.raw, at, inserted, line, asked, "", value)


def _prove_created(
    source: SourceText, new: SourceText, definition: Definition, request: _Request, *, value: str
) -> int:
    """Prove that the new docstring is this one section and that the rest of the tree is unchanged."""
    created = find_definition(new.tree, request.place.qualname, request.place.line)
    node = docstring_node(created)
    if node is None or node.value != value or created.line != definition.line:
        raise UnprovenError("the docstring would not read back as it was written")
    docstring = created.node.body.pop(0)
    same = equal_except(source.tree, new.tree)
    created.node.body.insert(0, docstring)
    if not same:
        raise UnprovenError("code outside the docstring would change")
    after = scan(value, asked=request.asked)
    if len(after.sections) != 1:
        raise UnprovenError(f"the lines would not all be read as text of section {request.asked[0]}")
    _prove_settled(after, request)
    return created.line
