"""The lines that a change adds to a docstring and removes from it, if coreloop would make this edit."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Final

from coreloop.descriptions.bullets import read_bullets
from coreloop.descriptions.edit import Edited, put_lines
from coreloop.descriptions.located_docstring import DocstringPlace, Located, locate
from coreloop.descriptions.sections import Style
from coreloop.descriptions.source import UnprovenError, read_source
from coreloop.learn.proposals.allowed_lines import is_form

_STYLES: Final[tuple[Style, ...]] = ("numpydoc", "google", "markdown")


@dataclass(frozen=True, slots=True)
class ChangedLines:
    """Bullets added to a docstring and removed from it, each on a single line."""

    added: tuple[str, ...]
    removed: tuple[str, ...]


def changed_lines(
    old: bytes,
    new: bytes,
    *,
    qualname: str,
    line: int | None,
    sections: Sequence[str],
    style: Style = "numpydoc",
    width: int | None = None,
) -> ChangedLines:
    """The bullets that a change adds to a docstring and removes from it.

    The new file is, byte for byte, what `coreloop.descriptions.edit.put_lines` makes of the old one.

    Parameters
    ----------
    old, new : bytes
        The file before and after.
    qualname : str
        Dotted name of the definition.
    line : int, optional
        If the name is defined more than once.
    sections : sequence of str
        Sections that lines may be added to, besides the first block of text.
    style : {"numpydoc", "google", "markdown"}
        Style of a new section.
    width : int, optional
        Columns at which lines are wrapped; they may also be on a line each.

    Raises
    ------
    UnprovenError
        The change does anything else; the message is the reason.
    """
    before, after = (_located(raw, DocstringPlace(qualname, line)) for raw in (old, new))
    removed, added = (tuple(_surplus(*pair)) for pair in ((before, after), (after, before)))
    alone = sections if len(sections) == 1 else ()  # lines of two phases stand in the first block
    places = [(None, style), *((name, kind) for name in alone for kind in (style, *_STYLES))]
    for (section, kind), columns in product(dict.fromkeys(places), dict.fromkeys((width, None))):
        edited = added and put_lines(
            old,
            qualname,
            added,
            section=section,
            style=kind,
            width=columns,
            is_ours=is_form,
            replaced=removed,
            line=line,
        )
        if isinstance(edited, Edited) and edited.source == new:
            return ChangedLines(added, removed)
    if _around(before) != _around(after):
        raise UnprovenError(
            f"something outside of the docstring of {qualname} changes; put that in a pull request of its own"
        )
    raise UnprovenError(
        f"the docstring of {qualname} differs in more than its promoted lines, or has them in "
        "another place or form than promote; undo that, or promote it again"
    )


def _located(raw: bytes, place: DocstringPlace) -> Located:
    located = locate(read_source(raw), place)
    if located is None:
        raise UnprovenError(f"{place.qualname} has no docstring")
    return located


def _surplus(docstring: Located, other: Located) -> Iterator[str]:
    """The bullets that a docstring has more often than another, in their order."""
    counts = Counter(_bullets(other))
    for bullet in _bullets(docstring):
        counts[bullet] -= 1
        if counts[bullet] < 0:
            yield bullet


def _bullets(docstring: Located) -> list[str]:
    lines = docstring.layout.lines
    return [bullet.text for bullet in read_bullets(lines, 0, len(lines))]


def _around(docstring: Located) -> tuple[bytes, bytes]:
    """The bytes before the opening quotes and after the closing quotes."""
    source, literal = docstring.source, docstring.literal
    start, end = map(source.byte_offset, (literal.start, literal.end))
    return source.raw[:start], source.raw[end:]
