"""Message lists that are saved after each step of one conversation, told by a hash of each beginning."""

from hashlib import blake2b
from typing import Any, Final

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


def beginnings_of(messages: list[dict[str, Any]]) -> list[int]:
    """Hash a list up to each of its messages, without their ids, times and empty fields."""
    digest, hashes = blake2b(digest_size=8), []
    for message in map(_stable, messages):
        for key, value in message.items():
            if isinstance(value, list):
                message[key] = [_stable(block) if isinstance(block, dict) else block for block in value]
        digest.update(repr(message).encode("utf-8", "replace"))
        hashes.append(int.from_bytes(digest.digest()))
    return hashes


def _stable(block: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in block.items() if value and key not in _VOLATILE}
