"""Where the sections of a docstring are: numpydoc, Google and Markdown headings.

Text in, line numbers out. The editor (which must not put a line into the wrong section) and the shape report
(which must not count what only looks like a section) both read docstrings through `scan`.
"""

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from typing import Literal

Style = Literal["numpydoc", "google", "markdown"]
Code = Literal["", "fence", "doctest"]

PROJECT_NAMES = ("Guide", "When", "How", "Verified", "Caveats")
"""Sections of this project's own vocabulary; `Name: text` opens them even inside a numpydoc section."""

KNOWN_NAMES = (
    *PROJECT_NAMES,
    *("Summary", "Description", "Extended Summary", "Short Summary"),
    *("Args", "Arguments", "Params", "Parameters", "Keyword Args", "Keyword Arguments", "Other Parameters"),
    *("Return", "Returns", "Yield", "Yields", "Receives", "Raise", "Raises", "Exceptions", "Warns"),
    *("Attributes", "Methods", "Functions", "Classes", "Modules", "Example", "Examples", "Usage"),
    *("Note", "Notes", "See Also", "References", "Deprecated", "Todo", "Warning", "Warnings", "Attention"),
    *("Caution", "Danger", "Error", "Hint", "Important", "Tip"),
)

_SPELLINGS = {
    "parameters": ("args", "arguments", "params", "parameter"),
    "returns": ("return",),
    "raises": ("raise", "exceptions"),
    "examples": ("example",),
    "notes": ("note",),
    "caveats": ("caveat",),
    "summary": ("shortsummary",),
    "description": ("extendedsummary",),
}
_SAME = {spelling: key for key, spellings in _SPELLINGS.items() for spelling in spellings}


def name_key(name: str) -> str:
    """What two spellings of one section name have in common (`SeeAlso`, `See also:`, `See Also`)."""
    key = re.sub(r"[\s_*-]+", "", name.strip().removesuffix(":")).casefold()
    return _SAME.get(key, key)


_KNOWN_KEYS = frozenset(map(name_key, KNOWN_NAMES))
_PROJECT_KEYS = frozenset(map(name_key, PROJECT_NAMES))

# numpydoc asks for an underline as long as the heading, Markdown for one dash; what people write has three.
_RULE = re.compile(r"-{3,}|={3,}")
_ATX = re.compile(r"(?P<mark>#{1,6})[ \t]+(?P<name>.*?)(?:[ \t]+#+)?")
_COLON = re.compile(r"(?P<name>[^\W\d_][\w /&-]{0,60}?):(?:\s+(?P<inline>\S.*))?")
_FENCE = re.compile(r"(?P<fence>`{3,}|~{3,})(?P<info>.*)", re.DOTALL)


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


@dataclass(frozen=True, slots=True)
class Section:
    """A heading and the lines below it.

    Parameters
    ----------
    name : str
        As written, without colon and marks.
    style : {"numpydoc", "google", "markdown"}
        What makes it a heading.
    mark : str
        ``"-"`` or ``"="`` (numpydoc), ``"##"`` (Markdown), ``""`` (Google).
    heading, body, end : int
        Line numbers from 0: the heading, the first line after it (and its underline), the line after the last
        one with text; ``end == body`` when there is none.
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
        return self.key in _KNOWN_KEYS

    @property
    def prose(self) -> bool:
        """Whether it may be a paragraph that only starts like a section (``Note: this is slow.``)."""
        return bool(self.inline) and self.key not in _PROJECT_KEYS


@dataclass(frozen=True, slots=True)
class Layout:
    """A docstring as lines and sections.

    `margin` is the column of headings, `least` what `inspect.cleandoc` cuts off (None: one line of text).
    """

    lines: tuple[DocLine, ...]
    sections: tuple[Section, ...]
    margin: int
    least: int | None
    open_fence: bool

    def named(self, name: str) -> list[Section]:
        """The sections of that name, in any spelling."""
        return [section for section in self.sections if section.key == name_key(name)]

    def content(self, section: Section) -> list[str]:
        """Text lines of a section, stripped, the heading's own line first if it has text."""
        body = [line.text.strip() for line in self.lines[section.body : section.end]]
        return [section.inline, *body] if section.inline else body

    def preface(self) -> list[str]:
        """Text lines before the first section, stripped."""
        end = self.sections[0].heading if self.sections else len(self.lines)
        return [line.text.strip() for line in self.lines[:end]]

    def is_rule(self, number: int) -> bool:
        """Whether a line is nothing but dashes at the margin: an underline, a table border, a transition."""
        line = self.lines[number]
        return not line.code and line.indent == self.margin and bool(_RULE.fullmatch(line.text.strip()))


def scan(docstring: str, *, asked: Collection[str] = ()) -> Layout:
    """Find the sections of a docstring.

    A heading is at the docstring's margin and not in a fenced block or a doctest. numpydoc and Markdown
    headings are structural, so that names nobody has heard of still end the section above. A Google heading
    is a known name, an asked one, or a title (``Data Sources:``) right above an indented block.

    Parameters
    ----------
    docstring : str
        The value of the literal, not dedented.
    asked : collection of str
        Names to recognise beside the known ones.

    Returns
    -------
    Layout
    """
    lines, open_fence = _mark_code(_split(docstring))
    least = min((line.indent for line in lines[1:] if not line.blank), default=None)
    layout = _scan_at(lines, least or 0, least, asked, open_fence)
    closing = lines[-1]
    if layout.sections or least is None or not closing.blank or closing.indent <= least:
        return layout
    # A line sticks out to the left (an escaped line break in an example does that); the closing quotes still
    # show where the text stands.
    moved = _scan_at(lines, closing.indent, least, asked, open_fence)
    return moved if moved.sections else layout


def _scan_at(
    lines: Sequence[DocLine], margin: int, least: int | None, asked: Collection[str], open_fence: bool
) -> Layout:
    # As in `inspect.cleandoc`, the first line's own indentation says nothing.
    lines = (replace(lines[0], indent=margin), *lines[1:])
    sections = tuple(_Scanner(lines, margin, frozenset(map(name_key, asked))).sections())
    return Layout(lines, sections, margin, least, open_fence)


def _split(docstring: str) -> list[DocLine]:
    lines, start = [], 0
    for text in docstring.split("\n"):
        wide = text.expandtabs()
        lines.append(DocLine(text, start, len(wide) - len(wide.lstrip())))
        start += len(text) + 1
    return lines


def _mark_code(lines: Sequence[DocLine]) -> tuple[list[DocLine], bool]:
    """Mark doctests (up to a blank or outdented line) and fenced lines; tell whether a fence stays open."""
    marked, fence, prompt = [], "", -1
    for line in lines:
        stripped = line.text.strip()
        code: Code = "fence" if fence else ""
        if fence:
            fence = "" if _closes(stripped, fence) else fence
        elif prompt >= 0 and stripped and line.indent >= prompt:
            code = "doctest"
        elif stripped.startswith(">>>"):
            code, prompt = "doctest", line.indent
        else:
            prompt, fence = -1, _opened(stripped)
        marked.append(replace(line, code=code) if code else line)
    return marked, bool(fence)


def _opened(stripped: str) -> str:
    match = _FENCE.fullmatch(stripped)
    return match["fence"] if match and match["fence"][0] not in match["info"] else ""


def _closes(stripped: str, fence: str) -> bool:
    return len(stripped) >= len(fence) and set(stripped) == {fence[0]}


class _Scanner:
    """One pass over the lines; `_current` is the section that the line at hand would belong to."""

    def __init__(self, lines: Sequence[DocLine], margin: int, asked: frozenset[str]) -> None:
        self._lines = lines
        self._margin = margin
        self._asked = asked
        self._found: list[Section] = []
        self._current: Section | None = None
        self._lazy = False

    def sections(self) -> list[Section]:
        number = 0
        while number < len(self._lines):
            if opened := self._heading(number):
                self._open(opened)
                number = opened.body
                continue
            self._read(number)
            number += 1
        self._keep()
        return self._found

    def _open(self, opened: Section) -> None:
        self._keep()
        self._current, self._lazy = opened, opened.lazy

    def _keep(self) -> None:
        if self._current is not None:
            self._found.append(self._current)
        self._current = None

    def _read(self, number: int) -> None:
        """Add a line to the current section, or end a Google section that the line leaves."""
        line = self._lines[number]
        if self._current is None or line.blank:
            self._lazy = self._lazy and not line.blank
            return
        outside = line.indent <= self._margin and line.code != "fence"
        if self._current.style == "google" and outside and not self._lazy:
            self._keep()
            return
        # Text that starts beside its heading may hang; below `Guide: text`, an indented block is the text.
        self._lazy = self._lazy and (outside or not self._current.inline)
        self._current = replace(self._current, end=number + 1)

    def _heading(self, number: int) -> Section | None:
        line = self._lines[number]
        if line.blank or line.code or line.indent != self._margin:
            return None
        return self._numpydoc(number) or self._markdown(number) or self._google(number)

    def _numpydoc(self, number: int) -> Section | None:
        if not self._is_rule(number + 1) or self._is_rule(number):
            return None
        started = self._current is not None and self._current.body == number
        if self._is_rule(number - 1) and not started:
            return None  # a line between two rules is a table or an overlined title
        text = self._lines[number].text.strip()
        mark = self._lines[number + 1].text.strip()[0]
        return Section(text.removesuffix(":"), "numpydoc", mark, number, number + 2, number + 2)

    def _is_rule(self, number: int) -> bool:
        if not 0 <= number < len(self._lines):
            return False
        line = self._lines[number]
        return not line.code and line.indent == self._margin and bool(_RULE.fullmatch(line.text.strip()))

    def _markdown(self, number: int) -> Section | None:
        match = _ATX.fullmatch(self._lines[number].text.strip())
        if not match or not match["name"]:
            return None
        name = match["name"].strip("* ").removesuffix(":")
        return Section(name, "markdown", match["mark"], number, number + 1, number + 1)

    def _google(self, number: int) -> Section | None:
        match = _COLON.fullmatch(self._lines[number].text.strip())
        if not match or match["name"][0].islower():
            return None
        name, inline = match["name"], match["inline"] or ""
        if not self._is_google(number, name, inline):
            return None
        lazy = bool(inline) or (self._follows(number) and not self._is_block(number))
        return Section(name, "google", "", number, number + 1, number + 1, inline, lazy)

    def _is_google(self, number: int, name: str, inline: str) -> bool:
        key, fresh = name_key(name), self._is_fresh(number)
        structural = self._current is not None and self._current.style != "google"
        if inline:
            names = _PROJECT_KEYS if structural else _KNOWN_KEYS
            return fresh and (key in names or key in self._asked)
        if key in _KNOWN_KEYS or key in self._asked:
            return fresh or (self._is_block(number) and not structural)
        titled = not any(word[0].islower() for word in name.split())
        return titled and fresh and not structural and self._is_block(number)

    def _is_fresh(self, number: int) -> bool:
        """Whether a heading may start here: at the top, after a blank line, or after a Google section."""
        after_google = self._current is not None and self._current.style == "google"
        return number == 0 or after_google or self._lines[number - 1].blank

    def _follows(self, number: int) -> bool:
        return number + 1 < len(self._lines) and not self._lines[number + 1].blank

    def _is_block(self, number: int) -> bool:
        return self._follows(number) and self._lines[number + 1].indent > self._margin
