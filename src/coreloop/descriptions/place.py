"""Choose the place for new lines in a docstring: line numbers and text, no source.

The default is the end of the first block of text, the only part that every framework sends.
"""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

from coreloop.descriptions.sections import DocLine, DocstringSection, Layout, Style, columns
from coreloop.descriptions.source import UnprovenError

WIDTH: Final = 79
"""Columns at which bullets are wrapped, as a terminal counts them: PEP 8's, which each linter accepts."""

_SUMMARIES: Final = frozenset({"summary", "description"})
_MARK: Final = "- "
_NO_START: Final = re.compile(r"[-*+•#]+$|```|~~~|>>>|\.\.$")
"""Words that would change the meaning of a line if they began it."""


@dataclass(frozen=True, slots=True)
class Placement:
    """Lines to put after line `after` (from 0) of a docstring.

    Parameters
    ----------
    after : int
        Number of the line above.
    lines : tuple of str
        With indentation, heading and blank lines.
    appended : tuple of str
        The requested lines that were absent.
    """

    after: int
    lines: tuple[str, ...]
    appended: tuple[str, ...]


def never(_: str) -> bool:
    """Default of `Wanted.is_ours`: no line has a form that coreloop writes."""
    return False


@dataclass(frozen=True, slots=True)
class Wanted:
    """Lines to place, and their format.

    Attributes
    ----------
    lines : tuple of str
        Bullets, or text that a person chose.
    section : str or None
        None for the end of the first block.
    style : {"numpydoc", "google", "markdown"}
        Style of a new section in a docstring without sections.
    is_ours : callable
        Whether a bullet is of a form that coreloop writes; a list with only such bullets is continued.
    width : int
        Columns at which bullets are wrapped.
    """

    lines: tuple[str, ...]
    section: str | None = None
    style: Style = "numpydoc"
    is_ours: Callable[[str], bool] = never
    width: int = WIDTH


def place(layout: Layout, wanted: Wanted, *, indent: str) -> Placement | None:
    """Choose the place for lines.

    Parameters
    ----------
    layout : Layout
        The docstring, scanned with the section, if any, among the names.
    wanted : Wanted
    indent : str
        White space for a docstring whose only line of text is its first.

    Returns
    -------
    Placement or None
        None if all lines are already present.

    Raises
    ------
    UnprovenError
        No place is unambiguous.
    """
    if wanted.section is None:
        return _place_first(layout, wanted, indent)
    return _place_in_section(layout, wanted, wanted.section, indent)


def _place_first(layout: Layout, wanted: Wanted, indent: str) -> Placement | None:
    last, bullets = _first_block(layout)
    listed = {bullet.text for bullet in bullets}
    missing = tuple(line for line in dict.fromkeys(wanted.lines) if line not in listed)
    if not missing:
        return None
    is_ours = bullets and all(map(wanted.is_ours, listed))
    lead = layout.lines[bullets[0].first].lead if is_ours else margin_lead(layout, indent)
    gap = [] if is_ours or layout.lines[last].blank else [""]
    text = (*gap, *_written(missing, lead, wanted.width), *_tail(layout, last))
    return Placement(last, text, missing)


def _tail(layout: Layout, last: int) -> list[str]:
    """A blank line if the next section or field would touch the new lines."""
    following = layout.lines[last + 1 : last + 2]
    return [""] if following and not following[0].blank else []


def _written(lines: Sequence[str], lead: str, width: int) -> list[str]:
    return [part for line in lines for part in write_bullet(line, lead, width)]


def _place_in_section(layout: Layout, wanted: Wanted, section: str, indent: str) -> Placement | None:
    """Place lines in a section, which is created at the end if absent."""
    existing = layout.named(section)
    if len(existing) > 1:
        raise UnprovenError(f"the docstring has {len(existing)} sections named {section}")
    bullets = [its for part in existing for its in read_bullets(layout.lines, part.body, part.end)]
    present = {*(its.text for its in bullets), *(line for part in existing for line in layout.content(part))}
    missing = tuple(line for line in dict.fromkeys(wanted.lines) if line.strip() not in present)
    if not missing:
        return None
    lead = margin_lead(layout, indent)
    if not existing:
        return _place_new(layout, section, missing, wanted, lead)
    own = existing[0]
    if any(map(layout.is_rule, range(own.body, own.end))):
        raise UnprovenError(f"section {section} has a line of dashes that may be a heading or a table")
    is_list = own.inline or own.end == own.body or (bullets and bullets[-1].end == own.end)
    body = [line.lead for line in layout.lines[own.body : own.end] if not line.blank and not own.inline]
    default = lead + _step(lead) if own.style == "google" else lead
    text = _written(missing, body[0] if body else default, wanted.width)
    return Placement(max(own.end, own.body) - 1, (*([] if is_list else [""]), *text), missing)


def margin_lead(layout: Layout, indent: str) -> str:
    """White space of the margin, as written."""
    leads = (line.lead for line in layout.lines[1:] if not line.blank and line.indent == layout.margin)
    return next(leads, indent)


def _step(lead: str) -> str:
    """Indentation of text in a Google section."""
    return "\t" if lead.endswith("\t") else "    "


def _place_new(
    layout: Layout, section: str, missing: tuple[str, ...], wanted: Wanted, lead: str
) -> Placement:
    # after a field, a section would be read as part of that field
    above = range(layout.first_field)
    last = max((number for number in above if not layout.lines[number].blank), default=None)
    if last is None:
        raise UnprovenError("the docstring is empty, or begins with a field; write a summary first")
    headed = [its for its in layout.sections if not its.prose and (its.known or its.mark != "=")]
    style, mark = (headed[-1].style, headed[-1].mark) if headed else (wanted.style, "")
    heading = [f"{section}:"] if style == "google" else [section, (mark or "-") * max(3, columns(section))]
    if style == "markdown":
        heading = [f"{mark}{section}{mark}" if mark[:1] in ("*", "_") else f"{mark or '##'} {section}"]
    inner = lead + _step(lead) if style == "google" else lead
    text = (*(lead + line for line in heading), *_written(missing, inner, wanted.width))
    return Placement(last, ("", *text, *_tail(layout, last)), missing)


@dataclass(frozen=True, slots=True)
class DocstringBullet:
    """A bullet.

    Attributes
    ----------
    text : str
        On one line, from its dash on.
    first, end : int
        Number of its first line, and of the line after its last.
    """

    text: str
    first: int
    end: int


def read_bullets(lines: Sequence[DocLine], first: int, end: int) -> list[DocstringBullet]:
    """The bullets among some lines; lines indented further below a dash continue its bullet."""
    bullets: list[DocstringBullet] = []
    for number in range(first, end):
        line = lines[number]
        text = line.text.strip(" \t")  # strip() alone would also remove line separators
        if text.startswith(_MARK):
            bullets.append(DocstringBullet(text, number, number + 1))
        elif bullets and bullets[-1].end == number and text and line.indent > lines[bullets[-1].first].indent:
            bullets[-1] = DocstringBullet(f"{bullets[-1].text} {text}", bullets[-1].first, number + 1)
    return bullets


def write_bullet(text: str, lead: str, width: int = WIDTH) -> list[str]:
    """Wrap a bullet between words, where possible to a width in columns.

    Parameters
    ----------
    text : str
        A line, with its dash. It is not wrapped if it has two spaces in a row, since it would not read back.
    lead : str
        White space before it.
    """
    words = text.split(" ")
    if "" in words or not text.startswith(_MARK):
        return [lead + text]
    written, current = list[str](), lead + words[0]
    for word in words[1:]:
        is_wide = columns(f"{current} {word}") > width and current.strip() not in {"", "-"}
        if is_wide and not _NO_START.match(word):
            written.append(current)
            current = f"{lead}  {word}"
        else:
            current = f"{current} {word}"
    return [*written, current]


def _first_block(layout: Layout) -> tuple[int, list[DocstringBullet]]:
    """The first block of text: the number of its last line, and the list that ends it, if one does.

    It ends where the first section or field begins. A title above it, and a heading Summary or Description,
    are part of it. A list is a whole paragraph of bullets.
    """
    lines = layout.lines
    nowhere = 0 if all(line.blank for line in lines) else None
    last = max((number for number in range(_limit(layout)) if not lines[number].blank), default=nowhere)
    if last is None:
        raise UnprovenError("the docstring has no text before its first section; write a summary first")
    first = next((number + 1 for number in range(last, -1, -1) if lines[number].blank), 0)
    is_text = first > 0 and not any(line.code for line in lines[first : last + 1])
    bullets = read_bullets(lines, first, last + 1) if is_text else []
    is_list = sum(bullet.end - bullet.first for bullet in bullets) == last + 1 - first
    return last, bullets if is_list else []


def _limit(layout: Layout) -> int:
    """Number of the line where the block ends."""
    headings = (section.heading for section in layout.sections if not _is_part(layout, section))
    return min(layout.first_field, next(headings, layout.first_field))


def _is_part(layout: Layout, section: DocstringSection) -> bool:
    """Whether a heading is part of the block: a title, a summary's, or the beginning of a paragraph."""
    is_title = (
        not section.known
        and section.style != "google"
        and all(line.blank for line in layout.lines[: section.heading])
    )
    return section.prose or section.key in _SUMMARIES or is_title
