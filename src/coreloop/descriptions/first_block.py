"""The first block of a docstring's text, which every framework sends to the model, and the list at its end.

It ends where the first section or field begins. A title above it, and a heading Summary or Description, are
part of it.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from coreloop.descriptions.bullets import DocstringBullet, read_list
from coreloop.descriptions.heading import DocstringSection
from coreloop.descriptions.sections import Layout
from coreloop.descriptions.source import UnprovenError

_SUMMARIES: Final = frozenset({"summary", "description"})


@dataclass(frozen=True, slots=True)
class FirstBlock:
    """The first block of text.

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
    is_title = not section.known and section.style != "google" and not layout.text_above(section)
    return section.prose or section.key in _SUMMARIES or is_title
