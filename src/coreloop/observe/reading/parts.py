"""The lines of a day file -> one for each request: a long request stands on several, see `encode_line`.

They follow each other, as they were written by one append. In a file that was torn or sorted, the other lines
of a request are looked for in the whole file.
"""

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cache, partial
from itertools import chain
from pathlib import Path
from typing import Any, Final, TypeAlias

import orjson

Line: TypeAlias = tuple[int, bytes]
_Part: TypeAlias = dict[str, Any]
_Places: TypeAlias = Mapping[str, Mapping[int, int]]
_PART: Final = b'"part"'
_PART_WITHIN: Final = 16  # the first key; looking for it in all of a line would take a fiftieth of mining


def join_parts(lines: Iterable[Line], path: Path) -> Iterator[Line]:
    """Put all calls of a long request into its first line, which then may have any length.

    If some are nowhere in the file, the line keeps its ``part``, and their number in ``tool_calls_omitted``.
    A part whose first line is nowhere in the file is yielded as it is. Of a request that was written again
    because it was torn, the last first line counts.
    """
    places, group = cache(partial(_places, path)), list[tuple[Line, _Part]]()
    for line in lines:
        part = part_of(line[1])
        if group and not (part and part["part"]):
            yield from _joined(group, path, places)
            group = []
        if part:
            group.append((line, part))
        else:
            yield line
    if group:
        yield from _joined(group, path, places)


def part_of(raw: bytes) -> _Part | None:
    """The fields of a line of a request that stands on several; None for any other line."""
    if raw.find(_PART, 0, _PART_WITHIN) == -1:
        return None
    fields = _decoded(raw)
    return fields if type(fields.get("part")) is int else None


def _joined(group: Sequence[tuple[Line, _Part]], path: Path, places: Callable[[], _Places]) -> Iterator[Line]:
    (offset, _), first = group[0]
    own: dict[int, _Part] = {}
    if not first["part"]:
        own = {part["part"]: part for _, part in group[1:] if _id(part) == _id(first)}
        others = places().get(_id(first), {}) if _n_missing(first, own) else {}
        if others.get(0, offset) == offset:
            own = (_read_at(path, others) if others else {}) | own
            yield offset, _merged(first, own)
    for line, part in group:
        if part["part"] and own.get(part["part"]) is not part and 0 not in places().get(_id(part), {}):
            yield line


def _id(fields: Mapping[str, Any]) -> str:
    id = fields.get("request_id")
    return id if isinstance(id, str) else ""


def _n_missing(first: Mapping[str, Any], parts: Mapping[int, _Part]) -> int:
    n_omitted = first.get("tool_calls_omitted")
    n_there = sum(len(_list(part, "tool_calls")) for part in parts.values())
    return max(0, n_omitted - n_there) if isinstance(n_omitted, int) else 0


def _merged(first: Mapping[str, Any], parts: Mapping[int, _Part]) -> bytes:
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


def _decoded(raw: bytes) -> _Part:
    try:
        value = orjson.loads(raw)
    except orjson.JSONDecodeError:
        return {}
    return value if isinstance(value, dict) else {}


def _places(path: Path) -> _Places:
    """Where the parts of each request are, by its id and their numbers; of several, the last."""
    places, offset = defaultdict[str, dict[int, int]](dict), 0
    with path.open("rb") as file:
        for raw in file:
            if part := part_of(raw):
                places[_id(part)][part["part"]] = offset
            offset += len(raw)
    places.pop("", None)
    return places


def _read_at(path: Path, places: Mapping[int, int]) -> dict[int, _Part]:
    """The parts behind the first line at these places, by their numbers."""
    parts = {}
    with path.open("rb") as file:
        for number in places.keys() - {0}:
            file.seek(places[number])
            parts[number] = _decoded(file.readline())
    return parts
