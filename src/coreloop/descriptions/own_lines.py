"""Which lines of a text are coreloop's: those that promotions on the branch added.

History decides, not the form: a person may write a line of the same form.
"""

from collections import Counter
from collections.abc import Callable
from contextlib import suppress

from coreloop.base.git.promotions import read_history
from coreloop.base.git.repository import Repository
from coreloop.descriptions.edit import bullets_at
from coreloop.descriptions.place import read_bullets
from coreloop.descriptions.sections import split_lines
from coreloop.descriptions.source import Located, UnprovenError, locate, read_source
from coreloop.descriptions.texts import DOCSTRING, ToolText, find_text


def promoted_lines(
    repository: Repository, revision: str, *, path: str, target: str, is_form: Callable[[str], bool]
) -> frozenset[str]:
    """The bullets that promotions added to a docstring and none removed, each on one line.

    Parameters
    ----------
    repository : Repository
        Its whole history is read, and the file at each promotion of this docstring.
    revision : str
        The base branch's commit.
    path : str
        The file below the repository's root.
    target : str
        As in the trailers: ``path.py::qualname`` below the project's folder.
    is_form : callable
        Whether a bullet is of a form that coreloop writes: a reviewer may have added others.
    """
    promoted = set[str]()
    in_effect = [its for its in read_history(repository, revision).promotions() if not its.reverted]
    commits = [promotion.sha for promotion in in_effect if symbol_of(promotion.target) == symbol_of(target)]
    for sha in dict.fromkeys(commits):
        parent = repository.resolve(f"{sha}^")
        before = docstring_bullets(repository.read(parent, path) if parent else None, target)
        after = docstring_bullets(repository.read(sha, path), target)
        promoted = (promoted | set(after - before)) - set(before - after)
    return frozenset(filter(is_form, promoted))


def symbol_of(target: str) -> tuple[str, str]:
    """File and name of a target."""
    file, _, symbol = target.partition("::")
    return file, symbol


def existing_bullets(source: bytes, target: str, section: str | None) -> tuple[str, ...]:
    """The bullets of a section, or (None) of the first block; empty if the docstring is unreadable."""
    try:
        located = _locate(source, target, section)
        return tuple(bullet.text for bullet in bullets_at(located.layout, section)) if located else ()
    except UnprovenError:
        return ()


def docstring_bullets(source: bytes | None, target: str) -> Counter[str]:
    """The bullets of a target's text, each on one line; empty if the file is unreadable or lacks it.

    Parameters
    ----------
    source : bytes or None
        The file; None if absent.
    target : str
        ``path.py::qualname``, or ``path::tool`` outside Python.
    """
    with suppress(UnprovenError):
        lines = split_lines(text_of(source or b"", target).value)
        return Counter(bullet.text for bullet in read_bullets(lines, 0, len(lines)))
    return Counter()


def text_of(source: bytes, target: str) -> ToolText:
    """The text of a target: a docstring if there is one, else what describes the tool.

    Raises
    ------
    UnprovenError
        The file is unreadable, or has no such text, or several.
    """
    path, _, name = target.partition("::")
    with suppress(UnprovenError):
        if located := _locate(source, target, None):
            value, line = located.literal.value, located.node.lineno
            return ToolText(name, "", value, 0, 0, line, DOCSTRING, name)
    return find_text(path, source, name)


def _locate(source: bytes, target: str, section: str | None) -> Located | None:
    qualname = target.partition("::")[2]
    return locate(read_source(source), qualname, asked=() if section is None else (section,))
