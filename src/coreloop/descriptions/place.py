"""Choose the place for new lines in a docstring: line numbers and text, no source.

The default is the end of the first block of text, the only part that every framework sends.
"""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple

from coreloop.base.project.python_source import UnprovenError
from coreloop.base.text import text_width
from coreloop.descriptions.sections import DocLine, DocstringSection, Layout, Style

WIDTH: Final = 79
"""Columns at which bullets are wrapped, as a terminal counts them: PEP 8's, which each linter accepts."""

_NO_START: Final = re.compile(r"[-*+•#]+$|```|~~~|>>>|\.\.$")
"""Words that would change the meaning of a line if they began it."""


class DocstringBullet(NamedTuple):
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
    is_ours: Callable[[str], bool] = lambda _: False  # no line is
    width: int = WIDTH


def place(layout: Layout, wanted: Wanted, *, indent: str) -> tuple[int, list[str], tuple[str, ...]] | None:
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
    tuple or None
        The number of the line above; lines to put there, with indentation, heading and blank lines; and which
        of the wanted lines were absent. None if all are already present.

    Raises
    ------
    UnprovenError
        No place is unambiguous.
    """
    sections = layout.named(wanted.section) if wanted.section else []
    if len(sections) > 1:
        raise UnprovenError(f"the docstring has {len(sections)} sections named {wanted.section}")
    if wanted.section is None:
        last, bullets = _first_block(layout)
    else:
        bullets = [its for part in sections for its in read_bullets(layout.lines, part.body, part.end)]
    present = {*(its.text for its in bullets), *(line for part in sections for line in layout.content(part))}
    missing = tuple(line for line in dict.fromkeys(wanted.lines) if line not in present)
    if not missing:
        return None
    above, lead = list[str](), margin_lead(layout, indent)
    if wanted.section is None:
        is_ours = bullets and all(map(wanted.is_ours, present))
        lead = layout.lines[bullets[0].first].lead if is_ours else lead
        above = [] if is_ours or layout.lines[last].blank else [""]
    elif sections:
        last, above, lead = _in_section(layout, sections[0], bullets, lead)
    else:
        last, above, lead = _new_section(layout, wanted.section, wanted.style, lead)
    text = [part for line in missing for part in write_bullet(line, lead, wanted.width)]
    # a blank line, if the next section or field would touch the new lines
    below = ["" for line in layout.lines[last + 1 : last + 2] if not (sections or line.blank)]
    return last, [*above, *text, *below], missing


def _in_section(
    layout: Layout, own: DocstringSection, bullets: Sequence[DocstringBullet], lead: str
) -> tuple[int, list[str], str]:
    """The last line of a section, what separates new lines from it, and their white space."""
    if any(map(layout.is_rule, range(own.body, own.end))):
        raise UnprovenError(f"section {own.name} has a line of dashes that may be a heading or a table")
    is_list = own.inline or own.end == own.body or (bullets and bullets[-1].end == own.end)
    body = [line.lead for line in layout.lines[own.body : own.end] if not line.blank and not own.inline]
    default = lead + _step(lead) if own.style == "google" else lead
    return own.end - 1, [] if is_list else [""], body[0] if body else default


def margin_lead(layout: Layout, indent: str) -> str:
    """White space of the margin, as written."""
    leads = (line.lead for line in layout.lines[1:] if not line.blank and line.indent == layout.margin)
    return next(leads, indent)


def _step(lead: str) -> str:
    """Indentation of text in a Google section."""
    return "\t" if lead.endswith("\t") else "    "


def _new_section(layout: Layout, section: str, default: Style, lead: str) -> tuple[int, list[str], str]:
    """The line below which a section is created, its heading, and the white space of its lines."""
    # after a field, a section would be read as part of that field
    above = [number for number in range(layout.first_field) if not layout.lines[number].blank]
    if not above:
        raise UnprovenError("the docstring is empty, or begins with a field; write a summary first")
    headed = [its for its in layout.sections if not its.prose and (its.known or its.mark != "=")]
    style, mark = (headed[-1].style, headed[-1].mark) if headed else (default, "")
    heading = [f"{section}:"] if style == "google" else [section, (mark or "-") * max(3, text_width(section))]
    if style == "markdown":
        heading = [f"{mark}{section}{mark}" if mark[:1] in ("*", "_") else f"{mark or '##'} {section}"]
    inner = lead + _step(lead) if style == "google" else lead
    return above[-1], ["", *(lead + line for line in heading)], inner


def read_bullets(lines: Sequence[DocLine], first: int = 0, end: int | None = None) -> list[DocstringBullet]:
    """The bullets among some lines; lines indented further below a dash continue its bullet."""
    bullets: list[DocstringBullet] = []
    for number in range(len(lines))[first:end]:
        line = lines[number]
        text = line.text.strip(" \t")  # strip() alone would also remove line separators
        if text.startswith("- "):
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
    if "" in words or not text.startswith("- "):
        return [lead + text]
    written, current = list[str](), lead + words[0]
    for word in words[1:]:
        is_wide = text_width(f"{current} {word}".expandtabs()) > width and current.strip() not in {"", "-"}
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
    texts = [number for number in range(_limit(layout)) if not lines[number].blank]
    if not texts and not all(line.blank for line in lines):
        raise UnprovenError("the docstring has no text before its first section; write a summary first")
    last = max(texts, default=0)
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
    is_first = all(line.blank for line in layout.lines[: section.heading])
    is_title = is_first and not section.known and section.style != "google"
    return section.prose or section.key in {"summary", "description"} or is_title
