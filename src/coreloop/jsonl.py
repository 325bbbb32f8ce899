"""JSON lines: one value a line, appended with one write, and read with a count of what was skipped.

For small files. Records have readers of their own: `coreloop.mine.decode`, `coreloop.sanitize.lines`.
"""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final, Generic, TypeVar

import msgspec
import orjson

from coreloop.errors import WorkspaceError
from coreloop.files import append_private, read_file

_TORN: Final = "torn or not JSON"
_NOT_UTF8: Final = "not UTF-8"

_Value = TypeVar("_Value")


@dataclass(frozen=True, slots=True)
class Lines(Generic[_Value]):
    """What a file holds.

    Attributes
    ----------
    values : tuple
        In their order.
    skipped : mapping of str to int
        Lines that cannot be read, by reason; an empty line is not one.
    """

    values: tuple[_Value, ...]
    skipped: Mapping[str, int]


def append(path: Path, value: Any) -> None:
    """Append a value to a file of mode 0600; after half a line a newline comes first.

    Parameters
    ----------
    path : Path
        Made, with its folder, where it is missing.
    value : Any
        A dataclass or whatever else `orjson.dumps` takes, without text that UTF-8 cannot hold.

    Raises
    ------
    WorkspaceError
        The file cannot be read or written.
    """
    append_private(path, [orjson.dumps(value).decode()])


def read(path: Path, kind: type[_Value], *, other: str, newest: int | None = None) -> Lines[_Value]:
    """Read the values of a file.

    Parameters
    ----------
    path : Path
        Read whole.
    kind : type
        A dataclass or a `msgspec.Struct`; fields that it does not have are ignored.
    other : str
        Why a line is skipped that is JSON, but none of the kind: ``not a judgment``.
    newest : int, optional
        The newest ``schema_version`` that this program knows; without it, lines have none.

    Returns
    -------
    Lines
        Skipped lines count as ``torn or not JSON``, ``not UTF-8`` or ``other``.

    Raises
    ------
    WorkspaceError
        The file cannot be read, or a line is of a newer version: what it says would silently be lost.
    """
    values: list[_Value] = []
    skipped: Counter[str] = Counter()
    decoder = msgspec.json.Decoder(kind)
    for number, raw in enumerate(read_file(path).splitlines(), start=1):
        if not raw.strip():
            continue
        try:
            if newest is not None:
                _refuse_newer(raw, newest, path, number)
            values.append(decoder.decode(raw))
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
            skipped[_reason(error, other)] += 1
    return Lines(tuple(values), dict(skipped))


def with_zone(moment: datetime) -> datetime:
    """A time as a line has it; without a zone it is UTC."""
    return moment if moment.tzinfo is not None else moment.replace(tzinfo=UTC)


class _Version(msgspec.Struct):
    schema_version: int


_decode_version = msgspec.json.Decoder(_Version).decode


def _refuse_newer(raw: bytes, newest: int, path: Path, number: int) -> None:
    version = _decode_version(raw).schema_version
    if version > newest:
        raise WorkspaceError(f"line {number} has schema version {version}; upgrade coreloop", path=path)


def _reason(error: Exception, other: str) -> str:
    if isinstance(error, UnicodeDecodeError):
        return _NOT_UTF8
    return other if isinstance(error, msgspec.ValidationError) else _TORN
