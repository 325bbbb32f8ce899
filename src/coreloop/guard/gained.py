"""coreloop's own lines among what docstrings gain: a sign of a promotion, whoever wrote the commit.

The bytes decide, not the messages. A file is only parsed if an added line looks like a bullet.
"""

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping
from functools import lru_cache
from typing import TypeVar

from coreloop.docstrings.bullets import read_bullets
from coreloop.docstrings.located import docstring_node
from coreloop.docstrings.sections import scan
from coreloop.docstrings.source import Definition, SourceText, UnprovenError, definitions, read_source
from coreloop.guard.change import FileChange, Gained, Texts
from coreloop.guard.ordinary import has_look
from coreloop.project.settings import Settings
from coreloop.proposals.declared import refuse_words
from coreloop.proposals.lines import is_form
from coreloop.proposals.words import Words

_Key = TypeVar("_Key")


Lines = Counter[tuple[str, str]]
"""How often each line occurs, by qualname and line."""


@lru_cache(maxsize=16)
def own_lines(source: bytes) -> Lines:
    """The lines of coreloop's forms in the docstrings of a file."""
    try:
        bullets = list(_bullets(read_source(source)))
    except UnprovenError:  # Python cannot read it, so the lines of text have to do
        texts = source.decode("utf-8", "replace").splitlines()
        bullets = [("", text.strip()) for text in texts]
    return Counter((qualname, line) for qualname, line in bullets if is_form(line))


def gained_lines(files: Iterable[Texts]) -> tuple[Gained, ...]:
    """The lines that docstrings gain; a line that moves to another docstring or file is not gained.

    Parameters
    ----------
    files : iterable of Texts
        All changed Python files.
    """
    changed = list(files)
    lines = [
        Gained(file.path, *key)
        for file in changed
        if has_look(file.new, file.old)
        for key in (own_lines(file.new) - own_lines(file.old)).elements()
    ]
    moved = Counter(
        line
        for file in changed
        if has_look(file.old, file.new)
        for _, line in (own_lines(file.old) - own_lines(file.new)).elements()
    )
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


def is_worded(gained: Gained, source: bytes, *, settings: Settings, names: Collection[str]) -> bool:
    """Whether the base has every name and value in a line, as in all that coreloop writes.

    Parameters
    ----------
    source : bytes
        The file at the base, or at the head if the base does not have it.
    names : collection of str
        Names in lines that the base's files have.
    """
    try:
        text = read_source(source)
    except UnprovenError:
        return True
    matching: list[Definition | None] = [
        definition for definition in definitions(text.tree) if definition.qualname == gained.qualname
    ]
    return any(
        not any(refuse_words(gained.line, Words(settings, text.text, "", definition, names)))
        for definition in matching or [None]
    )


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


def _bullets(source: SourceText) -> Iterator[tuple[str, str]]:
    for definition in definitions(source.tree):
        try:
            node = docstring_node(definition)
        except UnprovenError:  # an f-string or bytes, which is not a docstring
            continue
        if node is not None:
            lines = scan(str(node.value)).lines
            yield from ((definition.qualname, bullet.text) for bullet in read_bullets(lines, 0, len(lines)))
