"""Message lists that were saved after each step of one conversation: only the longest of them counts."""

from collections.abc import Iterator
from hashlib import blake2b
from typing import Any, Final

import orjson

# What an API may give anew each time that a list is saved.
_VOLATILE: Final = frozenset(
    {
        *("id", "tool_call_id", "tool_use_id", "toolCallId", "toolUseId", "call_id", "callId"),
        *(
            "ts",
            "timestamp",
            "created",
            "created_at",
            "createdAt",
            "usage",
            "usage_metadata",
            "cache_control",
        ),
    }
)


class SavedLists:
    """The beginnings of all lists of an import: a hash for each message, without ids and times."""

    def __init__(self) -> None:
        self._beginnings: set[int] = set()

    def add(self, messages: list[Any]) -> None:
        """Add a list."""
        self._beginnings.update(list(_hashes(messages))[:-1])

    def goes_on(self, messages: list[Any]) -> bool:
        """Whether another list begins with all messages of this one."""
        return not self._beginnings.isdisjoint(list(_hashes(messages))[-1:])


def _hashes(messages: list[Any]) -> Iterator[int]:
    """Hashes of a list up to each of its messages."""
    digest = blake2b(digest_size=8)
    for message in messages:
        digest.update(_encoded(_stable(message)))
        yield int.from_bytes(digest.digest())


def _stable(message: Any) -> Any:
    """What stays of a message and its blocks; an absent field may be null, too."""
    if not isinstance(message, dict):
        return message
    kept = _kept(message)
    for key, value in kept.items():
        if isinstance(value, list):
            kept[key] = [_kept(block) if isinstance(block, dict) else block for block in value]
    return kept


def _kept(block: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in block.items() if value and key not in _VOLATILE}


def _encoded(value: Any) -> bytes:
    try:
        return orjson.dumps(value, option=orjson.OPT_SORT_KEYS | orjson.OPT_NON_STR_KEYS)
    except TypeError:  # an integer over 64 bits, or lone surrogates
        return repr(value).encode("utf-8", "replace")
