"""coreloop's own lines among what docstrings and other descriptions gain, whoever wrote the commit.

The values of docstrings are compared, not how they are spelled: escapes, joined literals, continuation lines
and wrapped bullets all read the same.
"""

import ast
import re
import unicodedata
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import lru_cache, reduce
from itertools import accumulate, groupby, islice, takewhile
from operator import attrgetter
from typing import Final, TypeVar

from coreloop.base.text import FILLERS
from coreloop.descriptions.bullets import read_bullets
from coreloop.descriptions.located_docstring import docstring_node, unescaped
from coreloop.descriptions.sections import split_lines
from coreloop.descriptions.source import UnprovenError, definitions, read_source
from coreloop.guard.change import AddedLine, PathChange, Texts
from coreloop.learn.proposals.allowed_lines import MAX_LINE_CHARS, is_form

_Key = TypeVar("_Key")
_path = attrgetter("path")
_JOINED: Final = re.compile(r"[\"']\s*(?:#[^\n]{0,200}\n\s*){0,3}[rRuU]?[\"']")
"""Two literals that follow each other, with comments between: few and short, so that it is linear."""
_FILLERS: Final = FILLERS | {"\u2800"}
# Spaces but the plain one, fillers, controls but the line feed, and what a display may leave out.
_ODD: Final = re.compile(
    "[\x00-\x09\x0b-\x1f\x7f-\xa0\xad\u034f\u0600-\u0605\u061c\u115f\u1160\u1680\u17b4\u17b5\u180b-\u180f"
    "\u2000-\u200f\u2028-\u202f\u205f-\u206f\u2800\u3000\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufffb"
    "\U0001d173-\U0001d17a\U000e0000-\U000e0fff]+"
)
_ODD_INSIDE: Final = re.compile(rf"(?<=\w){_ODD.pattern}(?=\w)")
_QUOTES: Final = re.compile(r"[\"']+")
_ALONE: Final = re.compile(r"^([ \t]*-)[ \t]*\n[ \t]*(?=[^\s-])", re.MULTILINE)
"""A dash with nothing behind it; its bullet begins in the next line."""
_COMMENT: Final = re.compile(r"^[ \t]*#+", re.MULTILINE)

Lines = Counter[tuple[str, str]]
"""How often each line occurs, by qualname, of a second definition ``Desk.book:2``, and line."""


@lru_cache(maxsize=64)
def own_lines(source: bytes) -> Lines:
    """The lines of coreloop's forms in the docstrings of a file."""
    return Counter(_bullets(source))


def gained_lines(files: Iterable[Texts | PathChange]) -> Counter[AddedLine]:
    """How many lines the docstrings of changed files gain; a lost line counts below zero."""
    lines = Counter[AddedLine]()
    for file in files:
        for source, sign in ((file.new, 1), (file.old, -1)):
            lines.update({AddedLine(file.path, *key): sign * n for key, n in own_lines(source).items()})
    return lines


def read_added_lines(
    files: Iterable[Texts], still: Callable[[str], bytes | None] | None = None
) -> tuple[AddedLine, ...]:
    """The lines that the docstrings of all changed files gain; one that moves to another is not gained.

    Parameters
    ----------
    files : iterable of Texts
        Before and after.
    still : callable, optional
        A file where a line must still be in order to move, by path; without it, that is before the change.
    """
    lines = gained_lines(files)
    moved = Counter[str]()
    for path, lost in groupby(sorted((-lines).elements(), key=_path), _path):
        gone = Counter(line.line for line in lost)
        if still is not None:
            gone &= Counter(line for _, line in own_lines(still(path) or b"").elements())
        moved += gone
    return tuple(line for line in lines.elements() if not _taken(moved, line.line))


def written_lines(patch: str) -> Counter[str]:
    """The lines of coreloop's forms that a patch adds to any text, comments too, less those it removes."""
    lines = patch.split("\n")
    sides = ("\n".join(line[1:] for line in lines if line[:1] == sign) for sign in "+-")
    added, removed = (Counter(_written(_COMMENT.sub("", side))) for side in sides)
    return added - removed


def stray_lines(
    added: Iterable[AddedLine], promotions: Mapping[str, tuple[PathChange, ...]]
) -> tuple[AddedLine, ...]:
    """The gained lines that no promotion's commit brings; `promotions` are the files by commit."""
    brought = gained_lines(file for files in promotions.values() for file in files)
    return tuple(line for line in added if not _taken(brought, line))


def _taken(counts: Counter[_Key], key: _Key) -> bool:
    """Whether a key is left, which is then used up."""
    counts[key] -= 1
    return counts[key] >= 0


def _bullets(source: bytes) -> Iterator[tuple[str, str]]:
    """The lines of a file's docstrings by qualname; of all its text if Python cannot read it."""
    try:
        tree = read_source(source).tree
    except UnprovenError:
        yield from (("", bullet) for bullet in _written(source.decode("utf-8", "replace")))
        return
    n_seen = Counter[str]()
    for definition in definitions(tree):
        n_seen[definition.qualname] += 1  # a second one of a name is another docstring
        try:
            node = docstring_node(definition)
        except UnprovenError:  # an f-string or bytes, which is not a docstring
            continue
        text = "" if node is None else str(node.value)
        # most have no list: it need not be looked for
        listed = _listed(text) if "-" in text or not text.isascii() else ()
        n = n_seen[definition.qualname]
        name = definition.qualname if n == 1 else f"{definition.qualname}:{n}"
        yield from ((name, bullet) for bullet in listed)
    yield from (("", bullet) for text in _descriptions(tree) for bullet in _listed(text))


def _descriptions(tree: ast.Module) -> Iterator[str]:
    """Texts that a model is sent without being a docstring: ``f.__doc__ = "…"``, ``description="…"``."""
    for node in ast.walk(tree):
        match node:
            case ast.Assign(value=value) | ast.AnnAssign(value=ast.expr() as value) if _sets_doc(node):
                constants = (part.value for part in ast.walk(value) if isinstance(part, ast.Constant))
                yield from (text for text in constants if isinstance(text, str))
            case ast.keyword(arg="description", value=ast.Constant(value=str(text))):
                yield text


def _sets_doc(node: ast.Assign | ast.AnnAssign) -> bool:
    """Whether a target of an assignment is ``f.__doc__``, alone or among others."""
    targets = node.targets if isinstance(node, ast.Assign) else [node.target]
    parts = (part for target in targets for part in ast.walk(target))
    return any(isinstance(part, ast.Attribute) and part.attr == "__doc__" for part in parts)


def _written(source: str) -> Iterator[str]:
    """The lines of a text that may not be Python: with quotes inside, and cut at its quotes."""
    text = _JOINED.sub("", unescaped(source))
    yield from _listed("\n".join(line.strip("\"' \t") for line in text.splitlines()))
    yield from _listed(_QUOTES.sub("\n", text))


def _listed(text: str) -> Iterator[str]:
    """The lines of a text as a reader sees them: any line end, any space, nothing invisible.

    What is no plain space may stand for one, or hide inside a word: a bullet counts in either reading.
    """
    spaced = "\n".join(text.expandtabs().splitlines())
    spaced = "".join(char if char == "\n" else _visible(char) for char in spaced)
    joined = _ODD.sub(" ", _ODD_INSIDE.sub("", re.sub(r"\r\n?", "\n", text)))
    readings = dict.fromkeys(unicodedata.normalize("NFKC", reading) for reading in (spaced, joined))
    return reduce(Counter.__or__, (Counter(_bulleted(reading)) for reading in readings)).elements()


def _visible(char: str) -> str:
    if char in _FILLERS or unicodedata.category(char) == "Zs":
        return " "
    return "" if _ODD.match(char) else char


def _bulleted(text: str) -> Iterator[str]:
    """The bullets in coreloop's form, whole or in their first lines: what follows does not hide a line."""
    lines = split_lines(_ALONE.sub(r"\1 ", text))
    for bullet in read_bullets(lines, 0, len(lines)):
        parts = (" ".join(line.text.split()) for line in lines[bullet.first : bullet.end])
        heads = takewhile(lambda head: len(head) <= MAX_LINE_CHARS, accumulate(parts, "{} {}".format))
        longest_first = (" ".join(bullet.text.split()), *reversed(list(heads)))
        yield from islice(filter(is_form, dict.fromkeys(longest_first)), 1)
