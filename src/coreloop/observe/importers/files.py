"""Finds the trace files below a path and reads their JSON values."""

import codecs
import gzip
import io
import json
import lzma
import os
import zipfile
import zlib
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, BinaryIO, Final, TypeAlias, TypeVar, cast

import orjson

from coreloop.base.errors import WorkspaceError
from coreloop.base.files import file_errors
from coreloop.observe.importers.traced_request import FOREIGN, TORN, SkippedTrace

_Part = TypeVar("_Part")
Progress: TypeAlias = Callable[[int], None]
_BYTE_ORDER_MARK: Final = b"\xef\xbb\xbf"
_UTF16_MARKS: Final = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
_BUFFER_BYTES: Final = 1 << 20
_MAX_VALUE_BYTES: Final = 256 << 20
"""Of a line or a document: its values take some ten times as much memory."""
TOO_LONG: Final = SkippedTrace(f"longer than {_MAX_VALUE_BYTES >> 20} MiB")


@dataclass(frozen=True, slots=True)
class TraceFile:
    """A file to import.

    Attributes
    ----------
    named : bool
        Whether the user named the file; otherwise it was found in a folder, which may have unrelated files.
    quiet_s : float
        Seconds since the last write.
    progress : callable
        Called with the number of bytes of every read.
    now_s : float
        The time of the import, in seconds since 1970; 0 if only ``quiet_s`` counts.
    """

    path: Path
    named: bool
    size_bytes: int
    quiet_s: float
    progress: Progress = lambda _: None
    now_s: float = 0.0

    @contextmanager
    def open(self) -> Iterator[BinaryIO]:
        """Open the file for reading, decompressed (``.gz``, ``.xz``); UTF-16 with a mark becomes UTF-8."""
        with io.BufferedReader(_Counted(self.path, self.progress), _BUFFER_BYTES) as file:
            if self.path.suffix == ".gz":
                with gzip.GzipFile(fileobj=file) as gzip_file:
                    yield _as_utf8(gzip_file)
            elif self.path.suffix == ".xz":
                with lzma.LZMAFile(file) as lzma_file:
                    yield _as_utf8(lzma_file)
            else:
                yield _as_utf8(file)


@dataclass(frozen=True, slots=True)
class UnusableFile:
    """A file without traces of its format, and the reason."""

    file: TraceFile
    reason: str


def read_each(
    files: Iterable[TraceFile], read: Callable[[TraceFile], Iterator[_Part]]
) -> Iterator[_Part | UnusableFile]:
    """Read each file; yield `UnusableFile` for a file that is unreadable or has no traces of the format."""
    for file in files:
        n_known = 0
        try:
            for part in read(file):
                n_known += part is not TORN and part is not FOREIGN
                yield part
        except (
            OSError,
            EOFError,
            zlib.error,
            lzma.LZMAError,
            zipfile.BadZipFile,
            NotImplementedError,
        ) as error:
            yield UnusableFile(file, f"cannot be read ({getattr(error, 'strerror', None) or error})")
            continue
        if not n_known:
            yield UnusableFile(file, "is empty" if not file.size_bytes else "has no traces of this format")


def read_parts(
    files: Iterable[TraceFile], parts_of: Callable[[Any], Iterator[_Part | SkippedTrace]]
) -> Iterator[_Part | SkippedTrace | UnusableFile]:
    """Read the JSON documents of each file with a function that yields a document's parts."""

    def read(file: TraceFile) -> Iterator[_Part | SkippedTrace]:
        with file.open() as opened:
            for document in read_documents(opened):
                if isinstance(document, SkippedTrace):
                    yield document
                else:
                    yield from parts_of(document)

    yield from read_each(files, read)


class _Counted(io.FileIO):
    """A file that reports its read progress."""

    def __init__(self, path: Path, progress: Progress) -> None:
        super().__init__(path, "rb")
        self._progress = progress

    def readinto(self, buffer: Any, /) -> int | None:
        n_bytes = super().readinto(buffer)
        self._progress(n_bytes or 0)
        return n_bytes

    def readall(self) -> bytes:
        data = super().readall()
        self._progress(len(data or b""))
        return data


def _as_utf8(file: "io.BufferedReader[_Counted] | gzip.GzipFile | lzma.LZMAFile") -> BinaryIO:
    """The file itself, or the UTF-8 of a file in UTF-16, as PowerShell's ``>`` writes it."""
    if not file.peek(2).startswith(_UTF16_MARKS):
        return cast(BinaryIO, file)
    return io.BytesIO(file.read().decode("utf-16", "replace").encode())


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
            for file, status in _files_of(path, suffixes, now_s):
                files.setdefault((status.st_dev, status.st_ino), file)
    return list(files.values())


def _files_of(
    path: Path, suffixes: tuple[str, ...], now_s: float
) -> Iterator[tuple[TraceFile, os.stat_result]]:
    is_named = not path.is_dir()
    if is_named:
        if path.exists() and not path.is_file():  # a pipe would block forever
            raise WorkspaceError("is not a regular file", path=path)
        path.open("rb").close()
    files = [path] if is_named else _below(path, suffixes)
    if not files:
        raise WorkspaceError(f"has no file that ends in {' or '.join(suffixes)}", path=path)
    for file in files:
        status = file.stat()
        yield TraceFile(file, is_named, status.st_size, now_s - status.st_mtime, now_s=now_s), status


def _below(folder: Path, suffixes: tuple[str, ...]) -> list[Path]:
    endings = suffixes + tuple(suffix + compressed for suffix in suffixes for compressed in (".gz", ".xz"))
    return sorted(
        Path(parent, name)
        for parent, _, names in os.walk(folder, onerror=_refuse)
        for name in names
        if name.endswith(endings) and Path(parent, name).is_file()
    )


def _refuse(error: OSError) -> None:
    raise error


def read_line_values(file: BinaryIO) -> Iterator[Any]:
    """Yield the JSON value of each line that is not blank; `TORN` or `TOO_LONG` for others."""
    for number, raw in enumerate(iter(partial(_bounded_line, file), b"")):
        line = raw if number else raw.removeprefix(_BYTE_ORDER_MARK)
        if not line.isspace():
            yield _value_or_torn(line)


def _bounded_line(file: BinaryIO) -> bytes:
    """The next line; of a line that is too long, the beginning."""
    line = file.readline(_MAX_VALUE_BYTES + 1)
    piece = line
    while len(line) > _MAX_VALUE_BYTES and piece and not piece.endswith(b"\n"):
        piece = file.readline(_BUFFER_BYTES)
    return line


def read_documents(file: BinaryIO) -> Iterator[Any]:
    """Yield the JSON values of a file: JSON lines, or one document over many lines.

    JSON lines are read one by one. A single document is read into memory.
    """
    first = _bounded_line(file).removeprefix(_BYTE_ORDER_MARK)
    while first.isspace():
        first = _bounded_line(file)
    value = _value_or_torn(first)
    if value is not TORN:
        yield value
        yield from read_line_values(file)
        return
    second = _bounded_line(file)
    value = _value_or_torn(second)
    if isinstance(value, dict) and first.strip() not in {b"[", b"{"}:  # JSON lines, the first cut off
        yield from (TORN, value)
        yield from read_line_values(file)
        return
    rest = second + file.read(_MAX_VALUE_BYTES)
    document = _value_or_torn(first + rest)
    if document is not TORN:
        yield document
    elif first:
        yield TORN
        yield from read_line_values(io.BytesIO(rest))


def decode_trace(text: bytes | str) -> Any:
    """Parse JSON text.

    Raises
    ------
    ValueError
        The text is not JSON, or nested too deeply.
    """
    try:
        return orjson.loads(text)
    except ValueError:
        pass
    try:  # some tools write lone surrogates and NaN, which are not valid JSON
        return json.loads(text)
    except RecursionError as error:
        raise ValueError("nested too deeply") from error


def _value_or_torn(text: bytes) -> Any:
    if len(text) > _MAX_VALUE_BYTES:
        return TOO_LONG
    try:
        return decode_trace(text)
    except ValueError:
        return TORN
