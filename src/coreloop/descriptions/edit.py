"""Insert lines into one docstring, or remove lines from it, or raise the reason why not.

Every edit is proven before it is returned: both files are parsed, compared and scanned. No file is opened
here.
"""

import ast
import re
import unicodedata
from collections import Counter
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, replace

from coreloop.descriptions.place import (
    DocstringBullet,
    Wanted,
    never,
    place,
    read_bullets,
    read_first_block,
)
from coreloop.descriptions.sections import DocstringSection, Layout, Style, scan
from coreloop.descriptions.source import (
    Located,
    SourceText,
    UnprovenError,
    docstring_node,
    encode,
    equal_except,
    find_definition,
    indent,
    locate,
    read_source,
)

# a backslash at a line's end, but not an escaped one
_ESCAPED_BREAK = re.compile(r"(?<!\\)(?:\\\\)*\\[\r\n]")
# Controls, format characters (bidirectional marks hide text from a reviewer), surrogates, line separators.
_UNWANTED = frozenset({"Cc", "Cf", "Cs", "Zl", "Zp"})


@dataclass(frozen=True, slots=True)
class Edited:
    """A proven edit.

    Parameters
    ----------
    old, source : bytes
        The whole file before and after: the old one without the `removed` lines, with the `appended` ones.
    qualname : str
        The docstring's definition.
    appended : tuple of str
        The requested lines that were absent; none if nothing changed.
    before, after : str
        The docstring's value.
    removed : tuple of str
        Lines that were replaced.
    """

    old: bytes
    source: bytes
    qualname: str
    appended: tuple[str, ...]
    before: str
    after: str
    removed: tuple[str, ...] = ()


def put_lines(
    source: bytes,
    qualname: str,
    lines: Sequence[str],
    *,
    section: str | None = None,
    style: Style = "numpydoc",
    is_ours: Callable[[str], bool] = never,
    replaced: Collection[str] = (),
) -> Edited:
    """Put bullets where every model reads them: at the end of the first block of text.

    That is before the first section or field, after a blank line; an existing list that has only lines of
    coreloop's forms is continued. Lines that are there already are not added again. A missing section is
    created at the end, in the style of the docstring's other sections. A function without a docstring gets
    one of the lines alone, unless they are for a section.

    Nothing else in the file changes, and that is proven: the new file parses to the same tree except for this
    docstring; the change is one insertion between its quotes; every old line is unchanged; the new lines are
    where they belong, and no other section gained or lost a line; the same call on the new file changes
    nothing. A docstring in single quotes gets its line breaks as escapes; a raw one in single quotes is
    refused.

    Parameters
    ----------
    source : bytes
        A Python file in the encoding that it declares.
    qualname : str
        Dotted name (``Class.method``, ``outer.inner``); ``""`` or ``"<module>"`` is the module.
    lines : sequence of str
        Bullets, each on one line from its dash on.
    section : str, optional
        Put them at the end of this section instead; other spellings of known names (``Args``) match, too.
    style : {"numpydoc", "google", "markdown"}
        Style of a new section in a docstring without sections.
    is_ours : callable, optional
        Whether a bullet is of a form that coreloop writes.
    replaced : collection of str
        Lines of coreloop's at the same place to remove; each is present exactly once. Without these and the
        new lines, the file before and after is the same, byte for byte.

    Raises
    ------
    UnprovenError
        Nothing can be changed with proof; the reason, for a maintainer.
    """
    wanted = Wanted(tuple(lines), section, style, is_ours)
    _check(wanted)
    old = read_source(source)
    if not replaced:
        return _insert(old, qualname, wanted)
    before = _located(old, qualname, wanted.asked).literal.value
    edited = _insert(remove_bullets(old, qualname, replaced, section=section), qualname, wanted)
    if not edited.appended:
        raise UnprovenError("lines would be removed but none added; take a promotion back with git revert")
    return replace(edited, old=source, before=before, removed=tuple(replaced))


def remove_bullets(
    source: SourceText, qualname: str, bullets: Collection[str], *, section: str | None
) -> SourceText:
    """Remove some bullets of one docstring.

    Parameters
    ----------
    source : SourceText
        The file.
    qualname : str
        As in `put_lines`.
    bullets : collection of str
        Bullets, each on one line from its dash on.
    section : str or None
        Their section; None for the first block.

    Raises
    ------
    UnprovenError
        A bullet is not present exactly once, or the rest would be read differently.
    """
    asked = () if section is None else (section,)
    # from the last: numbers above stay the same
    for bullet in reversed(_find(_located(source, qualname, asked).layout, bullets, section)):
        source = _without(_located(source, qualname, asked), bullet)
    return source


def _check(wanted: Wanted) -> None:
    if not wanted.lines:
        raise UnprovenError("there are no lines to append")
    for text in wanted.lines:
        if not text.strip():
            raise UnprovenError("a line is empty")
        if unwanted := next((char for char in text if unicodedata.category(char) in _UNWANTED), None):
            raise UnprovenError(f"a line contains the control or format character U+{ord(unwanted):04X}")


def _located(source: SourceText, qualname: str, asked: Collection[str]) -> Located:
    located = locate(source, qualname, asked=asked)
    if located is None:
        raise UnprovenError(f"{qualname or 'the module'} has no docstring")
    return located


def _with_docstring(old: SourceText, qualname: str, wanted: Wanted) -> SourceText:
    """The file with an empty docstring on a line of its own, which is all that changes."""
    scope = find_definition(old.tree, qualname).node
    if wanted.section is not None or isinstance(scope, ast.Module):
        raise UnprovenError(f"{qualname or 'the module'} has no docstring")
    lead, start = indent(old, scope.body[0]), old.line_starts[scope.body[0].lineno - 1]
    quotes, at = encode(f'{lead}""""""{old.newline_at(start)}', old.encoding), old.byte_offset(start)
    new = read_source(old.raw[:at] + quotes + old.raw[at:])
    body = find_definition(new.tree, qualname).node.body
    docstring = body.pop(0)
    if not equal_except(old.tree, new.tree):
        raise UnprovenError("a docstring would not be all that changes")
    body.insert(0, docstring)
    return new


def _insert(source: SourceText, qualname: str, wanted: Wanted) -> Edited:
    target = locate(source, qualname, asked=wanted.asked)
    if target is None:
        edited = _insert(_with_docstring(source, qualname, wanted), qualname, wanted)
        return replace(edited, old=source.raw)
    before, literal = target.layout, target.literal
    placement = place(before, wanted, indent=target.indent)
    if placement is None:
        return Edited(source.raw, source.raw, qualname, (), literal.value, literal.value)
    position = before.lines[placement.after].end
    added = "".join("\n" + text for text in placement.lines)
    if literal.triple and position == len(literal.value):
        # closing quotes on their own line, since the text could end in a quote
        added += "\n" + placement.lead
    value = literal.value[:position] + added + literal.value[position:]
    offset = literal.offset(position)
    spelled = literal.spell(added, source.newline_at(offset))
    new, after = _spliced(target, offset, offset, spelled, value)
    if after.open_fence or (
        before.least is not None and (after.least, after.margin) != (before.least, before.margin)
    ):
        raise UnprovenError("the lines would change how the rest of the docstring is read")
    own = set(range(placement.after + 1, placement.after + 1 + len(placement.lines)))
    created = [section for section in after.sections if section.heading in own]
    rest = replace(after, sections=tuple(section for section in after.sections if section not in created))
    if (
        len(created) != placement.created
        or any(_texts(after, section, own) for section in created)
        or _outline(rest, own) != _outline(before)
        or place(after, wanted, indent="") is not None
    ):
        where = "the first block" if wanted.section is None else f"section {wanted.section}"
        raise UnprovenError(
            f"the lines would not be read as text of {where}, or would change another section"
        )
    return Edited(source.raw, new.raw, qualname, placement.appended, literal.value, value)


def _spliced(target: Located, start: int, end: int, spelled: str, value: str) -> tuple[SourceText, Layout]:
    """Replace ``text[start:end]`` of the file; prove that its tree changes by the docstring's value alone.

    Returns the new file, and the layout of its docstring.
    """
    old = target.source
    if not target.literal.start <= start <= end <= target.literal.end:
        raise UnprovenError("the edit would be outside the docstring")
    inserted = encode(spelled, old.encoding)
    new = read_source(old.raw[: old.byte_offset(start)] + inserted + old.raw[old.byte_offset(end) :])
    if new.text != old.text[:start] + spelled + old.text[end:]:
        raise UnprovenError(f"text inserted in {old.encoding} would not read back as it was written")
    edited = find_definition(new.tree, target.qualname)
    node = docstring_node(edited)
    if node is None or node.value != value:
        raise UnprovenError("the docstring would not read back as it was written")
    first, last = old.span(target.node)
    grown = len(new.text) - len(old.text)
    if new.span(node) != (first, last + grown) or edited.line != target.definition.line:
        raise UnprovenError("the edit would not stay inside the docstring")
    if not equal_except(old.tree, new.tree, pair=(target.node, node)):
        raise UnprovenError("code outside the docstring would change")
    return new, scan(value, asked=target.asked)


def bullets_at(layout: Layout, section: str | None) -> list[DocstringBullet]:
    """The bullets of a section, or of the first block."""
    if section is None:
        parts = [(0, read_first_block(layout, lambda _: True).last + 1)]
    else:
        parts = [(part.body, part.end) for part in layout.named(section)]
    bullets = [bullet for first, end in parts for bullet in read_bullets(layout.lines, first, end)]
    return [bullet for bullet in bullets if not layout.lines[bullet.first].code]


def _find(layout: Layout, texts: Collection[str], section: str | None) -> list[DocstringBullet]:
    bullets = [bullet for bullet in bullets_at(layout, section) if bullet.text in texts]
    if any(not bullet.first for bullet in bullets):
        raise UnprovenError("a line to remove is the first line of the docstring")
    if not bullets or Counter(bullet.text for bullet in bullets) != Counter(set(texts)):
        raise UnprovenError("a line to remove is absent, or present more than once")
    return bullets


def _without(target: Located, bullet: DocstringBullet) -> SourceText:
    """Remove a bullet, and the blank line above it if it is a whole list."""
    literal, lines = target.literal, target.layout.lines
    is_alone = lines[bullet.first - 1].blank and (bullet.end == len(lines) or lines[bullet.end].blank)
    start, end = lines[max(bullet.first - is_alone - 1, 0)].end, lines[bullet.end - 1].end
    span = literal.offset(start), literal.offset(end)
    if not literal.raw and _ESCAPED_BREAK.search(target.source.text, *span):
        raise UnprovenError("an escaped line break is next to a line to remove")
    new, after = _spliced(target, *span, "", literal.value[:start] + literal.value[end:])
    if _outline(target.layout, range(bullet.first, bullet.end)) != _outline(after):
        raise UnprovenError("removing the lines would change how another section is read")
    return new


def _outline(layout: Layout, left_out: Collection[int] = ()) -> list[tuple[str, str, list[str]]]:
    """Sections with their text, without some lines."""
    return [(section.name, section.style, _texts(layout, section, left_out)) for section in layout.sections]


def _texts(layout: Layout, section: DocstringSection, left_out: Collection[int]) -> list[str]:
    numbers = (number for number in range(section.body, section.end) if number not in left_out)
    return list(filter(None, (layout.lines[number].text.strip() for number in numbers)))
