"""JSON Lines files: append values, and read them with a count of the skipped lines.

For small files. Records have their own readers: `coreloop.observe.reading.decode` and
`coreloop.sanitize.sanitize_record`.
"""

from collections import Counter
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Generic, NamedTuple, TypeVar

import msgspec
import orjson

from coreloop.base.files import append_private, file_errors, read_file

_Value = TypeVar("_Value")


class Lines(NamedTuple, Generic[_Value]):
    """The content of a file.

    Attributes
    ----------
    values : tuple
        In file order.
    skipped : mapping of str to int
        Number of unreadable lines by reason; empty lines do not count.
    """

    values: tuple[_Value, ...]
    skipped: Mapping[str, int]


def append(path: Path, value: Any) -> None:
    """Append a value to a file of mode 0600; a newline comes first after an incomplete line.

    Parameters
    ----------
    path : Path
        Created with its folder if absent.
    value : Any
        A dataclass or any other value that `orjson.dumps` accepts; texts must be valid UTF-8.

    Raises
    ------
    WorkspaceError
        The file cannot be read or written.
    """
    append_private(path, [orjson.dumps(value).decode()])


def take_back(path: Path, value: Any) -> bool:
    """Blank out the last line that `append` wrote for a value; False if there is none.

    The file keeps its length, so that other processes can append to it at the same time.

    Raises
    ------
    WorkspaceError
        The file cannot be read or written.
    """
    line = orjson.dumps(value)
    at = b"".join((b"\n", read_file(path))).rfind(b"\n" + line + b"\n")
    if at >= 0:
        with file_errors("cannot be written ({strerror})", path), path.open("r+b") as file:
            file.seek(at)
            file.write(b" " * len(line))
    return at >= 0


def read(path: Path, kind: type[_Value], *, other: str) -> Lines[_Value]:
    """Read the values of a file.

    Parameters
    ----------
    kind : type
        A dataclass or a `msgspec.Struct`; unknown fields are ignored.
    other : str
        Reason to report for a line of JSON that is not of this type: ``not a judgment``.

    Returns
    -------
    Lines
        Skipped lines count as ``torn or not JSON``, ``not UTF-8`` or ``other``.

    Raises
    ------
    WorkspaceError
        The file cannot be read.
    """
    values: list[_Value] = []
    skipped: Counter[str] = Counter()
    decoder = msgspec.json.Decoder(kind)
    for raw in read_file(path).splitlines():
        if not raw.strip():
            continue
        try:
            values.append(decoder.decode(raw))
        except msgspec.ValidationError:
            skipped[other] += 1
        except UnicodeDecodeError:
            skipped["not UTF-8"] += 1
        except (msgspec.DecodeError, RecursionError):
            skipped["torn or not JSON"] += 1
    return Lines(tuple(values), dict(skipped))


def with_zone(timestamp: datetime) -> datetime:
    """Return a time with its zone, UTC by default."""
    return timestamp if timestamp.tzinfo is not None else timestamp.replace(tzinfo=UTC)
