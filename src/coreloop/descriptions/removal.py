"""Remove lines that coreloop wrote from a docstring, with proof that nothing else is removed."""

import re
from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from itertools import pairwise

from coreloop.descriptions.bullets import DocstringBullet, read_bullets
from coreloop.descriptions.first_block import read_first_block
from coreloop.descriptions.heading import DocstringSection
from coreloop.descriptions.located_docstring import DocstringPlace, Located, locate, prove_tree, splice
from coreloop.descriptions.sections import Layout, scan
from coreloop.descriptions.source import SourceText, UnprovenError

# a backslash at a line's end, but not an escaped one
_ESCAPED_BREAK = re.compile(r"(?<!\\)(?:\\\\)*\\[\r\n]")


def remove_bullets(
    source: SourceText,
    place: DocstringPlace,
    bullets: Collection[str],
    *,
    section: str | None,
    tail: str = "",
) -> SourceText:
    """Remove some bullets of one docstring.

    Parameters
    ----------
    source : SourceText
        The file.
    place : DocstringPlace
        Which docstring.
    bullets : collection of str
        Bullets, each on one line from its dash on.
    section : str or None
        Their section; None for the first block.
    tail : str
        Text added after the last bullet: the line break and white space before closing quotes.

    Raises
    ------
    UnprovenError
        A bullet is not present exactly once, or the rest would be read differently.
    """
    asked = () if section is None else (section,)
    target = locate(source, place, asked=asked)
    if target is None:
        raise UnprovenError(f"{place.qualname or 'the module'} has no docstring")
    removed = _find(target.layout, bullets, section)
    runs = list(_runs(target.layout, removed))
    value, span, spelled = _without(target, runs, tail)
    new, _, _ = splice(source, *span, spelled)
    prove_tree(target, new, value=value)
    if _outline(target.layout, removed) != _outline(scan(value, asked=asked), []):
        raise UnprovenError("removing the lines would change how another section is read")
    return new


def bullets_at(layout: Layout, section: str | None) -> list[DocstringBullet]:
    """The bullets of a section, or of the first block."""
    if section is None:
        parts = [(0, read_first_block(layout, lambda _: True).last + 1)]
    else:
        parts = [(part.body, part.end) for part in layout.named(section)]
    bullets = [bullet for first, end in parts for bullet in read_bullets(layout.lines, first, end)]
    return [bullet for bullet in bullets if not layout.lines[bullet.first].code]


def _find(layout: Layout, texts: Collection[str], section: str | None) -> list[DocstringBullet]:
    bullets = [bullet for bullet in bullets_at(layout, section) if bullet.text in texts]
    if any(not bullet.first for bullet in bullets):
        raise UnprovenError("a line to remove is the first line of the docstring")
    if not bullets or Counter(bullet.text for bullet in bullets) != Counter(set(texts)):
        raise UnprovenError("a line to remove is absent, or present more than once")
    return bullets


def _runs(layout: Layout, bullets: Sequence[DocstringBullet]) -> Iterator[tuple[int, int]]:
    """First line and end of each run of bullets; a run that is a whole list includes the blank line above."""
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
    """The docstring's new value, the span of the source to replace, and its new text."""
    literal, source = target.literal, target.source.text
    positions = [(_end_of(target, first - 1), _end_of(target, end - 1)) for first, end in runs]
    start, last = positions[-1]
    behind = literal.value[last:]
    if tail and (behind == tail or (tail == "\n" and behind.startswith("\n\n"))):
        positions[-1] = (start, last + len(tail))
    gaps = [(end, start) for (_, end), (start, _) in pairwise(positions)]
    span = literal.offset(positions[0][0]), literal.offset(positions[-1][1])
    if not literal.raw and _ESCAPED_BREAK.search(source, *span):
        raise UnprovenError("an escaped line break is next to a line to remove")
    value = literal.value[: positions[0][0]]
    value += "".join(literal.value[start:end] for start, end in gaps) + literal.value[positions[-1][1] :]
    return value, span, "".join(source[literal.offset(start) : literal.offset(end)] for start, end in gaps)


def _end_of(target: Located, number: int) -> int:
    return target.layout.lines[number].end


def _outline(layout: Layout, removed: Sequence[DocstringBullet]) -> list[tuple[str, str, list[str]]]:
    """Sections with their text, without the removed bullets."""
    gone = {number for bullet in removed for number in range(bullet.first, bullet.end)}

    def text(section: DocstringSection) -> list[str]:
        numbers = (number for number in range(section.body, section.end) if number not in gone)
        return list(filter(None, (layout.lines[number].text.strip() for number in numbers)))

    return [(section.name, section.style, text(section)) for section in layout.sections]
