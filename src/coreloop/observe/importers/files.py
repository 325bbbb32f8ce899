"""Files of foreign traces: which ones a path means, and the JSON values in one."""

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
from pathlib import Path
from typing import Any, BinaryIO, Final, TypeAlias, TypeVar, cast

import orjson

from coreloop.errors import WorkspaceError
from coreloop.observe.importers.trace import FOREIGN, TORN

_Found = TypeVar("_Found")
Progress: TypeAlias = Callable[[int], None]
_BYTE_ORDER_MARK: Final = b"\xef\xbb\xbf"
_BUFFER_BYTES: Final = 1 << 20


@dataclass(frozen=True, slots=True)
class TraceFile:
    """A file to import.

    Attributes
    ----------
    named : bool
        Whether somebody named it; else it was found in a folder, where other files may lie too.
    quiet_s : float
        How long nobody has written to it.
    progress : callable
        Told of every number of bytes that was read.
    """

    path: Path
    named: bool
    size_bytes: int
    quiet_s: float
    progress: Progress = lambda _: None

    @contextmanager
    def open(self) -> Iterator[BinaryIO]:
        """Its bytes; those that were packed, where the name ends in ``.gz`` or ``.xz``."""
        with io.BufferedReader(_Counted(self.path, self.progress), _BUFFER_BYTES) as file:
            if self.path.suffix == ".gz":
                with gzip.GzipFile(fileobj=file) as unpacked:
                    yield cast(BinaryIO, unpacked)
            elif self.path.suffix == ".xz":
                with lzma.LZMAFile(file) as unpacked_xz:
                    yield cast(BinaryIO, unpacked_xz)
            else:
                yield file


@dataclass(frozen=True, slots=True)
class Unusable:
    """A file that holds nothing of its format, and why that is so."""

    file: TraceFile
    reason: str


def read_each(
    files: Iterable[TraceFile], read: Callable[[TraceFile], Iterator[_Found]]
) -> Iterator[_Found | Unusable]:
    """What is found in each file; a file that cannot be read, or holds nothing of the format, is named."""
    for file in files:
        n_known = 0
        try:
            for found in read(file):
                n_known += found is not TORN and found is not FOREIGN
                yield found
        except (
            OSError,
            EOFError,
            zlib.error,
            lzma.LZMAError,
            zipfile.BadZipFile,
            NotImplementedError,
        ) as error:
            yield Unusable(file, f"cannot be read ({getattr(error, 'strerror', None) or error})")
            continue
        if not n_known:
            yield Unusable(file, "is empty" if not file.size_bytes else "holds nothing of this format")


class _Counted(io.FileIO):
    """A file that says how far it has been read."""

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


def find_trace_files(paths: Iterable[Path], suffixes: tuple[str, ...], *, now_s: float) -> list[TraceFile]:
    """The files that paths mean, each once; of a folder, all below it with one of the suffixes.

    Parameters
    ----------
    paths : iterable of Path
        Files and folders.
    suffixes : tuple of str
        ``.json``, for example; ``.json.gz`` and ``.json.xz`` are found too.
    now_s : float
        Seconds since 1970.

    Raises
    ------
    WorkspaceError
        A path is missing, is neither file nor folder or cannot be read, or a folder has no such file.
    """
    found: dict[tuple[int, int], TraceFile] = {}
    for path in paths:
        try:
            for file, status in _look_at(path, suffixes, now_s):
                found.setdefault((status.st_dev, status.st_ino), file)
        except OSError as error:
            raise WorkspaceError(f"cannot be read ({error.strerror})", path=path) from error
    return list(found.values())


def _look_at(
    path: Path, suffixes: tuple[str, ...], now_s: float
) -> Iterator[tuple[TraceFile, os.stat_result]]:
    is_named = not path.is_dir()
    if is_named:
        if path.exists() and not path.is_file():  # a pipe would be waited for without end
            raise WorkspaceError("is no regular file", path=path)
        path.open("rb").close()
    inside = [path] if is_named else _below(path, suffixes)
    if not inside:
        raise WorkspaceError(f"holds no file that ends in {' or '.join(suffixes)}", path=path)
    for one in inside:
        status = one.stat()
        yield TraceFile(one, is_named, status.st_size, now_s - status.st_mtime), status


def _below(folder: Path, suffixes: tuple[str, ...]) -> list[Path]:
    endings = suffixes + tuple(f"{suffix}{packed}" for suffix in suffixes for packed in (".gz", ".xz"))
    return sorted(
        Path(parent, name)
        for parent, _, names in os.walk(folder, onerror=_refuse)
        for name in names
        if name.endswith(endings) and Path(parent, name).is_file()
    )


def _refuse(error: OSError) -> None:
    raise error


def read_line_values(file: BinaryIO) -> Iterator[Any]:
    """The JSON value of each line that is not blank; `TORN` in the place of what is none."""
    for number, raw in enumerate(file):
        line = raw if number else raw.removeprefix(_BYTE_ORDER_MARK)
        if not line.isspace():
            yield _value_or_torn(line)


def read_documents(file: BinaryIO) -> Iterator[Any]:
    """The JSON values of a file, be it JSON lines or one document over many lines.

    JSON lines are read one by one. A single document is held in memory whole.
    """
    first = file.readline().removeprefix(_BYTE_ORDER_MARK)
    while first.isspace():
        first = file.readline()
    value = _value_or_torn(first)
    if value is not TORN:
        yield value
        yield from read_line_values(file)
        return
    second = file.readline()
    value = _value_or_torn(second)
    if isinstance(value, dict) and first.strip() not in {b"[", b"{"}:  # lines, of which the first is cut
        yield from (TORN, value)
        yield from read_line_values(file)
        return
    rest = second + file.read()
    whole = _value_or_torn(first + rest)
    if whole is not TORN:
        yield whole
    elif first:
        yield TORN
        yield from read_line_values(io.BytesIO(rest))


def decode_trace(text: bytes | str) -> Any:
    """The value of a JSON text.

    Raises
    ------
    ValueError
        It is none, or nested too deeply.
    """
    try:
        return orjson.loads(text)
    except ValueError:
        pass
    try:  # lone surrogates and NaN are no JSON, and some tools write them
        return json.loads(text)
    except RecursionError as error:
        raise ValueError("nested too deeply") from error


def _value_or_torn(text: bytes) -> Any:
    try:
        return decode_trace(text)
    except ValueError:
        return TORN
