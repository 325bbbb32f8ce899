"""Files of records, plain or compressed: which are read, and how they are named in a report."""

import contextlib
import gzip
import importlib
import os
import re
import zlib
from collections.abc import Iterator, Sequence
from concurrent.futures.process import BrokenProcessPool
from pathlib import Path
from typing import Any, BinaryIO, Final, Literal, cast

from coreloop.base.errors import UsageError, WorkspaceError
from coreloop.base.extras import needs_extra
from coreloop.base.files import open_regular
from coreloop.sanitize.find_in_text import Numbering, mask_text
from coreloop.sanitize.find_in_value import find_in_value

MAX_LINE_BYTES: Final = 16 << 20
Codec = Literal["gzip", "zstd"]
SUFFIXES: Final = (".jsonl", ".jsonl.gz", ".jsonl.zst")
_MAGIC: Final[tuple[tuple[bytes, Codec], ...]] = ((b"\x1f\x8b", "gzip"), (b"\x28\xb5\x2f\xfd", "zstd"))
_BY_SUFFIX: Final[dict[str, Codec]] = {".gz": "gzip", ".zst": "zstd"}
_PIECE_BYTES: Final = 1 << 20


class DamagedError(ValueError):
    """A compressed file ends early or is corrupt; the message is the reason to report."""


def codec_of(path: Path) -> Codec | None:
    """Tell how a file is compressed, by its first bytes or else by its name; None for a plain file.

    Raises
    ------
    OSError
        It cannot be opened, or is not a regular file.
    """
    with open_regular(path) as file:
        head = file.read(4)
    by_content = next((codec for magic, codec in _MAGIC if head.startswith(magic)), None)
    return by_content or (_BY_SUFFIX.get(path.suffix) if head else None)


@contextlib.contextmanager
def open_records(path: Path) -> Iterator[BinaryIO]:
    """Open a file for reading; its content is decompressed as it is read.

    Raises
    ------
    DamagedError
        Reading reached a damaged or truncated part.
    OSError
        It cannot be opened.
    """
    codec = codec_of(path)
    with path.open("rb", buffering=_PIECE_BYTES) as file:
        if codec is None:
            yield file
            return
        try:
            with _decompressed(file, codec) as source:
                yield source
        except _errors(codec) as error:
            raise DamagedError(f"a damaged {codec} file; the rest of it is lost") from error


def read_line(source: BinaryIO) -> bytes:
    """Read a line; of one that is longer than `MAX_LINE_BYTES`, its begin is kept."""
    raw = source.readline(MAX_LINE_BYTES + 2)
    rest = raw
    while len(raw) > MAX_LINE_BYTES and rest and not rest.endswith(b"\n"):
        rest = source.readline(_PIECE_BYTES)
    return raw


def _decompressed(file: BinaryIO, codec: Codec) -> BinaryIO:
    if codec == "gzip":
        return cast("BinaryIO", gzip.GzipFile(fileobj=file, mode="rb"))
    return cast("BinaryIO", _zstd().ZstdFile(file, "rb"))


def _errors(codec: Codec) -> tuple[type[Exception], ...]:
    return (EOFError, zlib.error, gzip.BadGzipFile) if codec == "gzip" else (EOFError, _zstd().ZstdError)


def _zstd() -> Any:
    for name in ("compression.zstd", "backports.zstd"):  # the first from Python 3.14 on
        try:
            return importlib.import_module(name)
        except ModuleNotFoundError:
            continue
    raise needs_extra("zstd", feature="reading .zst files")


_LISTED: Final = 5
_KOREAN: Final = re.compile(r"(?<![가-힣])[가-힣]{2,4}(?![가-힣])")


def find_sources(source: Path) -> tuple[list[Path], list[Path]]:
    """List the files of records, ``*.jsonl`` also compressed, or the given file; and those that are not read.

    Raises
    ------
    MissingExtraError
        A file is compressed with Zstandard, and the extra is not installed.
    WorkspaceError
        The folder does not exist, is unreadable or has no records, or a file in it is not a regular file.
    """
    with io_errors(source):
        if not source.exists():
            raise WorkspaceError(
                "does not exist; record requests first, or name another folder or file", path=source
            )
        files, unread = _in_folder(source) if source.is_dir() else ([source], [])
    for path in files:
        with io_errors(path):
            if codec_of(path) == "zstd":
                _zstd()
    return files, unread


def _in_folder(source: Path) -> tuple[list[Path], list[Path]]:
    files: list[Path] = []
    unread: list[Path] = []
    for folder, folders, names in os.walk(source, onerror=_refuse_unreadable):
        folders.sort()
        unread += (Path(folder, name) for name in folders if Path(folder, name).is_symlink())
        for path in (Path(folder, name) for name in sorted(names)):
            if path.name.endswith(SUFFIXES):
                files.append(path)
            elif path.is_symlink() or path.stat().st_size:  # .lock and .gitkeep are empty
                unread.append(path)
    if not files:
        raise WorkspaceError(_no_records(source, unread), path=source)
    return files, unread


def _no_records(source: Path, unread: Sequence[Path]) -> str:
    names = ", ".join(map(PrintableNames(source), unread[:_LISTED]))
    others = f"; not read: {names}{', …' if len(unread) > _LISTED else ''}" if unread else ""
    return f"has no records (*.jsonl, *.jsonl.gz, *.jsonl.zst); name another folder, or a file{others}"


def _refuse_unreadable(error: OSError) -> None:
    raise WorkspaceError(f"cannot be read ({error.strerror})", path=Path(error.filename)) from error


def is_within(path: Path, folder: Path) -> bool:
    """Whether a path is a folder or lies in it; links are followed."""
    return path.resolve().is_relative_to(folder.resolve())


def refuse_out(source: Path, out: Path) -> None:
    """Raise `UsageError` if ``out`` is the source, lies in it, or is not an empty folder."""
    if source.is_dir() and is_within(out, source):
        raise UsageError(f"--out {out} is --in {source} or lies in it; name a folder elsewhere")
    if out.is_symlink() or (out.exists() and (not out.is_dir() or any(out.iterdir()))):
        raise UsageError(f"--out {out} already exists and is not an empty folder; name a new folder")


class PrintableNames:
    """The names of files in a report, with labels for private data: a file may have a person's name.

    Parameters
    ----------
    source : Path
        The folder or file that is read.
    """

    def __init__(self, source: Path) -> None:
        self._source = source
        self._label = Numbering()
        self._shown: dict[Path, str] = {}

    def __call__(self, file: Path) -> str:
        """Return the name of a file below the source, different for each file."""
        if file not in self._shown:
            path = Path(file.name) if file == self._source else file.relative_to(self._source)
            masked = "/".join(map(self._masked, path.parts))
            new, number = masked, 2
            while new in self._shown.values():
                new, number = f"{masked}~{number}", number + 1
            self._shown[file] = new
        return self._shown[file]

    def _masked(self, part: str) -> str:
        masked = mask_text(part, self._label)
        return _KOREAN.sub(self._masked_name, masked)

    def _masked_name(self, match: re.Match[str]) -> str:
        hits = find_in_value(match[0], "성명")
        return self._label("PERSON", match[0]) if hits else match[0]


@contextlib.contextmanager
def io_errors(path: Path) -> Iterator[None]:
    """Translate errors of files and worker processes into a `WorkspaceError` that names the file."""
    try:
        yield
    except BrokenProcessPool as error:
        raise WorkspaceError(
            "a worker process ended unexpectedly; check the free memory", path=path
        ) from error
    except OSError as error:
        where = Path(os.fsdecode(error.filename)) if isinstance(error.filename, str | bytes) else path
        raise WorkspaceError(f"cannot be read or written ({error.strerror or error})", path=where) from error
