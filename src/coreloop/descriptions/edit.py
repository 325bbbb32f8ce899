"""Bullets that are put into a text or taken out of it: the new value, or the reason why there is none.

No file is known here; `coreloop.descriptions.texts` spells values in files, and proves that.
"""

import unicodedata
from collections import Counter
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from coreloop.descriptions.place import DocstringBullet, Wanted, margin_lead, place, read_bullets
from coreloop.descriptions.sections import DocstringSection, Layout
from coreloop.descriptions.source import UnprovenError
from coreloop.descriptions.spelled import Cut

Read: TypeAlias = Callable[[str], Layout]
# Controls, format characters (bidirectional marks hide text from a reviewer), surrogates, line separators.
_UNWANTED = frozenset({"Cc", "Cf", "Cs", "Zl", "Zp"})


@dataclass(frozen=True, slots=True)
class Edited:
    """A proven edit.

    Parameters
    ----------
    old, source : bytes
        The whole file before and after: the old one without the `removed` lines, with the `appended` ones.
    appended : tuple of str
        The requested lines that were absent; none if nothing changed.
    before, after : str
        The text's value.
    removed : tuple of str
        Lines that were replaced.
    is_literal : bool
        Whether models receive the text as it is, unlike a docstring, of which frameworks send parts.
    """

    old: bytes
    source: bytes
    appended: tuple[str, ...]
    before: str
    after: str
    removed: tuple[str, ...] = ()
    is_literal: bool = False


def with_lines(value: str, wanted: Wanted, read: Read, *, indent: str | None) -> tuple[Cut, tuple[str, ...]]:
    """Put lines at their place, see `coreloop.descriptions.place.place`.

    Parameters
    ----------
    value : str
        The text.
    wanted : Wanted
        The lines.
    read : callable
        Finds the sections of a value.
    indent : str or None
        White space of new lines below a text of one line, whose closing quotes then get their own line; None
        if the text is in quotes that end on its last line.

    Returns
    -------
    Cut, tuple of str
        Where to insert what, and the lines that were absent.

    Raises
    ------
    UnprovenError
        The lines would not be read as what they are, or a section would gain or lose a line.
    """
    _check(wanted.lines)
    before = read(value)
    placement = place(before, wanted, indent=indent or "")
    if placement is None:
        return (0, 0, ""), ()
    position = before.lines[placement.after].end
    added = "".join("\n" + text for text in placement.lines)
    if indent is not None and position == len(value):
        added += "\n" + margin_lead(before, indent)  # the text could end in a quote
    after = read(value[:position] + added + value[position:])
    if after.open_fence:
        raise UnprovenError("the text would have a code fence that is never closed")
    own = set(range(placement.after + 1, placement.after + 1 + len(placement.lines)))
    created = [section for section in after.sections if section.heading in own]
    rest = [section for section in after.sections if section not in created]
    if (
        len(created) != bool(wanted.section and not before.named(wanted.section))
        or any(_texts(after, section, own) for section in created)
        or _outline(after, rest, own) != _outline(before, before.sections)
        or place(after, wanted, indent="") is not None
    ):
        where = "the first block" if wanted.section is None else f"section {wanted.section}"
        raise UnprovenError(f"the lines would not be text of {where}, or would change another section")
    return (position, position, added), placement.appended


def _check(lines: Sequence[str]) -> None:
    if not lines or not all(text.strip() for text in lines):
        raise UnprovenError("there are no lines, or one is empty")
    if unwanted := next((char for char in "".join(lines) if unicodedata.category(char) in _UNWANTED), None):
        raise UnprovenError(f"a line contains the control or format character U+{ord(unwanted):04X}")


def find_bullets(layout: Layout, texts: Collection[str]) -> list[DocstringBullet]:
    """The bullets to remove; `UnprovenError` unless each is present exactly once, below the first line."""
    every = read_bullets(layout.lines, 0, len(layout.lines))
    bullets = [its for its in every if its.first and its.text in texts and not layout.lines[its.first].code]
    if not bullets or Counter(bullet.text for bullet in bullets) != Counter(set(texts)):
        raise UnprovenError("a line to remove is absent below the first line, or present more than once")
    return bullets


def without(value: str, bullet: DocstringBullet, read: Read) -> Cut:
    """Where to cut a bullet out, with the blank line above it if it is a whole list."""
    before = read(value)
    lines = before.lines
    is_alone = lines[bullet.first - 1].blank and (bullet.end == len(lines) or lines[bullet.end].blank)
    start, end = lines[max(bullet.first - is_alone - 1, 0)].end, lines[bullet.end - 1].end
    after, own = read(value[:start] + value[end:]), range(bullet.first, bullet.end)
    if _outline(before, before.sections, own) != _outline(after, after.sections):
        raise UnprovenError("removing the lines would change how another section is read")
    return start, end, ""


def _outline(layout: Layout, sections: Sequence[DocstringSection], own: Collection[int] = ()) -> list[object]:
    """Sections with their text, without some lines."""
    return [(section.name, section.style, _texts(layout, section, own)) for section in sections]


def _texts(layout: Layout, section: DocstringSection, left_out: Collection[int]) -> list[str]:
    numbers = (number for number in range(section.body, section.end) if number not in left_out)
    return list(filter(None, (layout.lines[number].text.strip() for number in numbers)))
