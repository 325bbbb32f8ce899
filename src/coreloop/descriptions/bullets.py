"""Bullets of a docstring, and its first block of text, which every framework sends to the model."""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

from coreloop.descriptions.sections import DocLine, DocstringSection, Layout, columns
from coreloop.descriptions.source import UnprovenError

_SUMMARIES: Final = frozenset({"summary", "description"})
_MARK: Final = "- "
_NO_START: Final = re.compile(r"[-*+•#]+$|```|~~~|>>>|\.\.$")
"""Words that would change the meaning of a line if they began it."""


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


def read_list(lines: Sequence[DocLine], first: int, end: int) -> list[DocstringBullet]:
    """The bullets of some lines, or [] if any line is not part of a bullet."""
    bullets = read_bullets(lines, first, end)
    return bullets if sum(bullet.end - bullet.first for bullet in bullets) == end - first else []


def write_bullet(text: str, lead: str, *, width: int | None) -> list[str]:
    """Wrap a bullet between words, where possible to ``width`` columns.

    Parameters
    ----------
    text : str
        A line, with its dash. It is not wrapped if it has two spaces in a row, since it would not read back.
    lead : str
        White space before it.
    width : int or None
        Columns, as a terminal counts them; None for no limit.
    """
    words = text.split(" ")
    if width is None or "" in words or not text.startswith(_MARK):
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


@dataclass(frozen=True, slots=True)
class FirstBlock:
    """The first block of text.

    It ends where the first section or field begins. A title above it, and a heading Summary or Description,
    are part of it.

    Attributes
    ----------
    last : int
        Number of its last line of text.
    bullets : tuple of DocstringBullet
        Its last paragraph, if that is a list with only lines of coreloop's forms.
    listed : frozenset of str
        All bullets of its last paragraph.
    """

    last: int
    bullets: tuple[DocstringBullet, ...]
    listed: frozenset[str]


def read_first_block(layout: Layout, is_ours: Callable[[str], bool]) -> FirstBlock:
    """Find the first block.

    Parameters
    ----------
    layout : Layout
        The docstring.
    is_ours : callable
        Whether a bullet is of a form that coreloop writes.

    Raises
    ------
    UnprovenError
        The docstring has no text before the first section.
    """
    lines = layout.lines
    last = max((number for number in range(_limit(layout)) if not lines[number].blank), default=None)
    if last is None:
        raise UnprovenError(
            "the docstring has no text before its first section; write a summary first, "
            "or set docstring: {placement: section}"
        )
    first = next((number + 1 for number in range(last, -1, -1) if lines[number].blank), 0)
    is_text = first > 0 and not any(line.code for line in lines[first : last + 1])
    bullets = read_list(lines, first, last + 1) if is_text else []
    texts = frozenset(bullet.text for bullet in bullets)
    return FirstBlock(last, tuple(bullets) if all(map(is_ours, texts)) else (), texts)


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
