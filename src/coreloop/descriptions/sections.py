"""Find the sections of a docstring, in the style of numpydoc, Google or Markdown: text in, line numbers out.

The editor (which must not put a line into the wrong section) and the shape report (which must not count false
sections) both read docstrings through `scan`.
"""

import re
import unicodedata
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

Style = Literal["numpydoc", "google", "markdown"]

_NAMES = [line.split("\t") for line in Path(__file__).with_name("section_names.tsv").read_text().splitlines()]
"""Known names; spellings of one section are on one line."""


def _squashed(name: str) -> str:
    return re.sub(r"[\s_*-]+", "", name.strip().removesuffix(":")).casefold()


_SAME = {_squashed(name): _squashed(names[0]) for names in _NAMES for name in names}

# numpydoc wants an underline as long as the heading, Markdown one dash; people write at least three.
_RULE = re.compile(r"\A(?:-{3,}|={3,}|~{3,}|\^{3,})\Z")
_ATX = re.compile(r"(?P<mark>#{1,6})[ \t]+(?P<name>.*?)(?:(?<![ \t])[ \t]+#+)?")
_BOLD = re.compile(r"(?P<mark>\*\*|__)(?P<name>[^\W\d_][\w /&-]{0,60}):?(?P=mark):?")  # **Guide**, **Guide:**
# reads "Guide: text" and "Data Sources:", but not "1st: x" and "{a}: x"
_COLON = re.compile(r"(?P<name>[^\W\d_][\w /&-]{0,60}?):(?:\s+(?P<inline>\S.*))?")
# reads ":param order_id: The order." and "@return: It.", but not ":func:`pay` takes it."
_FIELD = re.compile(
    r"[:@](?:param(?:eter)?|arg(?:ument)?|key(?:word)?|kwarg|type|raises?|except(?:ion)?|returns?|rtype|yields?|"
    r"ytype|i?var|cvar|vartype|meta)\b[^:`]{0,200}:(?!`)"
)
_FENCE = re.compile(r"(?P<fence>`{3,})[^`]*")


def name_key(name: str) -> str:
    """The key that all spellings of a section name share (`SeeAlso`, `See also:`, `See Also`)."""
    return _SAME.get(_squashed(name), _squashed(name))


KNOWN_KEYS = frozenset(_SAME.values())
PROJECT_KEYS = frozenset({"guide", "when", "how", "verified", "caveats"})
"""Sections of this project's own vocabulary; `Name: text` opens them even inside a numpydoc section."""


@dataclass(frozen=True, slots=True)
class DocLine:
    """One line of a docstring value.

    `start` and `end` are its offsets in the value, without the line break; `indent` counts columns, tabs
    expanded.
    """

    text: str
    start: int
    indent: int
    code: str = ""

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


def columns(text: str) -> int:
    """Width of a text in columns; wide (East Asian) characters count two."""
    return sum(2 if unicodedata.east_asian_width(char) in "WF" else 1 for char in text.expandtabs())


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
    """

    name: str
    style: Style
    mark: str
    heading: int
    body: int
    end: int
    inline: str = ""

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
class Layout:
    """A docstring as lines and sections.

    `margin` is the column of headings: that of the least indented line, as `inspect.cleandoc` has it.
    """

    lines: tuple[DocLine, ...]
    sections: tuple[DocstringSection, ...]
    margin: int
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
        fields = (number for number, line in enumerate(self.lines) if self.is_field(line))
        return next(fields, len(self.lines))

    def preface(self) -> list[str]:
        """Text lines before the first section, stripped."""
        end = self.sections[0].heading if self.sections else len(self.lines)
        return [line.text.strip() for line in self.lines[:end]]

    def is_rule(self, number: int) -> bool:
        """Whether a line at the margin has only dashes: an underline, a table border, a transition."""
        return 0 <= number < len(self.lines) and self._is(_RULE, self.lines[number])

    def is_field(self, line: DocLine) -> bool:
        """Whether a line is a field of reST or Epytext; all lines up to the next heading belong to fields."""
        return self._is(_FIELD, line)

    def _is(self, pattern: re.Pattern[str], line: DocLine) -> bool:
        at_margin = not line.code and line.indent == self.margin
        return at_margin and pattern.match(line.text.strip()) is not None


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
    margin = min((line.indent for line in lines[1:] if not line.blank), default=0)
    # As in `inspect.cleandoc`, the first line's own indentation does not count.
    lines[0] = replace(lines[0], indent=margin)
    layout = Layout(tuple(lines), (), margin, open_fence)
    return replace(layout, sections=tuple(_Scanner(layout, asked).sections()))


def _mark_code(lines: Sequence[DocLine]) -> tuple[list[DocLine], bool]:
    """Mark doctests (up to a blank or outdented line) and fenced lines; return whether a fence stays open."""
    marked, fence, prompt = [], "", -1
    for line in lines:
        stripped = line.text.strip()
        code = "fence" if fence else ""
        if fence:
            fence = "" if len(stripped) >= len(fence) and set(stripped) == {"`"} else fence
        elif prompt >= 0 and stripped and line.indent >= prompt:
            code = "doctest"
        elif stripped.startswith(">>>"):
            code, prompt = "doctest", line.indent
        else:
            opened = _FENCE.fullmatch(stripped)
            prompt, fence = -1, opened["fence"] if opened else ""
        marked.append(replace(line, code=code) if code else line)
    return marked, bool(fence)


class _Scanner:
    """One pass over the lines; `_current` is the section that the next line would belong to."""

    def __init__(self, layout: Layout, asked: Collection[str]) -> None:
        self._layout, self._lines, self._margin = layout, layout.lines, layout.margin
        self._known = KNOWN_KEYS.union(map(name_key, asked))
        self._project = PROJECT_KEYS.union(map(name_key, asked))
        self._sections: list[DocstringSection] = []
        self._current: DocstringSection | None = None
        self._lazy = False

    def sections(self) -> list[DocstringSection]:
        number = 0
        while number < len(self._lines):
            opened = self._heading(number)
            if opened is not None:
                self._sections.append(opened)
                self._current, self._lazy = opened, bool(opened.inline)
                number = opened.body
                continue
            self._read(number)
            number += 1
        return self._sections

    def _read(self, number: int) -> None:
        """Add a line to the current section, or end it at a field or at text outside a Google section."""
        line = self._lines[number]
        if self._layout.is_field(line):
            self._current = None
        if self._current is None or line.blank:
            self._lazy = self._lazy and not line.blank
            return
        outside = line.indent <= self._margin and line.code != "fence"
        if self._current.style == "google" and outside and not self._lazy:
            self._current = None
            return
        self._lazy = self._lazy and outside  # below `Guide: text`, an indented block may follow
        self._current = self._sections[-1] = replace(self._current, end=number + 1)

    def _heading(self, number: int) -> DocstringSection | None:
        """The section that a line opens; underlines and number signs first, since a colon may be prose."""
        line = self._lines[number]
        if line.blank or line.code or line.indent != self._margin:
            return None
        text = line.text.strip()
        return self._numpydoc(number, text) or self._markdown(number, text) or self._google(number, text)

    def _numpydoc(self, number: int, text: str) -> DocstringSection | None:
        """A name with an underline."""
        if not self._layout.is_rule(number + 1) or self._layout.is_rule(number):
            return None
        started = self._current is not None and self._current.body == number
        if self._layout.is_rule(number - 1) and not started:
            return None  # a line between two rules is a table or an overlined title
        mark = self._lines[number + 1].text.strip()[0]
        return DocstringSection(text.removesuffix(":"), "numpydoc", mark, number, number + 2, number + 2)

    def _markdown(self, number: int, text: str) -> DocstringSection | None:
        """A name after number signs, or a known name in bold on its own line after a blank line."""
        match = _ATX.fullmatch(text)
        if match is None:
            match = _BOLD.fullmatch(text)
            if match is None or name_key(match["name"]) not in self._known or not self._is_fresh(number):
                return None  # emphasis
        name = match["name"].strip("* ").removesuffix(":")
        return DocstringSection(name, "markdown", match["mark"], number, number + 1, number + 1)

    def _google(self, number: int, text: str) -> DocstringSection | None:
        """A known name, or a title above an indented block, and a colon."""
        match = _COLON.fullmatch(text)
        if not match or match["name"][0].islower():
            return None
        name, inline = match["name"], match["inline"] or ""
        below = [line.indent for line in self._lines[number + 1 : number + 2] if not line.blank]
        is_fresh, is_block, current = self._is_fresh(number), below > [self._margin], self._current
        is_title = current is not None and not current.heading and not current.known
        is_structural = current is not None and current.style != "google" and not is_title
        if inline:
            opens = is_fresh and name_key(name) in (self._project if is_structural else self._known)
        elif name_key(name) in self._known:
            opens = (is_fresh and below != [self._margin]) or (is_block and not is_structural)
        else:
            is_titled = not any(word[0].islower() for word in name.split())
            opens = is_titled and is_fresh and is_block and not is_structural
        return DocstringSection(name, "google", "", number, number + 1, number + 1, inline) if opens else None

    def _is_fresh(self, number: int) -> bool:
        """Whether a heading may start here: at the top, after a blank line, or after a Google section."""
        after_google = self._current is not None and self._current.style == "google"
        return number == 0 or after_google or self._lines[number - 1].blank
