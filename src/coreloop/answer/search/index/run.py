"""The index and the files: the database, what is stored of a file, and the walk that brings it up to date."""

import os
import sqlite3
import stat
from collections import Counter, defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from datetime import datetime
from fnmatch import fnmatchcase
from importlib.util import find_spec
from os.path import normpath
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from coreloop.answer.search.extract.document import Document, Unreadable
from coreloop.answer.search.extract.file_date import with_dates
from coreloop.answer.search.extract.kinds import extractor_of, read_document
from coreloop.answer.search.extract.packed import lacks_package
from coreloop.answer.search.extract.text import plain_document, split_passages
from coreloop.answer.text.terms import terms, use_morphemes
from coreloop.base import sqlite
from coreloop.base.errors import WorkspaceError
from coreloop.base.extras import needs_extra
from coreloop.base.files import locked
from coreloop.base.messages import number_of
from coreloop.base.project.workspace import Workspace

if TYPE_CHECKING:
    from coreloop.answer.search.index.vectors import Vectors

# Besides these, folders and files whose names begin with a dot, and the project's data folder.
_IGNORED: Final = frozenset(
    {"node_modules", "__pycache__", "venv", "site-packages", "dist", "build", "target", "site", "vendor"}
)
# Files that mark a folder below the start as a report of coreloop or as a cache (bford.info/cachedir).
_AT_ONCE: Final = 200  # files of a transaction: one for each takes a fifth longer
OTHER: Final = "other kind of file"
_EXCLUDED: Final = "excluded by search: paths"
_MADE: Final = frozenset({".coreloop-report", "CACHEDIR.TAG"})


@dataclass(frozen=True, slots=True)
class File:
    """A file, or a folder that cannot be read.

    Attributes
    ----------
    location : str
        Its path relative to the project, with ``/``; absolute if it is outside of it.
    version : str
        Of its content, as far as size and times tell.
    reason : str
        Why it has no text to index; "" if it has.
    """

    location: str
    version: str = "0-0"
    reason: str = ""


def file_at(path: Path, location: str) -> File:
    """Return a file as it is now; an absent one is empty."""
    try:
        return _file(location, path.stat())
    except OSError:
        return File(location)


def location_of(path: Path, root: Path) -> str:
    """Return a path relative to the project, with ``/``; absolute if it is outside of it."""
    return path.relative_to(root).as_posix() if path.is_relative_to(root) else path.as_posix()


def find_files(start: Path, workspace: Workspace) -> Iterator[File]:
    """Yield the files at or below a path; links are not followed.

    Parameters
    ----------
    start : Path
        Absolute and resolved; an absent path yields nothing. Read even if a walk from above would ignore it.
    workspace : Workspace
        The project.
    """
    root, schemas = workspace.root.resolve(), workspace.schemas
    data_dir = (root / workspace.settings.data_dir).resolve()
    own = {data_dir / name for name in ("ai", "audit", "index", "runs")}
    if not own.isdisjoint((start, *start.parents)):
        return
    if start.is_symlink() or not start.is_dir():
        if os.path.lexists(start):
            yield _seen(location_of(start, root), start.lstat(), schemas)
        return
    errors = list[OSError]()
    for folder, folders, names in os.walk(start, onerror=errors.append):
        if folder != str(start) and not _MADE.isdisjoint(names):
            folders.clear()
            continue
        prefix = "" if folder == str(root) else f"{location_of(Path(folder), root)}/"
        links = [name for name in folders if Path(folder, name).is_symlink()]
        for name in sorted(name for name in (*names, *links) if name[0] != "." or name.startswith(".env")):
            with suppress(FileNotFoundError):  # removed in between; a Path would cost 30 µs a file
                yield _seen(f"{prefix}{name}", os.lstat(f"{folder}/{name}"), schemas)
        ignored = {name for name in folders if name[0] == "." or Path(folder, name) in {data_dir, *own}}
        folders[:] = sorted({*folders} - ignored - _IGNORED)
    for error in errors:
        yield File(
            location_of(Path(error.filename), root), reason=f"folder cannot be read ({error.strerror})"
        )


def is_excluded(workspace: Workspace, location: str) -> bool:
    """Whether ``search: paths`` has ``!`` and the name, or with ``/`` the path, of a file or its folders."""
    patterns = (normpath(path[1:]) for path in workspace.settings.search.paths if path[:1] == "!")
    return any(
        fnmatchcase(place if "/" in pattern else place.rpartition("/")[2], pattern)
        for pattern in patterns
        for place in _above(location)
    )


def _file(location: str, status: os.stat_result, reason: str = "") -> File:
    shown = location.encode("utf-8", "replace").decode()
    return File(shown, f"{status.st_size}-{max(status.st_mtime_ns, status.st_ctime_ns)}", reason)


def _seen(location: str, status: os.stat_result, schemas: Collection[str]) -> File:
    """Return a file as it is now, and by its kind why it is not read."""
    if not stat.S_ISREG(status.st_mode):
        return _file(location, status, "link" if stat.S_ISLNK(status.st_mode) else "not a regular file")
    file = _file(location, status, "" if extractor_of(location, schemas) else OTHER)
    read_as = " schema" if location in schemas else " unread" if lacks_package(location) else ""
    return replace(file, version=f"{file.version}{read_as}")


NO_INDEX: Final = "no index yet; run `dartlab-coreloop index`"
_SCRIPT: Final = Path(__file__).with_name("index.sql").read_text("utf-8")
INDEX: Final = sqlite.Schema("index", _SCRIPT, {"documents", "passages", "passage_words"}, version=9)
_DOCUMENT: Final = "INSERT INTO documents VALUES (NULL, ?, ?, ?, ?, ?, ?)"
_PASSAGE: Final = "INSERT INTO passages VALUES (NULL, ?, ?, ?, ?, ?, ?, ?, ?)"
_WORDS: Final = "INSERT INTO {} (rowid, heading, words) VALUES (?, ?, ?)"


def vectors_of(workspace: Workspace) -> "Vectors | None":
    """Return what makes sentence vectors, if the settings name an encoder.

    Raises
    ------
    MissingExtraError
        The extra ``semantic`` is not installed.
    """
    if not (encoder := workspace.settings.search.encoder):
        return None
    needed = ("numpy", "onnxruntime", "tokenizers")[: 3 if encoder.endswith(".onnx") else 1]
    if any(find_spec(name) is None for name in needed):
        raise needs_extra("semantic", feature="search: encoder")
    from coreloop.answer.search.index.vectors import Vectors

    return Vectors(workspace)


@contextmanager
def reading(path: Path) -> Iterator[sqlite3.Connection]:
    """Open an index for searching; its file is not changed.

    Raises
    ------
    WorkspaceError
        There is no index, it has another version, or it cannot be read.
    """
    if not path.exists():
        raise WorkspaceError(NO_INDEX, path=path)
    with sqlite.reader(path, INDEX) as connection:
        yield connection


def require_index(path: Path) -> None:
    """Refuse an index that cannot be searched, before any work is done; as `reading`."""
    with reading(path):
        pass


def known_files(connection: sqlite3.Connection) -> dict[str, File]:
    """Return every file as it was when it was last read, by its location."""
    rows = connection.execute("SELECT path, version, reason FROM documents")
    return {row[0]: File(*row) for row in rows}


def put_document(
    connection: sqlite3.Connection, file: File, document: Document | Unreadable, *, now: datetime
) -> None:
    """Replace what is stored of a file; of one without text, why it has none."""
    text = with_dates(document if isinstance(document, Document) else plain_document(""), file.location)
    remove_document(connection, file.location)
    values = (file.location, file.version, getattr(document, "reason", ""))
    at = now.isoformat(timespec="seconds")
    key = connection.execute(_DOCUMENT, (*values, text.type, text.title, at)).lastrowid
    for table, *row in _rows(text):
        passage = connection.execute(_PASSAGE, (key, *row)).lastrowid
        words = (" ".join(terms(said)) for said in row[1:3])
        connection.execute(_WORDS.format(table), (passage, *words))


def _rows(document: Document) -> Iterator[tuple[Any, ...]]:
    """Yield the table of the words of each passage, and its columns."""
    for part in split_passages(document):
        yield "passage_words", "text", part.heading, part.text, part.line, part.start, part.published, 0
    day = document.published
    for entry in document.entries:
        yield "entry_words", entry.kind, entry.name, entry.text, entry.line, None, day, entry.is_documented


def remove_document(connection: sqlite3.Connection, location: str) -> None:
    """Remove a file and all that came from it."""
    connection.execute("DELETE FROM documents WHERE path = ?", (location,))


@dataclass(frozen=True, slots=True)
class IndexReport:
    """What an update did.

    Attributes
    ----------
    counts : Counter of str
        Files that were ``added``, ``changed``, ``removed`` and ``unchanged``.
    skipped : dict of list of str
        The locations of files that were not indexed, by reason.
    """

    counts: Counter[str] = field(default_factory=Counter)
    skipped: dict[str, list[str]] = field(default_factory=lambda: defaultdict(list))


class Coverage(NamedTuple):
    """The files that should be indexed.

    Attributes
    ----------
    fresh : int
        How many are, as they are.
    pending : tuple of File
        Those that are not, and indexed ones elsewhere that changed or were removed.
    elsewhere : tuple of File
        Those of the pending ones that the settings do not name.
    """

    fresh: int = 0
    pending: tuple[File, ...] = ()
    elsewhere: tuple[File, ...] = ()


def refresh_index(workspace: Workspace, *, now: datetime) -> str:
    """Read the files that are new or changed since the last time; one without an index reads them all.

    Returns
    -------
    str
        One line if the index cannot be written, for example on a full disk, and lacks files. Else "".

    Raises
    ------
    WorkspaceError
        The index cannot be read, or there is none and it cannot be written.
    """
    use_morphemes(wanted=workspace.settings.search.morphemes)
    root, has_index = workspace.root.resolve(), workspace.index_file.exists()
    _, pending, elsewhere = read_coverage(workspace) if has_index else Coverage()
    if has_index and not pending:
        return ""
    starts = [path for path in workspace.search_paths if os.path.lexists(path)]
    starts += [root / file.location for file in elsewhere]
    try:
        index_paths(workspace, starts, now=now)
    except WorkspaceError:  # a stranger who asks a service learns no path by it
        if not has_index:
            raise
        files = number_of(len(pending), "changed file")
        return f"{files} not read yet: the index cannot be written; dartlab-coreloop index says why"
    return ""


def index_paths(workspace: Workspace, paths: Sequence[Path] | None, *, now: datetime) -> IndexReport:
    """Bring a project's index up to date with the files at or below some paths.

    A second process waits until the first is done. A killed process leaves every file either old or new;
    the next run completes the work.

    Parameters
    ----------
    paths : sequence of Path or None
        Files or folders, absolute; they may be outside of the project. None for those of the setting
        ``search: paths``: what it does not name leaves the index.

    Raises
    ------
    WorkspaceError
        A path does not exist, and no document came from it, or the index cannot be written.
    """
    use_morphemes(wanted=workspace.settings.search.morphemes)
    root, index, report = workspace.root.resolve(), workspace.index_file, IndexReport()
    with locked(index.parent), sqlite.writer(index, INDEX) as connection:
        connection.execute("PRAGMA synchronous = NORMAL")  # a power failure may lose the last commits
        known = known_files(connection)
        above = set[str]().union(*map(_above, known))
        wanted = workspace.search_paths if paths is None else paths
        # what was a file is not followed
        links = {path: path.parent.resolve() / path.name for path in wanted}
        starts = [one if location_of(one, root) in known else path.resolve() for path, one in links.items()]
        for start in starts:
            if not os.path.lexists(start) and location_of(start, root) not in above:
                raise WorkspaceError("does not exist", path=start)
        found, reasons = _found(workspace, starts), dict[str, str]()
        new = [file for file in found.values() if _differs(file, known.get(file.location))]
        for at in range(0, len(new), _AT_ONCE):
            with sqlite.transaction(connection):
                some = new[at : at + _AT_ONCE]
                reasons |= {file.location: _store(workspace, connection, file, now) for file in some}
        for file in found.values():
            before = known.get(file.location)
            had_text, is_new = before is not None and not before.reason, file.location in reasons
            reason = reasons.get(file.location, file.reason or (before.reason if before else ""))
            if is_new and (had_text or not reason):
                report.counts["removed" if reason else "changed" if had_text else "added"] += 1
            elif not reason:
                report.counts["unchanged"] += 1
            if reason:
                report.skipped[reason].append(file.location)
        named = {location_of(start, root) for start in starts}
        for location in sorted(known.keys() - found.keys()):
            is_gone = named & _above(location) and not os.path.lexists(root / location)
            if is_gone or (paths is None and location not in workspace.schemas):
                remove_document(connection, location)
                report.counts["removed"] += not known[location].reason
        vectors = vectors_of(workspace)
        report.skipped.update(vectors.add(connection) if vectors else {})
    if others := report.skipped.pop(OTHER, []):
        kinds = Counter(PurePosixPath(name).suffix.lower() or "no suffix" for name in others).most_common(5)
        shown = ", ".join(f"{number} {kind}" for kind, number in kinds)
        report.skipped[f"{OTHER} ({shown}{', …' * (sum(dict(kinds).values()) < len(others))})"] = others
    if missing := [schema for schema in sorted(workspace.schemas) if not (root / schema).exists()]:
        report.skipped["declared schema does not exist"] = missing
    return report


def read_coverage(workspace: Workspace, *, starts: Sequence[Path] | None = None) -> Coverage:
    """Compare files with the index, by size and time; files that have no text are left out.

    Parameters
    ----------
    starts : sequence of Path or None
        Files and folders that should be indexed; None for the setting ``search: paths``.

    Raises
    ------
    WorkspaceError
        There is no index, or it cannot be read.
    """
    with reading(workspace.index_file) as connection:
        known = known_files(connection)
    found = _found(workspace, [path.resolve() for path in starts or workspace.search_paths])
    pending = tuple(file for file in found.values() if _differs(file, known.get(file.location)))
    fresh = sum(file == known.get(file.location) for file in found.values() if not file.reason)
    others = [(file_at(workspace.root / name, name), known[name]) for name in known.keys() - found.keys()]
    changed = tuple(file for file, before in others if file.version != before.version.partition(" ")[0])
    return Coverage(fresh, (*pending, *changed), changed)


def _found(workspace: Workspace, starts: Sequence[Path]) -> Mapping[str, File]:
    files = (file for start in starts for file in find_files(start, workspace))
    return {
        file.location: replace(file, reason=_EXCLUDED) if is_excluded(workspace, file.location) else file
        for file in files
    }


def _differs(file: File, before: File | None) -> bool:
    """Whether the index does not have a file as it is; one without text it should not have."""
    return not file.reason if before is None else bool(file.reason) or file.version != before.version


def _store(workspace: Workspace, connection: sqlite3.Connection, file: File, now: datetime) -> str:
    """Let the index have a file as it is; returns why it has no text."""
    if file.reason:
        remove_document(connection, file.location)
        return file.reason
    document = read_document(workspace.root / file.location, file.location, workspace.schemas)
    put_document(connection, file, document, now=now)
    return document.reason if isinstance(document, Unreadable) else ""


def _above(location: str) -> set[str]:
    """Return a location and those of the folders above it."""
    path = PurePosixPath(location)
    return {str(path), *map(str, path.parents)}
