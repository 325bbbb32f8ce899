"""The lines of a day file -> one for each request: a long request stands on several, see `encode_line`.

They follow each other, as they were written by one append.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Final, TypeAlias

import orjson

Line: TypeAlias = tuple[int, bytes]
_Part: TypeAlias = dict[str, Any]
_PART: Final = b'"part"'
_PART_WITHIN: Final = 16  # the first key; looking for it in all of a line would take a fiftieth of mining


def join_parts(lines: Iterable[Line]) -> Iterator[Line]:
    """Put all calls of a long request into its first line, which then may have any length.

    If some were not written, the line keeps its ``part``, and their number in ``tool_calls_omitted``. A part
    that does not follow its request is yielded as it is.
    """
    offset, group = 0, list[_Part]()
    for line in lines:
        part = part_of(line[1])
        if part and part["part"] and group and part.get("request_id") == group[0].get("request_id"):
            group.append(part)
            continue
        if group:
            yield offset, _merged(group)
        offset, group = line[0], [part] if part and not part["part"] else []
        if not group:
            yield line
    if group:
        yield offset, _merged(group)


def part_of(raw: bytes) -> _Part | None:
    """The fields of a line of a request that stands on several; None for any other line."""
    if raw.find(_PART, 0, _PART_WITHIN) == -1:
        return None
    try:
        fields = orjson.loads(raw)
    except orjson.JSONDecodeError:
        return None
    return fields if isinstance(fields, dict) and type(fields.get("part")) is int else None


def _merged(group: Sequence[_Part]) -> bytes:
    merged, n_omitted = dict(group[0]), group[0].get("tool_calls_omitted")
    for name in ("tool_calls", "override_calls"):
        merged[name] = [item for part in group for item in _list(part, name)]
    n_further = sum(len(_list(part, "tool_calls")) for part in group[1:])
    n_missing = max(0, n_omitted - n_further) if isinstance(n_omitted, int) else 0
    merged["tool_calls_omitted"] = n_missing or None
    if not n_missing:
        del merged["part"]
    return orjson.dumps(merged, option=orjson.OPT_APPEND_NEWLINE)


def _list(fields: Mapping[str, Any], name: str) -> list[Any]:
    value = fields.get(name)
    return value if isinstance(value, list) else []
