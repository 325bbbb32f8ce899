"""The import graph of a project: which of its files a Python file imports."""

from collections.abc import Iterator, Sequence
from pathlib import Path, PurePosixPath

from coreloop.answer.search.extract.document import Document
from coreloop.answer.search.extract.python import extract_python
from coreloop.answer.search.index.tree import MAX_FILE_BYTES
from coreloop.base.files import open_regular


def read_imports(location: str, root: Path) -> list[str]:
    """Return the project's files that a Python file imports; an unreadable one imports none."""
    try:
        with open_regular(root / location) as file:
            document = extract_python(file.read(MAX_FILE_BYTES))
    except OSError:
        return []
    modules = document.imports if isinstance(document, Document) else ()
    return list(_locations(modules, location, root))


def _locations(modules: Sequence[str], location: str, root: Path) -> Iterator[str]:
    folders = list(_import_folders(location, root))
    for module in modules:
        dots = len(module) - len(module.lstrip("."))
        parts = module[dots:].split(".") if module[dots:] else []
        starts = [_above(location, dots)] if dots else folders
        yield from dict.fromkeys(_existing(starts, parts, root))


def _existing(starts: Sequence[str], parts: Sequence[str], root: Path) -> Iterator[str]:
    for start in starts:
        place = "/".join(filter(None, [start, *parts]))
        for candidate in (f"{place}.py", f"{place}/__init__.py".lstrip("/")):
            if (root / candidate).is_file():
                yield candidate
                return


def _import_folders(location: str, root: Path) -> Iterator[str]:
    """Yield the folders from which a file's imports are looked for: that of its package, then usual ones."""
    folder = PurePosixPath(location).parent
    while (root / folder / "__init__.py").is_file() and folder != folder.parent:
        folder = folder.parent
    yield from dict.fromkeys(["" if str(folder) == "." else str(folder), "", "src"])


def _above(location: str, dots: int) -> str:
    folder = PurePosixPath(location)
    for _ in range(dots):
        folder = folder.parent
    return "" if str(folder) == "." else str(folder)
