"""Message lists that are saved after each step of one conversation, told by a hash of each beginning."""

from hashlib import blake2b
from typing import Any, Final

import orjson

from coreloop.observe.importers.message_forms import CALL_IDS

# What an API may give anew each time that a list is saved.
_VOLATILE: Final = frozenset(
    (*CALL_IDS, "id", "ts", "timestamp", "created", "created_at", "createdAt", "usage")
)


def beginnings_of(messages: list[dict[str, Any]]) -> list[int]:
    """Hash a list up to each of its messages, without their ids, times and empty fields."""
    digest, hashes = blake2b(digest_size=8), []
    for message in map(_stable, messages):
        for key, value in message.items():
            if isinstance(value, list):
                message[key] = [_stable(block) if isinstance(block, dict) else block for block in value]
        digest.update(plain_json(message))
        hashes.append(int.from_bytes(digest.digest()))
    return hashes


def _stable(block: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in block.items() if value and key not in _VOLATILE}


def plain_json(value: Any) -> bytes:
    """Write a value to be hashed; only its length if it is nested too deeply, or has too large a number."""
    try:
        return orjson.dumps(value)
    except TypeError:
        return b"%d" % len(value)
