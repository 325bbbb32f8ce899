"""Files of records, plain or compressed (gzip, Zstandard), read as a stream of lines of bounded length."""

import gzip
import importlib
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO, Final, Literal, cast

from coreloop.base.extras import needs_extra
from coreloop.base.files import open_regular

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


def require_codec(codec: Codec | None) -> None:
    """Raise `MissingExtraError` if this Python cannot read files of this compression."""
    if codec == "zstd":
        _zstd()


@contextmanager
def open_records(path: Path, codec: Codec | None) -> Iterator[BinaryIO]:
    """Open a file for reading; its content is decompressed as it is read.

    Raises
    ------
    DamagedError
        Reading reached a damaged or truncated part.
    OSError
        It cannot be opened.
    """
    with path.open("rb", buffering=_PIECE_BYTES) as file:
        if codec is None:
            yield file
            return
        try:
            with _decompressed(file, codec) as source:
                yield source
        except _errors(codec) as error:
            raise DamagedError(f"a damaged {codec} file; the rest of it is lost") from error


def read_line(source: BinaryIO, max_bytes: int = MAX_LINE_BYTES) -> bytes:
    """Read a line; a line that is too long is cut after ``max_bytes`` and a few more."""
    raw = source.readline(max_bytes + 2)
    if len(raw) > max_bytes and not raw.endswith(b"\n"):
        skip_line(source)
    return raw


def skip_line(source: BinaryIO) -> None:
    """Read up to the end of the line in pieces, and forget them."""
    while True:
        piece = source.readline(_PIECE_BYTES)
        if not piece or piece.endswith(b"\n"):
            return


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
