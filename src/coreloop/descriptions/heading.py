"""The types that the heading styles share: a docstring line, a section, a possible heading."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from coreloop.descriptions.section_names import KNOWN_KEYS, PROJECT_KEYS, name_key

Style = Literal["numpydoc", "google", "markdown"]
Code = Literal["", "fence", "doctest"]

# numpydoc wants an underline as long as the heading, Markdown one dash; people write at least three.
_RULE = re.compile(r"-{3,}|={3,}|~{3,}|\^{3,}")


@dataclass(frozen=True, slots=True)
class DocLine:
    """One line of a docstring value.

    `start` and `end` are its offsets in the value, without the line break; `indent` counts columns, tabs
    expanded.
    """

    text: str
    start: int
    indent: int
    code: Code = ""

    @property
    def end(self) -> int:
        return self.start + len(self.text)

    @property
    def blank(self) -> bool:
        return not self.text.strip()

    @property
    def lead(self) -> str:
        """The white space before the text, as written."""
        return self.text[: len(self.text) - len(self.text.lstrip())]


def split_lines(text: str) -> list[DocLine]:
    """The lines of a docstring's value; only LF ends a line."""
    lines, start = list[DocLine](), 0
    for line in text.split("\n"):
        wide = line.expandtabs()
        lines.append(DocLine(line, start, len(wide) - len(wide.lstrip())))
        start += len(line) + 1
    return lines


@dataclass(frozen=True, slots=True)
class DocstringSection:
    """A heading and the lines below it.

    Parameters
    ----------
    name : str
        As written, without colon and marks.
    style : {"numpydoc", "google", "markdown"}
        Style of its heading.
    mark : str
        ``"-"``, ``"="``, ``"~"`` (numpydoc), ``"##"``, ``"**"`` (Markdown), ``""`` (Google).
    heading, body, end : int
        Line numbers from 0: the heading, the first line after it (and its underline), the line after its last
        line of text; ``end == body`` if it has no text.
    inline : str
        Text on the heading's own line (``Guide: text``).
    lazy : bool
        A Google heading whose text starts at the heading's own column.
    """

    name: str
    style: Style
    mark: str
    heading: int
    body: int
    end: int
    inline: str = ""
    lazy: bool = False

    @property
    def key(self) -> str:
        return name_key(self.name)

    @property
    def known(self) -> bool:
        return self.key in KNOWN_KEYS

    @property
    def prose(self) -> bool:
        """Whether it may be a paragraph that only starts like a section (``Note: this is slow.``)."""
        return bool(self.inline) and self.key not in PROJECT_KEYS


@dataclass(frozen=True, slots=True)
class HeadingPlace:
    """A line at the docstring's margin, which may be a heading of a style.

    Parameters
    ----------
    lines : sequence of DocLine
        All of the docstring.
    number : int
        Its number, from 0.
    text : str
        Its text, stripped.
    margin : int
        Column of headings.
    current : DocstringSection or None
        The section that the line would belong to.
    asked : frozenset of str
        Keys of names to recognise besides the known names.
    """

    lines: Sequence[DocLine]
    number: int
    text: str
    margin: int
    current: DocstringSection | None
    asked: frozenset[str]

    @property
    def is_fresh(self) -> bool:
        """Whether a heading may start here: at the top, after a blank line, or after a Google section."""
        after_google = self.current is not None and self.current.style == "google"
        return self.number == 0 or after_google or self.lines[self.number - 1].blank

    @property
    def is_followed(self) -> bool:
        """Whether the next line has text."""
        return self.number + 1 < len(self.lines) and not self.lines[self.number + 1].blank

    @property
    def is_above_block(self) -> bool:
        """Whether the next line has text that is indented."""
        return self.is_followed and self.lines[self.number + 1].indent > self.margin

    def is_rule(self, offset: int) -> bool:
        """Whether the line ``offset`` lines below is an underline."""
        number = self.number + offset
        return 0 <= number < len(self.lines) and is_rule(self.lines[number], self.margin)


def is_rule(line: DocLine, margin: int) -> bool:
    """Whether a line at the margin has only dashes or similar: an underline, a border, a rule."""
    return not line.code and line.indent == margin and bool(_RULE.fullmatch(line.text.strip()))
