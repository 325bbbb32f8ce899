"""Find the sections of a docstring; each heading style (numpydoc, Google, Markdown) has its own module.

Text in, line numbers out. The editor (which must not put a line into the wrong section) and the shape report
(which must not count false sections) both read docstrings through `scan`.
"""

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace

from coreloop.descriptions import google, markdown, numpydoc
from coreloop.descriptions.bullets import columns
from coreloop.descriptions.heading import Code, DocLine, DocstringSection, HeadingPlace, is_rule, split_lines
from coreloop.descriptions.section_names import name_key

# In order: an underline and number signs are structure, a colon may be prose.
_STYLES = (numpydoc.read_heading, markdown.read_heading, google.read_heading)
# reads ":param order_id: The order." and "@return: It.", but not ":func:`pay` takes it."
_FIELD = re.compile(
    r"[:@](?:param(?:eter)?|arg(?:ument)?|key(?:word)?|kwarg|type|raises?|except(?:ion)?|returns?|rtype|yields?|"
    r"ytype|i?var|cvar|vartype|meta)\b[^:`]{0,200}:(?!`)"
)
_FENCE = re.compile(r"(?P<fence>`{3,}|~{3,})(?P<info>.*)", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Layout:
    """A docstring as lines and sections.

    `margin` is the column of headings, `least` the columns that `inspect.cleandoc` removes (None: one line).
    """

    lines: tuple[DocLine, ...]
    sections: tuple[DocstringSection, ...]
    margin: int
    least: int | None
    open_fence: bool

    def named(self, name: str) -> list[DocstringSection]:
        """The sections of a name, in any spelling."""
        return [section for section in self.sections if section.key == name_key(name)]

    def content(self, section: DocstringSection) -> list[str]:
        """Text lines of a section, stripped, the heading's own line first if it has text."""
        body = [line.text.strip() for line in self.lines[section.body : section.end]]
        return [section.inline, *body] if section.inline else body

    @property
    def first_field(self) -> int:
        """Number of the first line with a field (``:param x:``), or of the line after the last."""
        fields = (number for number, line in enumerate(self.lines) if is_field(line, self.margin))
        return next(fields, len(self.lines))

    def preface(self) -> list[str]:
        """Text lines before the first section, stripped."""
        end = self.sections[0].heading if self.sections else len(self.lines)
        return [line.text.strip() for line in self.lines[:end]]

    def text_above(self, section: DocstringSection) -> list[str]:
        """Text lines above a heading, stripped."""
        return [line.text.strip() for line in self.lines[: section.heading] if not line.blank]

    def is_rule(self, number: int) -> bool:
        """Whether a line at the margin has only dashes: an underline, a table border, a transition."""
        return is_rule(self.lines[number], self.margin)


def is_field(line: DocLine, margin: int) -> bool:
    """Whether a line is a field of reST or Epytext; all lines up to the next heading belong to fields."""
    return not line.code and line.indent == margin and bool(_FIELD.match(line.text.strip()))


def scan(docstring: str, *, asked: Collection[str] = ()) -> Layout:
    """Find the sections of a docstring.

    A heading is at the docstring's margin and not in a fenced block or a doctest. numpydoc and Markdown
    headings are structural, so even unknown names end the section above. A Google heading is a known name,
    an asked name, or a title (``Data Sources:``) right above an indented block.

    Parameters
    ----------
    docstring : str
        The value of the literal, not dedented.
    asked : collection of str
        Names to recognise besides the known names.

    Returns
    -------
    Layout
    """
    lines, open_fence = _mark_code(split_lines(docstring))
    least = min((line.indent for line in lines[1:] if not line.blank), default=None)
    layout = _scan_at(lines, least or 0, least, asked, open_fence)
    closing = lines[-1]
    if layout.sections or least is None or not closing.blank or closing.indent <= least:
        return layout
    # A line is outdented (an escaped line break in an example does that), but the closing quotes still show
    # the margin.
    moved = _scan_at(lines, closing.indent, least, asked, open_fence)
    return moved if moved.sections else layout


def _scan_at(
    lines: Sequence[DocLine], margin: int, least: int | None, asked: Collection[str], open_fence: bool
) -> Layout:
    # As in `inspect.cleandoc`, the first line's own indentation does not count.
    lines = (replace(lines[0], indent=margin), *lines[1:])
    sections = tuple(_Scanner(lines, margin, frozenset(map(name_key, asked))).sections())
    return Layout(lines, sections, margin, least, open_fence)


def _mark_code(lines: Sequence[DocLine]) -> tuple[list[DocLine], bool]:
    """Mark doctests (up to a blank or outdented line) and fenced lines; return whether a fence stays open."""
    marked, fence, prompt = [], "", -1
    for number, line in enumerate(lines):
        stripped = line.text.strip()
        code: Code = "fence" if fence else ""
        if fence:
            fence = "" if _closes(stripped, fence) else fence
        elif prompt >= 0 and stripped and line.indent >= prompt:
            code = "doctest"
        elif stripped.startswith(">>>"):
            code, prompt = "doctest", line.indent
        else:
            prompt, fence = -1, "" if _underlines(lines[number - 1 : number + 1]) else _opened(stripped)
        marked.append(replace(line, code=code) if code else line)
    return marked, bool(fence)


def _underlines(pair: Sequence[DocLine]) -> bool:
    """Whether the second of two lines underlines the first in reST; a fence would be shorter."""
    if len(pair) < 2 or pair[0].blank or pair[0].indent != pair[1].indent:
        return False
    title, rule = (line.text.strip() for line in pair)
    return set(rule) == {"~"} and len(rule) >= columns(title)


def _opened(stripped: str) -> str:
    match = _FENCE.fullmatch(stripped)
    return match["fence"] if match and match["fence"][0] not in match["info"] else ""


def _closes(stripped: str, fence: str) -> bool:
    return len(stripped) >= len(fence) and set(stripped) == {fence[0]}


class _Scanner:
    """One pass over the lines; `_current` is the section that the next line would belong to."""

    def __init__(self, lines: Sequence[DocLine], margin: int, asked: frozenset[str]) -> None:
        self._lines = lines
        self._margin = margin
        self._asked = asked
        self._sections: list[DocstringSection] = []
        self._current: DocstringSection | None = None
        self._lazy = False

    def sections(self) -> list[DocstringSection]:
        number = 0
        while number < len(self._lines):
            if opened := self._heading(number):
                self._open(opened)
                number = opened.body
                continue
            self._read(number)
            number += 1
        self._close()
        return self._sections

    def _open(self, opened: DocstringSection) -> None:
        self._close()
        self._current, self._lazy = opened, opened.lazy

    def _close(self) -> None:
        if self._current is not None:
            self._sections.append(self._current)
        self._current = None

    def _read(self, number: int) -> None:
        """Add a line to the current section, or end it at a field or at text outside a Google section."""
        line = self._lines[number]
        if self._current is not None and is_field(line, self._margin):
            self._close()
        if self._current is None or line.blank:
            self._lazy = self._lazy and not line.blank
            return
        outside = line.indent <= self._margin and line.code != "fence"
        if self._current.style == "google" and outside and not self._lazy:
            self._close()
            return
        # After `Guide: text`, an indented block continues the text.
        self._lazy = self._lazy and (outside or not self._current.inline)
        self._current = replace(self._current, end=number + 1)

    def _heading(self, number: int) -> DocstringSection | None:
        line = self._lines[number]
        if line.blank or line.code or line.indent != self._margin:
            return None
        text = line.text.strip()
        place = HeadingPlace(self._lines, number, text, self._margin, self._current, self._asked)
        for read_heading in _STYLES:
            if (section := read_heading(place)) is not None:
                return section
        return None
