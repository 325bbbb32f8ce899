"""Finds the trace files below a path and reads their JSON values."""

import codecs
import gzip
import io
import lzma
import os
import zipfile
import zlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, BinaryIO, Final, TypeAlias, TypeVar, cast

from coreloop.base.errors import WorkspaceError
from coreloop.base.files import file_errors
from coreloop.base.messages import number_of
from coreloop.observe.importers.trace_values import decode_trace
from coreloop.observe.importers.traced_request import FOREIGN, TORN, UNDATED, SkippedTrace, TracedRequest

_Part = TypeVar("_Part")
# What reading a trace file may raise.
UNREADABLE: Final = (OSError, EOFError, zlib.error, lzma.LZMAError, zipfile.BadZipFile, NotImplementedError)
_PACKED: Final[dict[str, Callable[[Path, str], Any]]] = {".gz": gzip.open, ".xz": lzma.open}
_UTF16_MARKS: Final = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)

OWN: Final = "is a log of coreloop"
"""How the reason begins why coreloop's own records are no traces."""


@dataclass(frozen=True, slots=True)
class TraceFile:
    """A file to import.

    Attributes
    ----------
    named : bool
        Whether the user named the file; otherwise it was found in a folder, which may have unrelated files.
    quiet_s : float
        Seconds since the last write.
    now_s : float
        The time of the import, in seconds since 1970; 0 if only ``quiet_s`` counts.
    head : bytes, optional
        What is read instead of the file: its beginning.
    """

    path: Path
    named: bool
    size_bytes: int
    quiet_s: float
    now_s: float = 0.0
    head: bytes | None = None

    def dated(self, part: _Part) -> _Part:
        """A request without a time gets that of the file; its id does not depend on it."""
        if not isinstance(part, TracedRequest) or part.ended != UNDATED:
            return part
        written = datetime.fromtimestamp(self.path.stat().st_mtime, UTC)
        return replace(part, ended=written, undated=True)

    @contextmanager
    def open(self) -> Iterator[BinaryIO]:
        """Open the file for reading, decompressed (``.gz``, ``.xz``); UTF-16 with a mark becomes UTF-8."""
        if self.head is not None:
            yield io.BytesIO(self.head)
            return
        with _PACKED.get(self.path.suffix, open)(self.path, "rb") as opened:
            file: Any = opened
            if opened.peek(2).startswith(_UTF16_MARKS):  # as PowerShell's ``>`` writes
                file = io.BytesIO(opened.read().decode("utf-16", "replace").encode())
            yield cast(BinaryIO, file)


@dataclass(frozen=True, slots=True)
class UnusableFile:
    """A file without traces of its format, and the reason."""

    file: TraceFile
    reason: str


TracePart: TypeAlias = TracedRequest | SkippedTrace | UnusableFile


def first_reason(files: Sequence[UnusableFile]) -> str:
    """Return the first file, if possible of coreloop's own, its reason, and how many others there are."""
    first = min(files, key=lambda file: not file.reason.startswith(OWN))
    others = f" (and {number_of(len(files) - 1, 'other file')})" if len(files) > 1 else ""
    return f"{first.file.path}: {first.reason}{others}"


def read_each(
    files: Iterable[TraceFile], read: Callable[[TraceFile], Iterator[_Part]]
) -> Iterator[_Part | UnusableFile]:
    """Read each file; yield `UnusableFile` for a file that is unreadable or has no traces of the format."""
    for file in files:
        n_known = 0
        try:
            for part in read(file):
                n_known += part is not TORN and part is not FOREIGN
                yield file.dated(part)
        except UNREADABLE as error:
            yield UnusableFile(file, f"cannot be read ({getattr(error, 'strerror', None) or error})")
            continue
        if not n_known:
            yield UnusableFile(file, "is empty" if not file.size_bytes else "has no traces of this format")


def find_trace_files(paths: Iterable[Path], suffixes: tuple[str, ...], *, now_s: float) -> list[TraceFile]:
    """Find the files of paths without duplicates; folders are searched for files with a matching suffix.

    Parameters
    ----------
    paths : iterable of Path
        Files and folders.
    suffixes : tuple of str
        For example ``.json``, which includes ``.json.gz`` and ``.json.xz``.
    now_s : float
        Seconds since 1970.

    Raises
    ------
    WorkspaceError
        A path is absent, unreadable or neither file nor folder, or a folder has no such file.
    """
    files: dict[tuple[int, int], TraceFile] = {}
    for path in paths:
        with file_errors("cannot be read ({strerror})", path):
            is_named = not path.is_dir()
            for file in [_regular(path)] if is_named else _below(path, suffixes):
                status = file.stat()
                trace = TraceFile(file, is_named, status.st_size, now_s - status.st_mtime, now_s=now_s)
                files.setdefault((status.st_dev, status.st_ino), trace)
    return list(files.values())


def _regular(path: Path) -> Path:
    if path.exists() and not path.is_file():  # a pipe would block forever
        raise WorkspaceError("is not a regular file", path=path)
    path.open("rb").close()
    return path


def _below(folder: Path, suffixes: tuple[str, ...]) -> list[Path]:
    endings = suffixes + tuple(suffix + packed for suffix in suffixes for packed in _PACKED)
    found = list[Path]()
    for parent, folders, names in os.walk(folder, onerror=_refuse):
        folders[:] = [name for name in folders if not _is_installed(Path(parent, name))]
        found += [Path(parent, name) for name in names if name.endswith(endings)]
    files = sorted(filter(Path.is_file, found))
    if not files:
        raise WorkspaceError(f"has no file that ends in {' or '.join(suffixes)}", path=folder)
    return files


def _is_installed(folder: Path) -> bool:
    """Whether a folder has files of programs: hidden, a virtual environment, or packages of Node.js."""
    return folder.name.startswith(".") or folder.name == "node_modules" or (folder / "pyvenv.cfg").exists()


def _refuse(error: OSError) -> None:
    raise error


def read_documents(file: BinaryIO) -> Iterator[Any]:
    """Yield the JSON values of a file: JSON lines, which are read one by one, or one document over lines.

    A line, or an object over lines, that is not JSON is `TORN`.
    """
    written = (line for line in file if line.removeprefix(codecs.BOM_UTF8).strip())
    first = next(written, b"").removeprefix(codecs.BOM_UTF8)
    value, lines = _value_or_torn(first), file
    if value is TORN:
        rest = first + file.read()
        value = _value_or_torn(rest)
        lines = io.BytesIO(rest if value is TORN else b"")
    yield from [] if value is TORN else [value]
    yield from (_value_or_torn(text) for text in _blocks(lines) if not text.isspace())


def _blocks(lines: Iterable[bytes]) -> Iterator[bytes]:
    """Yield an object that was written over many lines as one, and other lines as they are."""
    block: list[bytes] = []
    for line in lines:
        mark = line.rstrip()
        if mark in (b"{", b"["):
            yield from block  # torn
            block = [line]
        elif not block:
            yield line
        else:
            block.append(line)
            if mark in (b"}", b"]"):
                yield b"".join(block)
                block = []
    yield from block


def _value_or_torn(text: bytes) -> Any:
    try:
        return decode_trace(text)
    except ValueError:
        return TORN
