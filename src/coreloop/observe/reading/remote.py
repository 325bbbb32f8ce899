"""The extra ``distributed``: records at an address (fsspec), and counting on a cluster (Dask).

Both packages are imported only in this module, on first use. Records at an address such as
``s3://bucket/ai-ask`` are listed and read, never written. A user, a password or a query in an address never
appears in a message, a log or in facts.
"""

import errno
import io
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import lru_cache
from operator import itemgetter
from pathlib import Path, PurePosixPath
from typing import Any, BinaryIO, Final, Literal, TypeAlias, TypeVar

from coreloop.base.errors import UsageError, WorkspaceError
from coreloop.base.extras import needs_extra

_USER: Final = re.compile(r"(?<=://)(?:[^/?#]*:[^?#]*@|[^/?#]*@)")
"""After a colon up to the last ``@``: a secret key may hold a slash. ``host:80/me@home`` is ``home``."""
_QUERY: Final = re.compile(r"[?#][^\s\"']*")
_BLOCK_BYTES: Final = 8 << 20
"""Block size of sequential reads: a request takes as long as counting a megabyte."""
_LINE_BYTES: Final = 64 << 10
_AT_ONCE: Final = 16  # chosen: requests wait for an object store, not for the processor
_ANSWER_S: Final = 10  # chosen: the address of no scheduler is said soon
_VERSIONS: Final = (
    *("ETag", "etag", "Content-MD5"),
    *("LastModified", "Last-Modified", "last_modified", "mtime", "updated", "modified", "modify", "created"),
)
"""File systems' names for an ETag, then for the modification time."""
_ERRORS: Final = (
    (FileNotFoundError, errno.ENOENT, "no such bucket, folder or object"),
    (PermissionError, errno.EACCES, "no permission to list or to read it"),
    (NotADirectoryError, errno.ENOTDIR, "is an object; name the folder that contains it"),
)
_Item = TypeVar("_Item")
_Result = TypeVar("_Result")


@dataclass(frozen=True, slots=True, repr=False)
class Address:
    """A folder that fsspec can read. ``str`` leaves out user, password and query.

    Errors are an `OSError` with that text as file name, or a `UsageError` that names a package to install.
    """

    url: str

    def __str__(self) -> str:
        return _QUERY.sub("", _USER.sub("", self.url))

    def __repr__(self) -> str:
        return f"Address({str(self)!r})"

    def files(self) -> list["RemoteFile"]:
        """Every ``*.jsonl`` directly in the folder, in the order of the names."""
        with _os_errors(self.url, self):
            system, path = _connect(self.url)
            listing = [entry for entry in system.ls(path, detail=True) if entry["type"] == "file"]
            if any(entry["name"] == path for entry in listing):
                raise NotADirectoryError
            files = [entry for entry in listing if entry["name"].endswith(".jsonl")]
            named = [(entry["name"].rpartition("/")[2], entry) for entry in files]
            return [_file(self, name, entry, system) for name, entry in sorted(named, key=itemgetter(0))]


@dataclass(frozen=True, slots=True)
class RemoteFile:
    """A file at an address, as listed.

    Attributes
    ----------
    parent : Address
        Its folder.
    name : str
        In the folder.
    size : int
        Bytes; what is appended later is not read.
    version : str
        ETag or modification time; empty if the file system has neither.
    """

    parent: Address
    name: str
    size: int
    version: str

    def __str__(self) -> str:
        return f"{f'{self.parent}'.rstrip('/')}/{self.name}"

    @property
    def stem(self) -> str:
        return PurePosixPath(self.name).stem

    def open(self, mode: Literal["rb"] = "rb", buffering: int = _LINE_BYTES) -> BinaryIO:
        """Open as `Path.open` does. No request is sent before the first read."""
        is_sequential = buffering >= 1 << 20
        return io.BufferedReader(_Raw(self), _BLOCK_BYTES if is_sequential else buffering)

    def read(self, start: int, end: int) -> bytes:
        """Read a range of bytes; may raise `OSError`."""
        with _os_errors(self.parent.url, self):
            system, folder = _connect(self.parent.url)
            data: bytes = system.cat_file(f"{folder.rstrip('/')}/{self.name}", start=start, end=end)
            if len(data) != end - start:
                raise OSError("the file shrank, or its server does not support range requests")
        return data


Folder: TypeAlias = Path | Address
"""A folder of records."""
LogFile: TypeAlias = Path | RemoteFile
"""A file of records."""


class _Raw(io.RawIOBase):
    """Raw stream for `io.BufferedReader`, which finds lines a hundred times faster than fsspec's files."""

    def __init__(self, file: RemoteFile) -> None:
        self._file = file
        self._at = 0

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        self._at = offset + {io.SEEK_SET: 0, io.SEEK_CUR: self._at, io.SEEK_END: self._file.size}[whence]
        return self._at

    def readinto(self, buffer: Any) -> int:
        end = min(self._at + len(buffer), self._file.size)
        if end <= self._at:
            return 0
        data = self._file.read(self._at, end)
        buffer[: len(data)] = data
        self._at = end
        return len(data)


def named_folder(text: str) -> Folder:
    """Parse the name of a folder: an address if it has a protocol, else a local folder."""
    return Address(text) if "://" in text else Path(text)


def map_files(
    read: Callable[[_Item], _Result], items: Iterable[_Item], files: Sequence[LogFile]
) -> Iterable[_Result]:
    """`map` for functions that read these files; concurrent for remote files, to overlap network waits."""
    first = files[0] if files else None
    if not isinstance(first, RemoteFile) or not _connect(first.parent.url)[0].async_impl:
        return map(read, items)
    from concurrent.futures import ThreadPoolExecutor

    with ThreadPoolExecutor(_AT_ONCE) as pool:
        return list(pool.map(read, items))


def _file(folder: Address, name: str, entry: dict[str, Any], system: Any) -> RemoteFile:
    facts = entry if entry.get("size") is not None else system.info(entry["name"])
    version = next((f"{facts[key]}" for key in _VERSIONS if facts.get(key)), "")
    return RemoteFile(folder, name, int(facts["size"]), version)


@contextmanager
def _os_errors(url: str, place: Address | RemoteFile) -> Iterator[None]:
    """Convert any exception of the protocol's package to `OSError`; each package has its own exceptions."""
    try:
        yield
    except UsageError:
        raise
    except Exception as error:
        details = _QUERY.sub("", f"{error}")
        if _USER.search(url) or _QUERY.search(url):
            details = "details are hidden, since the address holds a user or a query"
        known = ((number, text) for type_, number, text in _ERRORS if isinstance(error, type_))
        number, text = next(known, (errno.EIO, f"{type(error).__name__}: {details}"))
        raise OSError(number, text, f"{place}") from None  # the cause would show the hidden details


@lru_cache(8)
def _connect(url: str) -> tuple[Any, str]:
    """The file system, shared by all threads, and the path of the address in it."""
    try:
        from fsspec import get_filesystem_class
        from fsspec.core import url_to_fs
    except ImportError as error:
        raise needs_extra("distributed", feature="an address") from error
    protocol = url.partition("://")[0].rpartition("::")[2]
    try:
        get_filesystem_class(protocol)
    except ImportError as error:
        raise UsageError(
            f"{protocol}:// needs a package; install it: pip install {_package(protocol)}"
        ) from error
    except ValueError as error:
        raise UsageError(f"{protocol}:// is not a protocol that fsspec supports") from error
    system, path = url_to_fs(url, use_listings_cache=False)
    return system, path


def _package(protocol: str) -> str:
    from fsspec.registry import known_implementations

    package = known_implementations[protocol]["class"].partition(".")[0]
    return package if package != "fsspec" else f"'fsspec[{protocol.replace('https', 'http')}]'"


def map_on_cluster(
    function: Callable[[_Item], _Result], items: Sequence[_Item], address: str
) -> Iterator[tuple[int, _Result]]:
    """Run a function on the workers of a Dask cluster; yield the index and the result of each item when done.

    The workers must see the same records under the same names, and have the same version of coreloop.

    Parameters
    ----------
    function : callable
        Called on the workers for each item; must be picklable.
    items : sequence
        At least one.
    address : str
        Of the scheduler: ``tcp://host:8786``.

    Raises
    ------
    UsageError
        No scheduler or no worker answers, or a worker lacks coreloop or has another version.
    WorkspaceError
        Several workers died while they worked on the same item.
    """
    try:
        from distributed import Client, KilledWorker
    except ImportError as error:
        raise needs_extra("distributed", feature="--scheduler") from error
    try:
        client: Any = Client(address, timeout=_ANSWER_S, set_as_default=False)  # type: ignore[no-untyped-call]
    except (OSError, ValueError) as error:
        message = f"no Dask scheduler answers at {address}; start a scheduler with: dask scheduler"
        raise UsageError(message) from error
    with client:
        try:
            client.wait_for_workers(1, timeout=_ANSWER_S)
            yield from _completed(function, items, client)
        except TimeoutError as error:
            message = f"the scheduler at {address} has no worker; start a worker with: dask worker {address}"
            raise UsageError(message) from error
        except (ImportError, AttributeError) as error:
            message = f"a worker of {address} needs the same version of coreloop ({error}); install it there"
            raise UsageError(message) from error
        except UsageError as error:
            raise UsageError(f"a worker of {address}: {error}") from error
        except KilledWorker as error:
            remedy = "several workers died while they counted the same file; see their logs"
            raise WorkspaceError(remedy, path=address) from error


def _completed(
    function: Callable[[_Item], _Result], items: Sequence[_Item], client: Any
) -> Iterator[tuple[int, _Result]]:
    from distributed import as_completed

    futures = client.map(function, items, pure=False)
    indexes = {future: index for index, future in enumerate(futures)}
    del futures  # its references would keep every result in memory
    for future in as_completed(indexes, loop=client.loop):  # type: ignore[no-untyped-call]
        index, result = indexes.pop(future), future.result()
        future.release()
        yield index, result
