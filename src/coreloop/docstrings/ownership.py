"""Which lines of a docstring are coreloop's: those that promotions on the branch put there.

Known from history, not from their look: a person may write a line of the same form.
"""

from collections import Counter
from collections.abc import Callable

from coreloop.docstrings.bullets import read_bullets
from coreloop.docstrings.located import Located, Place, locate
from coreloop.docstrings.removal import bullets_at
from coreloop.docstrings.source import UnprovenError, read_source
from coreloop.history.promotions import promotions
from coreloop.history.repository import Repository


def promoted_lines(
    repository: Repository, revision: str, *, path: str, target: str, is_form: Callable[[str], bool]
) -> frozenset[str]:
    """The bullets that promotions of a docstring put into it and none took out again, each on one line.

    Parameters
    ----------
    repository : Repository
        Its whole history is read, and the file where a promotion of this docstring changed it.
    revision : str
        The base branch's commit.
    path : str
        The file below the repository's root.
    target : str
        As the trailers have it: ``path.py::qualname`` below the project's folder.
    is_form : callable
        Whether a bullet is of a form that coreloop writes: a reviewer may have added others.
    """
    found = set[str]()
    standing = [one for one in promotions(repository.log(revision)) if not one.reverted]
    for sha in dict.fromkeys(one.sha for one in standing if _same(one.target, target)):
        below = repository.resolve(f"{sha}^")
        before = docstring_bullets(repository.read(below, path) if below else None, target)
        after = docstring_bullets(repository.read(sha, path), target)
        found = (found | set(after - before)) - set(before - after)
    return frozenset(filter(is_form, found))


def _same(one: str, other: str) -> bool:
    """Whether two targets are one docstring; the line of a definition may have moved."""
    return _symbol(one) == _symbol(other)


def _symbol(target: str) -> tuple[str, str]:
    file, _, symbol = target.partition("::")
    return file, symbol.partition(":")[0]


def bullets_beside(source: bytes, target: str, section: str | None) -> tuple[str, ...]:
    """The bullets that stand where new ones would: in a section, or (None) in the first block.

    None of a docstring that cannot be read: who edits it says why.
    """
    try:
        found = _located(source, target, section)
        return tuple(bullet.text for bullet in bullets_at(found.layout, section)) if found else ()
    except UnprovenError:
        return ()


def docstring_bullets(source: bytes | None, target: str) -> Counter[str]:
    """The bullets of a docstring, each on one line; none of a file that Python cannot read.

    Parameters
    ----------
    source : bytes or None
        The file; None where there is none.
    target : str
        ``path.py::qualname``; the path does not matter.
    """
    try:
        found = _located(source or b"", target, None)
    except UnprovenError:
        return Counter()
    if found is None:
        return Counter()
    lines = found.layout.lines
    return Counter(bullet.text for bullet in read_bullets(lines, 0, len(lines)))


def _located(source: bytes, target: str, section: str | None) -> Located | None:
    qualname, _, line = target.partition("::")[2].partition(":")
    place = Place(qualname, int(line) if line.isdecimal() else None)
    return locate(read_source(source), place, asked=() if section is None else (section,))
