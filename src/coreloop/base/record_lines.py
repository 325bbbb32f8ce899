"""Records as lines of JSON: canonical arguments, conversion to plain values, and the size cap of a line.

Imports only the standard library, orjson and `records`, because the collector runs in users' servers.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from itertools import islice
from typing import Any, Final

import orjson

from coreloop.base.records import (
    DEFAULT_SELECTORS,
    OTHER,
    OverrideCall,
    Record,
    ToolCall,
    encodable,
    selector_value,
)

MAX_LINE_BYTES: Final = 4096
MAX_STRING_CHARS: Final = 500
MAX_VALUES: Final = 2_000
MAX_CHARS: Final = 64 * 1024
"""Of a call's arguments, and of a result, this much is read while a request waits."""
ELIDED: Final = "…"
"""Replaces an argument's value that does not fit on the line."""
_EMPTY: Final[tuple[Any, ...]] = (None, "", [], {})
_BRIEF_CHARS = 32
_MOST_BYTES: Final = MAX_LINE_BYTES - 80  # a newline, and room for the names of the lists and a number
_OF_EACH_LINE: Final = ("schema_version", "ts", "request_id", "origin")
MaskError = Callable[[str, Mapping[str, Any]], str]
_PREVIEW_CHARS = 120
_FIELD_BYTES = {"question": 800, "error": 300, "violation": 300}
_SHAPED_FIELDS = {"tool_calls", "override_calls", "judgment", "case"}


def shorten(value: Any, *, limit: int = MAX_STRING_CHARS) -> Any:
    """Replace every string of more than ``limit`` characters, at any depth, by its size and a preview."""
    if isinstance(value, str):
        return value if len(value) <= limit else _truncated(value, limit)
    if isinstance(value, list):
        return [shorten(item, limit=limit) for item in value]
    if isinstance(value, dict):
        if _is_truncated(value):
            return {**value, "preview": value["preview"][: _preview_chars(limit)]}
        return {key[:_PREVIEW_CHARS]: shorten(item, limit=limit) for key, item in value.items()}
    return value


def to_plain(value: object) -> Any:
    """Copy a value into plain JSON types.

    Lone surrogates are replaced; integers over 64 bits and values without a JSON form become ``<type name>``.
    Values beyond 20 levels or 5,000 items become ``<…>``, so that recursive values are safe too.
    """
    return _plain(value, _Room(5000), _DEEPEST)


def bounded(args: dict[str, Any]) -> tuple[dict[str, Any], bool]:
    """Return arguments, or of large ones the part that is read, as plain values; and whether nothing is lost.

    Of large ones, with over `MAX_VALUES` values or `MAX_CHARS` characters, long strings become their size and
    a preview, as in the record, and what is then still too much becomes ``<…>``.
    """
    if _is_flat(args) or _fits(args):
        return args, True
    room = _Room(MAX_VALUES, MAX_CHARS, MAX_STRING_CHARS)
    return _plain(args, room, _DEEPEST), not room.is_full


def _is_flat(args: dict[str, Any]) -> bool:
    """Whether arguments are a few short texts and numbers, as most are: a third of the time of `_fits`."""
    chars = 0
    for value in args.values():
        if type(value) is str:
            chars += len(value)
        elif type(value) not in _SCALARS:
            return False
    return chars <= MAX_CHARS and len(args) <= MAX_VALUES


def _fits(args: dict[str, Any]) -> bool:
    """Whether arguments are small, however often a part of them is repeated."""
    values_left, chars_left = MAX_VALUES, MAX_CHARS
    containers: list[Any] = [args]
    for container in containers:  # grows
        node = container if type(container) in _CONTAINERS else _parts(container)
        values_left -= len(node)
        if values_left < 0 or chars_left < 0:
            return False
        if type(node) is dict:
            chars_left -= sum([len(key) for key in node if type(key) is str])
            node = node.values()
        for value in node:
            if type(value) is str:
                chars_left -= len(value)
            elif type(value) not in _SCALARS:
                containers.append(value)
    return chars_left >= 0


_CONTAINERS: Final = frozenset({dict, list, tuple})
_SEQUENCES: Final[tuple[Any, ...]] = (list, tuple, set, frozenset)
_SCALARS: Final = frozenset({int, float, bool, type(None)})


def _parts(value: Any) -> Any:
    """The first parts of any other container, which no code of its own may hide."""
    if isinstance(value, dict):
        return dict(islice(dict.items(value), MAX_VALUES + 1))
    for kind in _SEQUENCES:
        if isinstance(value, kind):
            return list(islice(kind.__iter__(value), MAX_VALUES + 1))
    if isinstance(value, str):
        return [str.__str__(value)]
    return dataclass_fields(value) if hasattr(type(value), "__dataclass_fields__") else ()


_DEEPEST = 20


class _Room:
    """How many values and characters may still be copied, and how many of one string."""

    __slots__ = ("chars", "of_string", "values")

    def __init__(self, values: int, chars: int = 1 << 62, of_string: int = 1 << 62) -> None:
        self.values, self.chars, self.of_string = values, chars, of_string

    @property
    def is_full(self) -> bool:
        """Whether something did not fit."""
        return self.values < 0 or self.chars < 0

    def until_full(self, items: Iterable[Any]) -> Iterator[Any]:
        """The items of a container, of any length, up to the first that does not fit."""
        for item in items:
            yield item
            if self.is_full:
                return


def _plain(value: object, room: _Room, depth: int) -> Any:
    room.values -= 1
    if depth < 0 or room.is_full:
        return "<…>"
    if isinstance(value, str):
        short = encodable(value) if len(value) <= room.of_string else _truncated(value, room.of_string)
        room.chars -= min(len(value), room.of_string)
        return short
    if value is None or isinstance(value, bool | float) or (isinstance(value, int) and abs(value) < 2**63):
        return value
    if isinstance(value, Mapping):
        pairs = room.until_full(value.items())
        return {_plain_key(key, room): _plain(item, room, depth - 1) for key, item in pairs}
    if isinstance(value, list | tuple | set | frozenset):
        return [_plain(item, room, depth - 1) for item in room.until_full(value)]
    return f"<{type(value).__name__}>"


def _plain_key(key: object, room: _Room) -> str:
    text = text_of(key)[: room.of_string]
    room.chars -= len(text)
    return encodable(text)


def text_of(value: object) -> str:
    """Return ``str(value)``, or ``<type name>`` if that raises."""
    if isinstance(value, str):
        return value
    try:
        return str(value)
    except Exception:  # a user's own __str__ must not break the request
        return f"<{type(value).__name__}>"


def encode_line(
    record: Record,
    selectors: Mapping[str, Iterable[str]] | None = None,
    *,
    mask_error: MaskError | None = None,
) -> bytes:
    r"""Write a record as a line of at most 4,096 bytes, newline included, or a long one as several.

    Each of several lines begins with its number, ``part``. The first, 0, has all fields, and in
    ``tool_calls_omitted`` the number of calls on the following ones; those have them in ``tool_calls``, and
    further ``override_calls``.
    Fields are cut if they fill a line by themselves, and so is a call: ``saw`` and null or empty fields, its
    long argument strings, then argument values of more than 32 characters and its result's size, then values
    other than selectors, then all arguments. The hashes are those of the full record.

    Parameters
    ----------
    record : Record
        ``args`` may be an ``orjson.Fragment`` of JSON. Every string must be encodable.
    selectors : mapping of tool to argument names, optional
        The selectors of tools whose selectors differ from the default.
    mask_error : callable, optional
        Takes the words of a call's arguments out of its error, if arguments are reduced.

    Returns
    -------
    bytes
        Valid JSON and ``\n``, for each line.
    """
    line = orjson.dumps(record, option=orjson.OPT_APPEND_NEWLINE)
    return line if len(line) <= MAX_LINE_BYTES else _in_parts(record, selectors or {}, mask_error)


def _in_parts(record: Record, selectors: Mapping[str, Iterable[str]], mask_error: MaskError | None) -> bytes:
    head: dict[str, Any] = {**record, "tool_calls": [], "override_calls": []}
    if _size(head) > _MOST_BYTES:
        head = _bounded_fields(head)
    about: dict[str, Any] = {"part": 0}
    about |= {key: head[key] for key in _OF_EACH_LINE if key in head}
    most = _MOST_BYTES - _size(about)
    items: list[tuple[str, Any]] = [
        ("override_calls", _fitting_override(override, most)) for override in record["override_calls"]
    ]
    for call in record["tool_calls"]:
        chosen = selectors.get(call["name"], DEFAULT_SELECTORS)
        items.append(("tool_calls", _fitting_call(call, chosen, mask_error, most)))
    lines, room = [head], _MOST_BYTES - _size(head)
    for field, item in items:
        size = _size(item) + 1
        if size > room:
            lines.append({**about, "part": len(lines)})
            room = most
        lines[-1].setdefault(field, []).append(item)
        room -= size
    if len(lines) > 1:
        n_omitted = len(record["tool_calls"]) - len(head["tool_calls"])
        lines[0] = {"part": 0, **head, "tool_calls_omitted": n_omitted}
    return b"".join([orjson.dumps(line, option=orjson.OPT_APPEND_NEWLINE) for line in lines])


def _size(value: Any) -> int:
    return len(orjson.dumps(value))


def _fitting_call(
    call: ToolCall, selectors: Iterable[str], mask_error: MaskError | None, most: int
) -> Mapping[str, Any]:
    """A call as it is, or of one that does not fit on a line as much as does."""
    for whole in (call, _without_empty({**call, "saw": None})):
        if _size(whole) < most:
            return whole
    full: dict[str, Any] = {**call, "args": orjson.loads(orjson.dumps(call["args"])), "saw": None}
    if mask_error is not None and full["error"] and isinstance(full["args"], dict):
        full["error"] = mask_error(full["error"], full["args"])
    shorter = _without_empty({**full, "args": shorten(full["args"], limit=80)})
    outlined = _outline(full, selectors)
    for attempt in (shorter, _brief(full, selectors), outlined):
        if _size(attempt) < most:
            return attempt
    return _without_empty({**outlined, "args_from": None, "name": _cut(call["name"], 1000), "args": {}})


def _fitting_override(override: OverrideCall, most: int) -> Mapping[str, Any]:
    if _size(override) < most:
        return override
    return {
        "tool": _cut(override["tool"], 1000),
        "override_keys": _outline_names(override["override_keys"]),
        "trigger": _cut(override["trigger"], 80) if override["trigger"] else None,
        "succeeded": override["succeeded"],
    }


def _brief(call: dict[str, Any], selectors: Iterable[str]) -> dict[str, Any]:
    """The call without empty fields, its result's size and long argument values; selectors stay."""
    args = call["args"] if isinstance(call["args"], dict) else {}
    brief = {key: value if _is_brief(value) else ELIDED for key, value in args.items()}
    brief |= {key: _outline_selector(args[key]) for key in selectors if key in args}
    return _without_empty({**call, "args": brief, "result_size_bytes": None})


def _is_brief(value: Any) -> bool:
    return value in _EMPTY or (isinstance(value, str | int | float) and len(str(value)) <= _BRIEF_CHARS)


def _without_empty(call: dict[str, Any]) -> dict[str, Any]:
    """The call without null and empty fields, which readers treat as absent."""
    return {key: value for key, value in call.items() if key == "args" or (value is not None and value != [])}


def _bounded_fields(record: Mapping[str, Any]) -> dict[str, Any]:
    """The known fields, with strings cut so that together they take less than a line."""
    fields = {
        key: _cut(value, _FIELD_BYTES.get(key, 100)) if isinstance(value, str) else value
        for key, value in record.items()
        if key in Record.__annotations__ and (key in _SHAPED_FIELDS or not isinstance(value, dict | list))
    }
    judgment = {key: _cut(str(value), 100) if value else None for key, value in record["judgment"].items()}
    return {**fields, "judgment": judgment}


def _outline(call: dict[str, Any], selectors: Iterable[str]) -> dict[str, Any]:
    """The call with its selectors, and of every other argument the name and whether it is empty."""
    args = call["args"] if isinstance(call["args"], dict) else {}
    outlined = {key[:64]: value if value in _EMPTY else ELIDED for key, value in list(args.items())[:30]}
    outlined |= {key: _outline_selector(args[key]) for key in selectors if key in args}
    return {
        **_without_empty({**call, "result_size_bytes": None}),
        "args": outlined,
        "error": _cut(call["error"], 120) if call["error"] else call["error"],
        "overrides_used": _outline_names(call["overrides_used"]),
        "extreme_flags": _outline_names(call["extreme_flags"]),
    }


def _outline_selector(value: Any) -> Any:
    """A selector's value, or a list if it is not a name, so that the step stays the same."""
    return value if value is None or selector_value(value) != OTHER else ["…"]


def _outline_names(names: Sequence[str] | None) -> list[str] | None:
    return None if names is None else [_cut(name, 40) for name in names[:5]]


def _cut(text: str, limit: int) -> str:
    """Cut a text to at most ``limit`` bytes as JSON, ending in ``…`` if it was cut."""
    if len(orjson.dumps(text)) - 2 <= limit:
        return text
    head = text[:limit]
    while len(orjson.dumps(head)) - 2 > limit - 3:
        head = head[: len(head) * 9 // 10]
    return head + "…"


def _truncated(text: str, limit: int) -> dict[str, Any]:
    return {"truncated": True, "size": len(text), "preview": encodable(text[: _preview_chars(limit)])}


def _is_truncated(value: dict[str, Any]) -> bool:
    kinds = {name: type(part) for name, part in value.items()}
    return kinds == {"truncated": bool, "size": int, "preview": str} and bool(value["truncated"])


def _preview_chars(limit: int) -> int:
    return min(_PREVIEW_CHARS, limit // 4)


def dataclass_fields(value: Any) -> dict[str, Any]:
    """The fields of a dataclass, without running its code."""
    fields = {}
    for name in type(value).__dataclass_fields__:
        with suppress(AttributeError):  # a field that is not set
            fields[name] = object.__getattribute__(value, name)
    return fields
