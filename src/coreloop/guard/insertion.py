"""The lines that a change adds to one docstring and removes from it, or why it does more.

Compares the files alone, not with the text that `promote` would write, so that a mistake there shows here.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from coreloop.docstrings.bullets import Bullet, read_bullets
from coreloop.docstrings.first_block import read_first_block
from coreloop.docstrings.heading import DocLine
from coreloop.docstrings.literal import StringLiteral, read_literal
from coreloop.docstrings.located import docstring_node
from coreloop.docstrings.sections import Layout, scan
from coreloop.docstrings.source import SourceText, UnprovenError, find_definition, read_source
from coreloop.proposals.lines import is_form

_MOST_BLANK: Final = 3
"""Lines around and in a new section: above it, below its heading, before closing quotes."""


@dataclass(frozen=True, slots=True)
class ChangedLines:
    """Bullets added to a docstring and removed from it, each on a single line; moved bullets are neither."""

    added: tuple[str, ...]
    removed: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class _Docstring:
    source: SourceText
    literal: StringLiteral
    layout: Layout

    def around(self) -> tuple[bytes, bytes]:
        """The bytes before the opening quotes and after the closing quotes."""
        start, end = map(self.source.byte_offset, (self.literal.start, self.literal.end))
        return self.source.raw[:start], self.source.raw[end:]

    def written(self, first: int, end: int) -> str:
        """The source of some lines, escapes included, from the end of the previous line."""
        ends = [0, *(line.end for line in self.layout.lines)]
        start, stop = self.literal.offset(ends[first]), self.literal.offset(ends[end])
        return self.source.text[start:stop]

    def has_escapes(self, run: "_Run") -> bool:
        """Whether lines contain escapes other than the line breaks of a one-line string."""
        source = self.written(run.first, run.end)
        return "\\" in (source if self.literal.triple else source.replace("\\n", ""))


@dataclass(frozen=True, slots=True)
class _Run:
    """The lines of a docstring that differ from the other version."""

    lines: Sequence[DocLine]
    first: int
    end: int

    def texts(self) -> list[str]:
        # strip() alone would also remove control characters and line separators
        texts = (line.text.strip(" \t") for line in self.lines[self.first : self.end])
        return [text for text in texts if text]

    def bullets(self) -> list[Bullet]:
        return read_bullets(self.lines, self.first, self.end)

    def n_blank(self) -> int:
        return sum(line.blank for line in self.lines[self.first : self.end])

    def is_list(self) -> bool:
        """Whether it consists of bullets and blank lines only."""
        return sum(bullet.end - bullet.first for bullet in self.bullets()) == len(self.texts())


def changed_lines(
    old: bytes, new: bytes, *, qualname: str, line: int | None, sections: Sequence[str]
) -> ChangedLines:
    """The bullets that a change adds to a docstring and removes from it.

    The bytes outside the docstring's quotes are the same, and a single run of whole lines inside differs.
    Removed lines are bullets; added lines are bullets and the heading of a new section. The bullets are in
    the list at the end of the first block of text, or, with a single section, at its end. Unchanged bullets
    keep their lines and order, and blank lines are added only around a new list or section.

    Parameters
    ----------
    old, new : bytes
        The file before and after.
    qualname : str
        Dotted name of the definition.
    line : int, optional
        If the name is defined more than once.
    sections : sequence of str
        Sections that lines may be added to.

    Returns
    -------
    ChangedLines

    Raises
    ------
    UnprovenError
        The change does anything else; the message is the reason.
    """
    before, after = (_docstring(raw, qualname, line, sections) for raw in (old, new))
    if before.around() != after.around():
        raise UnprovenError(f"something outside of the docstring of {qualname} changes")
    removed, added = _runs(before, after, qualname)
    if not removed.is_list() or removed.n_blank() or not _same_order(removed, added):
        raise UnprovenError(f"text of the docstring of {qualname} is removed or rewritten")
    if after.has_escapes(added):
        raise UnprovenError(f"lines of the docstring of {qualname} are written with escapes")
    if not (added.is_list() and _is_in_first_block(before, after, removed, added)):
        _require_section(before.layout, after.layout, removed, added, sections)
    old_texts, new_texts = (Counter(bullet.text for bullet in run.bullets()) for run in (removed, added))
    new_only, old_only = new_texts - old_texts, old_texts - new_texts
    return ChangedLines(added=tuple(new_only.elements()), removed=tuple(old_only.elements()))


def _docstring(raw: bytes, qualname: str, line: int | None, sections: Sequence[str]) -> _Docstring:
    source = read_source(raw)
    node = docstring_node(find_definition(source.tree, qualname, line))
    if node is None:
        raise UnprovenError(f"{qualname} has no docstring")
    literal = read_literal(source.text, *source.span(node))
    return _Docstring(source, literal, scan(literal.value, asked=sections))


def _runs(before: _Docstring, after: _Docstring, qualname: str) -> tuple[_Run, _Run]:
    """The differing lines, extended to whole bullets; the source of all other lines is the same."""
    old, new = before.layout.lines, after.layout.lines
    hanging = [_hanging(lines) for lines in (old, new)]
    start = _common([line.text for line in old], [line.text for line in new])
    while start in hanging[0] or start in hanging[1]:
        start -= 1
    most = min(len(old), len(new)) - start
    end = min(most, _common([line.text for line in reversed(old)], [line.text for line in reversed(new)]))
    while end and (len(old) - end in hanging[0] or len(new) - end in hanging[1]):
        end -= 1
    removed, added = _Run(old, start, len(old) - end), _Run(new, start, len(new) - end)
    same = all(
        before.written(*old_range) == after.written(*new_range)
        for old_range, new_range in (
            ((0, start), (0, start)),
            ((removed.end, len(old)), (added.end, len(new))),
        )
    )
    if not same or not start or (removed.first == removed.end and added.first == added.end):
        raise UnprovenError(f"text of the docstring of {qualname} is removed or rewritten")
    return removed, added


def _hanging(lines: Sequence[DocLine]) -> frozenset[int]:
    """Numbers of the lines that continue a bullet."""
    bullets = read_bullets(lines, 0, len(lines))
    return frozenset(number for bullet in bullets for number in range(bullet.first + 1, bullet.end))


def _common(old: Sequence[str], new: Sequence[str]) -> int:
    pairs = enumerate(zip(old, new, strict=False))
    return next((index for index, (left, right) in pairs if left != right), min(len(old), len(new)))


def _same_order(removed: _Run, added: _Run) -> bool:
    """Whether the bullets of both runs are the same lines in the same order, each once."""
    old_texts, new_texts = ({bullet.text for bullet in run.bullets()} for run in (removed, added))
    shared = old_texts & new_texts
    old_bullets, new_bullets = (
        [
            [line.text for line in run.lines[bullet.first : bullet.end]]
            for bullet in run.bullets()
            if bullet.text in shared
        ]
        for run in (removed, added)
    )
    return old_bullets == new_bullets and len(old_bullets) == len(shared)


def _is_in_first_block(before: _Docstring, after: _Docstring, removed: _Run, added: _Run) -> bool:
    """Whether the added lines are in a separate list there, and no section changes."""
    try:
        old_block, block = (read_first_block(docstring.layout, is_form) for docstring in (before, after))
    except UnprovenError:  # no text above the first section, so no list either
        return False
    if not block.bullets or not all(bullet in block.bullets for bullet in added.bullets()):
        return False
    lines, end = after.layout.lines, block.bullets[-1].end
    is_apart = end == len(lines) or lines[end].blank
    indents = {lines[bullet.first].indent for bullet in block.bullets}
    old_bullets = old_block.bullets
    most_blank = 0 if old_bullets else 2  # above and below the list
    indent = before.layout.lines[old_bullets[0].first].indent if old_bullets else after.layout.margin
    if not is_apart or added.n_blank() > most_blank or indents != {indent}:
        return False
    # a title is also a section, and the list is in it
    return _sections(before.layout, removed) == _sections(after.layout, added)


def _sections(layout: Layout, run: _Run) -> list[tuple[str, str, list[str]]]:
    """Name, style and text of the sections, without the lines of a run."""
    excluded = {*run.texts(), ""}
    return [
        (section.name, section.style, [text for text in layout.content(section) if text not in excluded])
        for section in layout.sections
    ]


def _require_section(
    before: Layout, after: Layout, removed: _Run, added: _Run, sections: Sequence[str]
) -> None:
    if len(sections) > 1:
        raise UnprovenError("lines of several sections are not in the list of the first block")
    name = sections[0]
    new_sections, old_sections = after.named(name), before.named(name)
    if len(new_sections) != 1:
        raise UnprovenError(
            f"the lines are neither in a single section {name} nor in a list at the end of the docstring's "
            "first block of text"
        )
    section = new_sections[0]
    heading = [line.text.strip() for line in after.lines[section.heading : section.body]]
    content = [text for text in after.content(section) if text]
    old_content = [text for text in before.content(old_sections[0]) if text] if old_sections else []
    unchanged = Counter(old_content) - Counter(removed.texts())
    lines = content[sum(unchanged[text] > 0 for text in old_content) :]
    n_listed = sum(bullet.end - bullet.first for bullet in added.bullets())
    is_all = added.texts() == ([] if old_sections else heading) + lines and n_listed == len(lines)
    if not lines or not is_all or added.n_blank() > _MOST_BLANK:
        raise UnprovenError(f"lines are added in another place than the end of section {name}")
