"""Which lines of a text are coreloop's: those that promotions on the branch added.

History decides, not the form: a person may write a line of the same form.
"""

from collections import Counter
from collections.abc import Callable, Collection
from contextlib import suppress

from coreloop.base.git.promotions import read_history
from coreloop.base.git.repository import Repository
from coreloop.descriptions.place import read_bullets
from coreloop.descriptions.sections import split_lines
from coreloop.descriptions.source import UnprovenError
from coreloop.descriptions.texts import ToolText, find_text, find_texts


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
    """File and name of a target, which is that of the tool for an argument's text."""
    file, _, symbol = target.partition("::")
    return file, symbol.partition("[")[0]


def bullets_in(value: str) -> Counter[str]:
    """The bullets of a text, each on one line."""
    lines = split_lines(value)
    return Counter(bullet.text for bullet in read_bullets(lines, 0, len(lines)))


def docstring_bullets(source: bytes | None, target: str) -> Counter[str]:
    """The bullets of a target's text, each on one line; empty if the file is unreadable or lacks it.

    Parameters
    ----------
    source : bytes or None
        The file; None if absent.
    target : str
        ``path.py::qualname``, or ``path::tool`` outside Python, with ``[argument]`` for an argument's text.
    """
    with suppress(UnprovenError):
        return bullets_in(text_of(source or b"", target).value)
    return Counter()


def text_of(source: bytes, target: str) -> ToolText:
    """The text of a target; `UnprovenError` if the file is unreadable, or has no such text, or several."""
    path, _, name = target.partition("::")
    return find_text(path, source, name)


def text_with(source: bytes, target: str, lines: Collection[str]) -> ToolText:
    """The text of a target's tool that has some lines, an argument's too; else as `text_of`."""
    path, name = symbol_of(target)
    texts = (its for its in find_texts(path, source, [name]) if name in {its.tool, its.symbol})
    own = [text for text in texts if set(lines) <= bullets_in(text.value).keys()]
    return own[0] if len(own) == 1 else text_of(source, target)
