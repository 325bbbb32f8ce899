"""Records at an address such as ``s3://bucket/ai-ask``: fsspec lists and reads them, and never writes there.

fsspec comes with the extra ``distributed`` and is imported when an address is used. A user, a password or a
query in an address is in no message, no log and no rollup.
"""

import errno
import io
import re
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path, PurePosixPath
from typing import Any, BinaryIO, Final, TypeAlias, TypeVar

from coreloop.errors import MissingExtraError, UsageError

_USER: Final = re.compile(r"(?<=://)(?:[^/?#]*:[^?#]*@|[^/?#]*@)")
"""After a colon to the last ``@``: a secret key may hold a slash. So ``host:80/me@home`` is ``home``."""
_QUERY: Final = re.compile(r"[?#][^\s\"']*")
_BLOCK_BYTES: Final = 8 << 20
_LINE_BLOCK_BYTES: Final = 64 << 10
_AT_ONCE: Final = 16
_VERSIONS: Final = ("ETag", "etag", "Content-MD5", "LastModified", "Last-Modified", "last_modified")
_TIMES: Final = ("mtime", "updated", "modified", "modify", "created")
_WORDS: Final = {
    errno.ENOENT: "nothing is there; name the bucket and the folder of the records",
    errno.EACCES: "no permission; listing and reading are needed, nothing else",
    errno.ENOTDIR: "is one object; name the folder that it lies in",
}
_Item = TypeVar("_Item")
_Result = TypeVar("_Result")


@dataclass(frozen=True, slots=True, repr=False)
class Address:
    """A folder that fsspec can read, or a file right in it.

    Its text is without user, password and query. All its errors are `OSError` with that text as file name,
    or a `UsageError` that names the package to install.

    Attributes
    ----------
    folder : str
        As it was given.
    name : str
        Of the file; empty for the folder.
    """

    folder: str
    name: str = ""

    def __str__(self) -> str:
        shown = _QUERY.sub("", _USER.sub("", self.folder))
        return f"{shown.rstrip('/')}/{self.name}" if self.name else shown

    def __repr__(self) -> str:
        return f"Address({str(self)!r})"

    @property
    def stem(self) -> str:
        return PurePosixPath(self.name).stem

    @property
    def parent(self) -> "Address":
        return Address(self.folder)

    def files(self) -> list["Address"]:
        """Every ``*.jsonl`` right in the folder, in the order of the names."""
        with self._errors():
            system, path = self._located()
            found = [one["name"] for one in system.ls(path, detail=True) if one["type"] == "file"]
            if path in found:
                raise NotADirectoryError
        names = sorted(name.rpartition("/")[2] for name in found)
        return [Address(self.folder, name) for name in names if name.endswith(".jsonl")]

    def open(self, mode: str = "rb", buffering: int = -1) -> BinaryIO:
        """Open for reading; with a buffer for all of it, without one for single lines here and there."""
        block_bytes = _BLOCK_BYTES if buffering > 0 else _LINE_BLOCK_BYTES
        with self._errors():
            system, path = self._located()
            raw = _Raw(self, system.open(path, mode, block_size=block_bytes))
        return io.BufferedReader(raw, buffering if buffering > 0 else io.DEFAULT_BUFFER_SIZE)

    def version(self) -> tuple[int, str]:
        """Size in bytes, and the ETag or the time of change; empty if the file system has neither."""
        with self._errors():
            system, path = self._located()
            facts = system.info(path)
            size = int(facts["size"])
        return size, next((f"{facts[key]}" for key in (*_VERSIONS, *_TIMES) if facts.get(key)), "")

    def answers_many(self) -> bool:
        """Whether several threads may ask at once."""
        return bool(self._located()[0].async_impl)

    def _located(self) -> tuple[Any, str]:
        system, folder = _connect(self.folder)
        return system, f"{folder.rstrip('/')}/{self.name}" if self.name else folder

    @contextmanager
    def _errors(self) -> Iterator[None]:
        """Whatever the protocol's package raises, as `OSError`; each has exceptions of its own."""
        try:
            yield
        except (UsageError, MissingExtraError):
            raise
        except Exception as error:
            raise self._os_error(error) from None  # the cause may say what the text leaves out

    def _os_error(self, error: Exception) -> OSError:
        known = {
            FileNotFoundError: errno.ENOENT,
            PermissionError: errno.EACCES,
            NotADirectoryError: errno.ENOTDIR,
        }
        number = next((known[type_] for type_ in known if isinstance(error, type_)), errno.EIO)
        is_plain = not _USER.search(self.folder) and not _QUERY.search(self.folder)
        words = f"{type(error).__name__}: {_QUERY.sub('', str(error))}" if is_plain else type(error).__name__
        return OSError(number, _WORDS.get(number, words), str(self))


Place: TypeAlias = Path | Address
"""Where records lie."""


class _Raw(io.RawIOBase):
    """An opened file of fsspec, whose own buffering finds lines a hundred times slower than Python's."""

    def __init__(self, address: Address, file: Any) -> None:
        self._address = address
        self._file = file

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        return int(self._file.seek(offset, whence))

    def tell(self) -> int:
        return int(self._file.tell())

    def readinto(self, buffer: Any) -> int:
        with self._address._errors():
            data = self._file.read(len(buffer))
        buffer[: len(data)] = data
        return len(data)

    def close(self) -> None:
        if not self.closed:
            self._file.close()
        super().close()


def place(text: str) -> Place:
    """What a text names: an address if it says how it is reached, else a folder."""
    return Address(text) if "://" in text else Path(text)


def map_files(
    read: Callable[[_Item], _Result], items: Iterable[_Item], of: Place | None
) -> Iterable[_Result]:
    """`map` over the files of a folder; at an address many at once, since each waits for answers."""
    if not isinstance(of, Address) or not of.answers_many():
        return map(read, items)
    from concurrent.futures import ThreadPoolExecutor

    with ThreadPoolExecutor(_AT_ONCE) as pool:
        return list(pool.map(read, items))


@lru_cache(8)
def _connect(url: str) -> tuple[Any, str]:
    """The file system, one for all threads, and what the address is called there."""
    try:
        from fsspec import get_filesystem_class
        from fsspec.core import url_to_fs
    except ImportError as error:
        raise MissingExtraError("distributed", what="an address") from error
    protocol = url.partition("://")[0].rpartition("::")[2]
    try:
        get_filesystem_class(protocol)
    except ImportError as error:
        raise UsageError(
            f"{protocol}:// needs a package; install it: pip install {_package(protocol)}"
        ) from error
    except ValueError as error:
        raise UsageError(f"{protocol}:// is no address that fsspec can read") from error
    system, path = url_to_fs(url, use_listings_cache=False)
    return system, path


def _package(protocol: str) -> str:
    from fsspec.registry import known_implementations

    package = known_implementations[protocol]["class"].partition(".")[0]
    return package if package != "fsspec" else f"'fsspec[{protocol.replace('https', 'http')}]'"
