"""coreloop's own lines among what docstrings gain, whoever wrote the commit.

The values of docstrings are compared, not how they are spelled: escapes, joined literals, continuation lines
and wrapped bullets all read the same.
"""

import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache
from typing import Final, TypeVar

from coreloop.docstrings.bullets import read_bullets
from coreloop.docstrings.heading import split_lines
from coreloop.docstrings.literal import unescaped
from coreloop.docstrings.located import docstring_node
from coreloop.docstrings.source import UnprovenError, definitions, read_source
from coreloop.guard.change import FileChange, Gained, Texts
from coreloop.proposals.lines import is_form

_Key = TypeVar("_Key")
_JOINED: Final = re.compile(r"[\"']\s*[rRuU]?[\"']")
_QUOTES: Final = re.compile(r"[\"']+")

Lines = Counter[tuple[str, str]]
"""How often each line occurs, by qualname and line."""


@lru_cache(maxsize=64)
def own_lines(source: bytes) -> Lines:
    """The lines of coreloop's forms in the docstrings of a file."""
    return Counter((qualname, line) for qualname, line in _bullets(source) if is_form(line))


def gained_lines(files: Iterable[Texts]) -> tuple[Gained, ...]:
    """The lines that docstrings gain; a line that moves to another docstring or file is not gained.

    Parameters
    ----------
    files : iterable of Texts
        All changed Python files.
    """
    changed = [(file.path, own_lines(file.old), own_lines(file.new)) for file in files]
    lines = [Gained(path, *key) for path, old, new in changed for key in (new - old).elements()]
    moved = Counter(line for _, old, new in changed for _, line in (old - new).elements())
    return tuple(line for line in lines if not _taken(moved, line.line))


def undone_lines(base: Lines, head: Lines, *, before: Lines, after: Lines) -> Lines:
    """The lines that a head regains because it undoes a promotion; empty if it does not.

    Parameters
    ----------
    base, head : Lines
        The file's on both sides of the change.
    before, after : Lines
        The file's on both sides of the promotion.
    """
    added = after - before
    undoes = bool(added) and added <= base and not added & head
    return before - after if undoes else Counter()


def stray_lines(
    gained: Iterable[Gained], promotions: Mapping[str, tuple[FileChange, ...]]
) -> tuple[Gained, ...]:
    """The gained lines that no promotion's commit brings; `promotions` are the files by commit."""
    files = [file for changed in promotions.values() for file in changed]
    brought = Counter[tuple[str, str, str]]()
    for file in files:
        brought.update((file.path, *key) for key in (own_lines(file.new) - own_lines(file.old)).elements())
    return tuple(line for line in gained if not _taken(brought, (line.path, line.qualname, line.line)))


def _taken(counts: Counter[_Key], key: _Key) -> bool:
    """Whether a key is left, which is then used up."""
    counts[key] -= 1
    return counts[key] >= 0


def _bullets(source: bytes) -> Iterator[tuple[str, str]]:
    """The bullets of a file's docstrings by qualname; of all its text if Python cannot read it."""
    try:
        tree = read_source(source).tree
    except UnprovenError:
        yield from (("", bullet) for text in _texts(source) for bullet in _listed(text))
        return
    for definition in definitions(tree):
        try:
            node = docstring_node(definition)
        except UnprovenError:  # an f-string or bytes, which is not a docstring
            continue
        text = "" if node is None else str(node.value)
        listed = _listed(text) if "-" in text else ()  # most have no list: it need not be looked for
        yield from ((definition.qualname, bullet) for bullet in listed)


def _texts(source: bytes) -> Iterator[str]:
    """What string literals of an unreadable file may say: with the text's quotes, and cut at its quotes."""
    text = _JOINED.sub("", unescaped(source.decode("utf-8", "replace")))
    yield "\n".join(line.strip("\"' \t") for line in text.splitlines())
    yield _QUOTES.sub("\n", text)


def _listed(text: str) -> Iterator[str]:
    """The bullets of a text as a reader sees them: any line end, any space, nothing invisible."""
    shown = (char for char in "\n".join(text.splitlines()) if unicodedata.category(char) != "Cf")
    lines = split_lines("".join(" " if unicodedata.category(char) == "Zs" else char for char in shown))
    return (" ".join(bullet.text.split()) for bullet in read_bullets(lines, 0, len(lines)))
