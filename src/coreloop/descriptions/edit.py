"""Bullets that are put into a text or taken out of it: the new value, or the reason why there is none.

No file is known here; `coreloop.descriptions.texts` spells values in files, and proves that.
"""

from collections import Counter
from collections.abc import Callable, Collection
from typing import NamedTuple, TypeAlias

from coreloop.base.project.python_source import UnprovenError
from coreloop.descriptions.place import DocstringBullet, Wanted, margin_lead, place, read_bullets
from coreloop.descriptions.sections import Layout
from coreloop.descriptions.spelled import Cut

Read: TypeAlias = Callable[[str], Layout]


class Edited(NamedTuple):
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
    if not wanted.lines or not "".join(wanted.lines).isprintable():
        raise UnprovenError("there are no lines, or one has a control, format or other invisible character")
    before = read(value)
    placement = place(before, wanted, indent=indent or "")
    if placement is None:
        return (0, 0, ""), ()
    last, lines, appended = placement
    position, own = before.lines[last].end, range(last + 1, last + 1 + len(lines))
    added = "".join("\n" + text for text in lines)
    if indent is not None and position == len(value):
        added += "\n" + margin_lead(before, indent)  # the text could end in a quote
    after = read(value[:position] + added + value[position:])
    if any(after.lines[number].code for number in own):
        raise UnprovenError("the lines would be in a block of code")
    if _outline(after, own) != _outline(before) or place(after, wanted, indent="") is not None:
        where = "the first block" if wanted.section is None else f"section {wanted.section}"
        raise UnprovenError(f"the lines would not be text of {where}, or would change another section")
    return (position, position, added), appended


def find_bullets(layout: Layout, texts: Collection[str]) -> list[DocstringBullet]:
    """The bullets to remove; `UnprovenError` unless each is present exactly once, below the first line."""
    every = read_bullets(layout.lines)
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
    if is_alone and bullet.first == 2 and lines[bullet.end :] == lines[-1:] and lines[-1].text:
        end = lines[-1].end  # below a text of one line, which ended with its quotes
    after, own = read(value[:start] + value[end:]), range(bullet.first, bullet.end)
    if _outline(before, own) != _outline(after):
        raise UnprovenError("removing the lines would change how another section is read")
    return start, end, ""


def _outline(layout: Layout, own: Collection[int] = ()) -> list[object]:
    """Sections with their text, without some lines and the headings in them."""
    outline = list[object]()
    for section in layout.sections:
        numbers = [number for number in range(section.body, section.end) if number not in own]
        texts = [line for number in numbers if (line := layout.lines[number].text.strip())]
        if texts or section.heading not in own:
            outline.append((section.name, section.style, texts))
    return outline
