"""The lines of a day file -> one for each request: a long request stands on several, see `encode_line`.

They follow each other, as they were written by one append. In a file that was torn or sorted, the other lines
of a request are looked for in the whole file.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from itertools import chain
from pathlib import Path
from typing import Any, Final, TypeAlias

import orjson

Line: TypeAlias = tuple[int, bytes]
_Parts: TypeAlias = dict[int, dict[str, Any]]
_PART: Final = b'"part"'
_PART_WITHIN: Final = 16  # the first key; looking for it in all of a line would take a fiftieth of mining


def join_parts(lines: Iterable[Line], path: Path) -> Iterator[Line]:
    """Put all calls of a long request into its first line, which then may have any length.

    If some are nowhere in the file, the line keeps its ``part``, and their number in ``tool_calls_omitted``.
    A part whose first line is nowhere in the file is yielded as it is. Of a request that was written again
    because it was torn, the last first line counts.
    """
    rest, group = _Rest(path), list[tuple[Line, dict[str, Any]]]()
    for line in lines:
        part = part_of(line[1])
        if group and not (part and part["part"]):
            yield from _joined(group, rest)
            group = []
        if part:
            group.append((line, part))
        else:
            yield line
    if group:
        yield from _joined(group, rest)


def part_of(raw: bytes) -> dict[str, Any] | None:
    """The fields of a line of a request that stands on several; None for any other line."""
    if raw.find(_PART, 0, _PART_WITHIN) == -1:
        return None
    fields = _decoded(raw)
    return fields if type(fields.get("part")) is int else None


def _joined(group: Sequence[tuple[Line, dict[str, Any]]], rest: "_Rest") -> Iterator[Line]:
    (offset, _), first = group[0]
    own: _Parts = {}
    if not first["part"]:
        own = {part["part"]: part for _, part in group[1:] if _id(part) == _id(first)}
        if _n_missing(first, own) and rest.first_lines.get(_id(first)) == offset:
            own = rest.parts_of(_id(first)) | own
        if not _n_missing(first, own) or rest.first_lines.get(_id(first), offset) == offset:
            yield offset, _merged(first, own)
    for line, part in group:
        if part["part"] and own.get(part["part"]) is not part and _id(part) not in rest.first_lines:
            yield line


def _id(fields: Mapping[str, Any]) -> str:
    id = fields.get("request_id")
    return id if isinstance(id, str) else ""


def _n_missing(first: Mapping[str, Any], parts: _Parts) -> int:
    n_omitted = first.get("tool_calls_omitted")
    n_there = sum(len(_list(part, "tool_calls")) for part in parts.values())
    return max(0, n_omitted - n_there) if isinstance(n_omitted, int) else 0


def _merged(first: Mapping[str, Any], parts: _Parts) -> bytes:
    merged = {**first, "tool_calls_omitted": _n_missing(first, parts) or None}
    for name in ("tool_calls", "override_calls"):
        further = [_list(parts[number], name) for number in sorted(parts)]
        merged[name] = list(chain(_list(first, name), *further))
    if not merged["tool_calls_omitted"]:
        del merged["part"]
    return orjson.dumps(merged, option=orjson.OPT_APPEND_NEWLINE)


def _list(fields: Mapping[str, Any], name: str) -> list[Any]:
    value = fields.get(name)
    return value if isinstance(value, list) else []


def _decoded(raw: bytes) -> dict[str, Any]:
    try:
        value = orjson.loads(raw)
    except orjson.JSONDecodeError:
        return {}
    return value if isinstance(value, dict) else {}


class _Rest:
    """Where the lines of the long requests of a file are; it is read on the first question."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._parts: defaultdict[str, dict[int, int]] = defaultdict(dict)

    @cached_property
    def first_lines(self) -> Mapping[str, int]:
        """The offset of the last first line of each request that stands on several, by its id."""
        first_lines, offset = dict[str, int](), 0
        with self._path.open("rb") as file:
            for raw in file:
                part = part_of(raw)
                if part and part["part"]:
                    self._parts[_id(part)][part["part"]] = offset
                elif part:
                    first_lines[_id(part)] = offset
                offset += len(raw)
        first_lines.pop("", None)
        return first_lines

    def parts_of(self, id: str) -> _Parts:
        """The parts of a request, by their numbers."""
        parts: _Parts = {}
        with self._path.open("rb") as file:
            for number, offset in self._parts[id].items():
                file.seek(offset)
                parts[number] = _decoded(file.readline())
        return parts
