"""Take lines that coreloop wrote out of a docstring, with the proof that nothing else goes."""

import re
from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from itertools import pairwise

from coreloop.docstrings.bullets import Bullet, read_bullets
from coreloop.docstrings.first_block import read_first_block
from coreloop.docstrings.located import Located, Place, locate, prove_tree, splice
from coreloop.docstrings.sections import Layout, scan
from coreloop.docstrings.source import SourceText, UnprovenError

_ESCAPED_BREAK = re.compile(
    r"(?<!\\)(?:\\\\)*\\[\r\n]"
)  # a backslash at a line's end, but not an escaped one


def remove_bullets(
    source: SourceText, place: Place, going: Collection[str], *, section: str | None, tail: str = ""
) -> SourceText:
    """The file without some bullets of one docstring.

    Parameters
    ----------
    source : SourceText
        The file.
    place : Place
        Which docstring.
    going : collection of str
        Bullets, each on one line from its dash on.
    section : str or None
        Where they stand; None for the first block.
    tail : str
        What came with them behind the last: the line break and white space before closing quotes.

    Raises
    ------
    UnprovenError
        One of them is not there exactly once, or something else would be read differently.
    """
    asked = () if section is None else (section,)
    target = locate(source, place, asked=asked)
    if target is None:
        raise UnprovenError(f"{place.qualname or 'the module'} has no docstring")
    bullets = _found(target.layout, going, section)
    runs = list(_runs(target.layout, bullets))
    value, span, spelled = _without(target, runs, tail)
    new, _, _ = splice(source, *span, spelled)
    prove_tree(target, new, value=value)
    if _outline(target.layout, bullets) != _outline(scan(value, asked=asked), []):
        raise UnprovenError("without the lines, another section would read differently")
    return new


def bullets_at(layout: Layout, section: str | None) -> list[Bullet]:
    """The bullets of a section, or of the first block."""
    if section is None:
        parts = [(0, read_first_block(layout, lambda _: True).last + 1)]
    else:
        parts = [(one.body, one.end) for one in layout.named(section)]
    found = [bullet for first, end in parts for bullet in read_bullets(layout.lines, first, end)]
    return [bullet for bullet in found if not layout.lines[bullet.first].code]


def _found(layout: Layout, going: Collection[str], section: str | None) -> list[Bullet]:
    found = [bullet for bullet in bullets_at(layout, section) if bullet.text in going]
    if any(not bullet.first for bullet in found):
        raise UnprovenError("the docstring begins with a line that should go")
    if not found or Counter(bullet.text for bullet in found) != Counter(set(going)):
        raise UnprovenError("a line that should go is not there, or is there more than once")
    return found


def _runs(layout: Layout, bullets: Sequence[Bullet]) -> Iterator[tuple[int, int]]:
    """First line and end of what goes: bullets in a row and, with a whole list, the blank line above."""
    lines, first, end = layout.lines, 0, -1
    for bullet in [*bullets, None]:
        if bullet is not None and bullet.first == end:
            end = bullet.end
            continue
        if end > 0:
            is_alone = lines[first - 1].blank and (end == len(lines) or lines[end].blank)
            yield first - is_alone, end
        if bullet is not None:
            first, end = bullet.first, bullet.end


def _without(target: Located, runs: Sequence[tuple[int, int]], tail: str) -> tuple[str, tuple[int, int], str]:
    """The docstring's new value; what of the source is another, and its new text."""
    literal, source = target.literal, target.source.text
    positions = [(_end_of(target, first - 1), _end_of(target, end - 1)) for first, end in runs]
    start, last = positions[-1]
    behind = literal.value[last:]
    if tail and (behind == tail or (tail == "\n" and behind.startswith("\n\n"))):
        positions[-1] = (start, last + len(tail))
    kept = [(end, start) for (_, end), (start, _) in pairwise(positions)]
    span = literal.offset(positions[0][0]), literal.offset(positions[-1][1])
    if not literal.raw and _ESCAPED_BREAK.search(source, *span):
        raise UnprovenError("an escaped line break stands beside a line that should go")
    value = literal.value[: positions[0][0]]
    value += "".join(literal.value[start:end] for start, end in kept) + literal.value[positions[-1][1] :]
    return value, span, "".join(source[literal.offset(start) : literal.offset(end)] for start, end in kept)


def _end_of(target: Located, number: int) -> int:
    return target.layout.lines[number].end


def _outline(layout: Layout, going: Sequence[Bullet]) -> list[tuple[str, str, list[str]]]:
    """Sections with their text, but for what goes."""
    gone = {number for bullet in going for number in range(bullet.first, bullet.end)}
    return [
        (
            one.name,
            one.style,
            [
                text
                for number in range(one.body, one.end)
                if number not in gone and (text := layout.lines[number].text.strip())
            ],
        )
        for one in layout.sections
    ]
