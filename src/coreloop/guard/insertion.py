"""What a change puts into one docstring and takes out of it, or why it does more: bytes in, lines out.

Held against the files alone, not against what `promote` would write, so that a mistake there shows here.
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
    """Bullets that came to a docstring and bullets that went, each on one line; what moved did neither."""

    added: tuple[str, ...]
    removed: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class _Docstring:
    source: SourceText
    literal: StringLiteral
    layout: Layout

    def around(self) -> tuple[bytes, bytes]:
        """The bytes up to the opening quotes and from the closing ones on."""
        start, end = (self.source.byte_offset(at) for at in (self.literal.start, self.literal.end))
        return self.source.raw[:start], self.source.raw[end:]

    def written(self, first: int, end: int) -> str:
        """The source of some lines, from the end of the one above, escapes as they are."""
        ends = [0, *(line.end for line in self.layout.lines)]
        at, to = self.literal.offset(ends[first]), self.literal.offset(ends[end])
        return self.source.text[at:to]

    def has_escapes(self, run: "_Run") -> bool:
        """Whether lines are spelled otherwise than they read; line breaks of a one-line string aside."""
        spelled = self.written(run.first, run.end)
        return "\\" in (spelled if self.literal.triple else spelled.replace("\\n", ""))


@dataclass(frozen=True, slots=True)
class _Run:
    """Lines of one side that the other has not."""

    lines: Sequence[DocLine]
    first: int
    end: int

    def texts(self) -> list[str]:
        # strip() alone would take off control characters and line separators, too
        found = (line.text.strip(" \t") for line in self.lines[self.first : self.end])
        return [text for text in found if text]

    def bullets(self) -> list[Bullet]:
        return read_bullets(self.lines, self.first, self.end)

    def n_blank(self) -> int:
        return sum(line.blank for line in self.lines[self.first : self.end])

    def is_list(self) -> bool:
        """Whether it is nothing but bullets and blank lines."""
        return sum(bullet.end - bullet.first for bullet in self.bullets()) == len(self.texts())


def changed_lines(
    old: bytes, new: bytes, *, qualname: str, line: int | None, sections: Sequence[str]
) -> ChangedLines:
    """The bullets that a change puts into a docstring and takes out of it.

    The bytes outside of that docstring's quotes are the same; between them, one run of whole lines is
    another. What goes is nothing but bullets, and so is what comes, but for the heading of a new section. It
    stands in the list at the end of the first block of text, or, where there is one section, at its end. The
    bullets that stay are the same lines in the same order, and the only blank lines that come are those
    around a new list or section.

    Parameters
    ----------
    old, new : bytes
        The file before and after.
    qualname : str
        Dotted name of the definition.
    line : int, optional
        Where the name is defined more than once.
    sections : sequence of str
        Where lines may come to.

    Returns
    -------
    ChangedLines

    Raises
    ------
    UnprovenError
        It is anything else; the message is the reason.
    """
    before, after = (_docstring(raw, qualname, line, sections) for raw in (old, new))
    if before.around() != after.around():
        raise UnprovenError(f"something outside of the docstring of {qualname} changes")
    gone, come = _runs(before, after, qualname)
    if not gone.is_list() or gone.n_blank() or not _same_order(gone, come):
        raise UnprovenError(f"text of the docstring of {qualname} is removed or rewritten")
    if after.has_escapes(come):
        raise UnprovenError(f"lines of the docstring of {qualname} are written with escapes")
    if not (come.is_list() and _is_in_first_block(before, after, gone, come)):
        _require_section(before.layout, after.layout, gone, come, sections)
    texts = [Counter(bullet.text for bullet in run.bullets()) for run in (gone, come)]
    return ChangedLines(*(tuple(found.elements()) for found in (texts[1] - texts[0], texts[0] - texts[1])))


def _docstring(raw: bytes, qualname: str, line: int | None, sections: Sequence[str]) -> _Docstring:
    source = read_source(raw)
    node = docstring_node(find_definition(source.tree, qualname, line))
    if node is None:
        raise UnprovenError(f"{qualname} has no docstring")
    literal = read_literal(source.text, *source.span(node))
    return _Docstring(source, literal, scan(literal.value, asked=sections))


def _runs(before: _Docstring, after: _Docstring, qualname: str) -> tuple[_Run, _Run]:
    """The lines that differ, whole bullets of them; the source of all others is the same."""
    old, new = before.layout.lines, after.layout.lines
    hanging = [_hanging(lines) for lines in (old, new)]
    start = _common([line.text for line in old], [line.text for line in new])
    while start in hanging[0] or start in hanging[1]:
        start -= 1
    most = min(len(old), len(new)) - start
    end = min(most, _common([one.text for one in reversed(old)], [one.text for one in reversed(new)]))
    while end and (len(old) - end in hanging[0] or len(new) - end in hanging[1]):
        end -= 1
    gone, come = _Run(old, start, len(old) - end), _Run(new, start, len(new) - end)
    same = all(
        before.written(*parts[0]) == after.written(*parts[1])
        for parts in (((0, start), (0, start)), ((gone.end, len(old)), (come.end, len(new))))
    )
    if not same or not start or (gone.first == gone.end and come.first == come.end):
        raise UnprovenError(f"text of the docstring of {qualname} is removed or rewritten")
    return gone, come


def _hanging(lines: Sequence[DocLine]) -> frozenset[int]:
    """Numbers of the lines that belong to the bullet above."""
    found = read_bullets(lines, 0, len(lines))
    return frozenset(number for bullet in found for number in range(bullet.first + 1, bullet.end))


def _common(old: Sequence[str], new: Sequence[str]) -> int:
    pairs = enumerate(zip(old, new, strict=False))
    return next((at for at, (one, other) in pairs if one != other), min(len(old), len(new)))


def _same_order(gone: _Run, come: _Run) -> bool:
    """Whether the bullets of both are the same lines in the same order, each once."""
    texts = [{bullet.text for bullet in run.bullets()} for run in (gone, come)]
    kept = [
        [
            [line.text for line in run.lines[bullet.first : bullet.end]]
            for bullet in run.bullets()
            if bullet.text in texts[0] & texts[1]
        ]
        for run in (gone, come)
    ]
    return kept[0] == kept[1] and len(kept[0]) == len(texts[0] & texts[1])


def _is_in_first_block(before: _Docstring, after: _Docstring, gone: _Run, come: _Run) -> bool:
    """Whether what comes is in the list there, which stands apart, and every section reads as before."""
    try:
        had, block = (read_first_block(one.layout, is_form) for one in (before, after))
    except UnprovenError:  # no text above the first section, so no list either
        return False
    if not block.bullets or not all(bullet in block.bullets for bullet in come.bullets()):
        return False
    lines, end = after.layout.lines, block.bullets[-1].end
    is_apart = end == len(lines) or lines[end].blank
    indents = {lines[bullet.first].indent for bullet in block.bullets}
    most_blank = 0 if had.bullets else 2  # the gap, and what stands between the list and what follows
    at = before.layout.lines[had.bullets[0].first].indent if had.bullets else after.layout.margin
    if not is_apart or come.n_blank() > most_blank or indents != {at}:
        return False
    # a title is a section, too, and the list is in it
    return _sections(before.layout, gone) == _sections(after.layout, come)


def _sections(layout: Layout, run: _Run) -> list[tuple[str, str, list[str]]]:
    """Name, style and text of the sections, without the lines of a run."""
    left = {*run.texts(), ""}
    return [
        (one.name, one.style, [text for text in layout.content(one) if text not in left])
        for one in layout.sections
    ]


def _require_section(before: Layout, after: Layout, gone: _Run, come: _Run, sections: Sequence[str]) -> None:
    if len(sections) > 1:
        raise UnprovenError("lines of several sections are not in the list of the first block")
    section = sections[0]
    found, had = after.named(section), before.named(section)
    if len(found) != 1:
        raise UnprovenError(
            f"the docstring does not have one section {section}, and at the end of its first block of text "
            "no list of these lines"
        )
    heading = [line.text.strip() for line in after.lines[found[0].heading : found[0].body]]
    content = [text for text in after.content(found[0]) if text]
    kept = [text for text in before.content(had[0]) if text] if had else []
    left = Counter(kept) - Counter(gone.texts())
    kept = [text for text in kept if left[text]]
    lines = content[len(kept) :]
    n_listed = sum(bullet.end - bullet.first for bullet in come.bullets())
    is_all = come.texts() == ([] if had else heading) + lines and n_listed == len(lines)
    if not lines or not is_all or come.n_blank() > _MOST_BLANK:
        raise UnprovenError(f"lines are put elsewhere than to the end of section {section}")
