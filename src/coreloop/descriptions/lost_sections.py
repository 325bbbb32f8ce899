"""Which sections the docstrings of a file have, and which ones an edit would lose.

Only sections with text count: a heading alone would defeat the rule, so its section counts as missing.
"""

import ast
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path

from coreloop.base.errors import GitError
from coreloop.base.files import read_file
from coreloop.base.git.repository import Repository
from coreloop.base.project.definitions import visible
from coreloop.base.project.promotion_settings import DocstringSettings
from coreloop.descriptions.sections import Layout, name_key, scan
from coreloop.descriptions.source import UnprovenError, read_source

SECTIONS = DocstringSettings().sections
"""Sections that a report checks by default."""

OTHER_SECTIONS = ("When", "How", "Verified", "Caveats")
"""Other sections whose loss is reported."""


@dataclass(frozen=True, slots=True)
class Shape:
    """The sections of one docstring.

    Parameters
    ----------
    qualname : str
        Dotted.
    line : int
        The line of the ``def`` or ``class``.
    present, missing : tuple of str
        The requested sections that are there and those that are not, in their order.
    """

    qualname: str
    line: int
    present: tuple[str, ...]
    missing: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Loss:
    """Sections that a definition lost; `line` is that of the new file."""

    qualname: str
    line: int
    sections: tuple[str, ...]


def shapes(source: bytes, *, sections: Sequence[str] = SECTIONS) -> tuple[Shape, ...]:
    """List the sections of each public class, function and method of a file.

    Public definitions have no underscore at the start of a part of their name and are not inside a function.
    Overloads and property setters are left out, since their docstrings do not show.

    Parameters
    ----------
    source : bytes
    sections : sequence of str
        Names of the requested sections.

    Returns
    -------
    tuple of Shape
        In the order of the file.

    Raises
    ------
    UnprovenError
        Python cannot read the file.
    """
    found = dict(visible(read_source(source).tree))
    functions = tuple(f"{name}." for name, node in found.items() if not isinstance(node, ast.ClassDef))
    listed = list[Shape]()
    for name, node in found.items():
        if "._" not in f".{name}" and not name.startswith(functions):
            present = docstring_sections(ast.get_docstring(node, clean=False), sections=sections)
            missing = tuple(section for section in sections if section not in present)
            listed.append(Shape(name, node.lineno, present, missing))
    return tuple(listed)


def lost_sections(old: bytes, new: bytes, *, sections: Sequence[str] = SECTIONS) -> tuple[Loss, ...]:
    """Compare two states of a file: sections that a definition in both of them had and lost.

    A removed definition is not a loss; a removed docstring is.

    Parameters
    ----------
    old, new : bytes
    sections : sequence of str
        Names of the requested sections; `OTHER_SECTIONS` are compared, too.

    Returns
    -------
    tuple of Loss

    Raises
    ------
    UnprovenError
        Python cannot read one of them.
    """
    known = tuple(dict.fromkeys((*sections, *OTHER_SECTIONS)))
    had = {shape.qualname: shape.present for shape in shapes(old, sections=known)}
    losses = [
        Loss(its.qualname, its.line, tuple(x for x in had.get(its.qualname, ()) if x not in its.present))
        for its in shapes(new, sections=known)
    ]
    return tuple(loss for loss in losses if loss.sections)


def docstring_sections(docstring: str | None, *, sections: Sequence[str] = SECTIONS) -> tuple[str, ...]:
    """The sections out of `sections` that a docstring has, with text.

    Parameters
    ----------
    docstring : str or None
        As written, not dedented.
    sections : sequence of str

    Returns
    -------
    tuple of str
        In the order of ``sections``.
    """
    if docstring is None:
        return ()
    layout = scan(docstring, asked=sections)
    keys = set(_implicit(layout))
    keys.update(part.key for part in layout.sections if _has_text(layout.content(part)))
    return tuple(name for name in sections if name_key(name) in keys)


def _implicit(layout: Layout) -> Iterator[str]:
    """Summary and description: the first paragraph, and any other before the first heading."""
    parts = [list(part) for has_text, part in groupby(layout.preface(), key=bool) if has_text]
    first, *others = [part for part in parts if not part[0].startswith(".. ")] or [[]]
    if _has_text(first):
        yield "summary"
    if any(map(_has_text, others)):
        yield "description"


def _has_text(lines: Sequence[str]) -> bool:
    """Whether a line has a letter or digit; the name of a fence's language is none."""
    return any(char.isalnum() for line in lines if not line.startswith("```") for char in line)


@dataclass(frozen=True, slots=True)
class FileReport:
    """The docstrings of one file: their sections, lost sections, or why the file is unreadable."""

    path: Path
    shapes: tuple[Shape, ...] = ()
    lost: tuple[Loss, ...] = ()
    unreadable: str | None = None


def check_files(
    paths: Sequence[Path], *, root: Path, base: str | None, sections: Sequence[str]
) -> list[FileReport]:
    """Report on every Python file of some paths.

    Parameters
    ----------
    paths : sequence of Path
        Files, and folders to search.
    root : Path
        A folder of the repository that has the revision.
    base : str, optional
        Revision to compare with.
    sections : sequence of str
        Sections to report on.

    Raises
    ------
    GitError
        The revision or the repository does not exist.
    """
    files = [file for path in paths for file in (sorted(path.rglob("*.py")) if path.is_dir() else (path,))]
    repository = Repository(root) if base is not None else None
    if repository is not None and repository.resolve(str(base)) is None:
        raise GitError(f"revision {base} does not exist; fetch it, or name another")
    return [_report(path, repository, str(base), sections) for path in files]


def _report(path: Path, repository: Repository | None, base: str, sections: Sequence[str]) -> FileReport:
    source, place, old = read_file(path), path.resolve(), None
    try:
        present = shapes(source, sections=sections)
        if repository is not None:
            old = repository.read(base, place.relative_to(repository.root.resolve()).as_posix())
        lost = lost_sections(old, source, sections=sections) if old is not None else ()
    except UnprovenError as reason:
        return FileReport(path, unreadable=str(reason))
    except ValueError:
        return FileReport(path, unreadable="it is outside the repository, so it has no other revision")
    return FileReport(path, present, lost)
