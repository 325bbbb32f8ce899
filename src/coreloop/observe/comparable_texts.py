"""Texts of the leaves of arguments and results: which are compared, and how."""

import re
from collections.abc import Iterator
from typing import Any, Final
from unicodedata import normalize

MIN_CHARS: Final = 3  # a shorter text is in many results by chance
_COMMON_BEGINS: Final = frozenset("-.0123456789tTfFnN")
_COMMON: Final = re.compile(r"(?i:true|false|null|none)|-?\d{0,2}(\.\d*)?")
_NAME_CHARS: Final = 40
_NAME_DIGITS: Final = 3  # `address1` is a name; a key with more digits looks like data
_CJK: Final = "\u2e80"  # first of the scripts without spaces between words, or with particles after words


def is_name(key: str) -> bool:
    """Whether a result's key is a field name; a key that looks like data becomes ``*`` in a path.

    ``address1`` is a name; ``credit_card_9513926``, ``2024`` and ``kim@example.com`` are not.
    """
    return (
        len(key) <= _NAME_CHARS
        and key.isidentifier()
        and (key.isalpha() or sum(map(str.isdigit, key)) < _NAME_DIGITS)
    )


def is_compared(text: str) -> bool:
    """Whether a value is long and distinctive enough to have its source looked up."""
    return len(text) >= MIN_CHARS and (text[0] not in _COMMON_BEGINS or _COMMON.fullmatch(text) is None)


def texts_in(value: Any) -> Iterator[str]:
    """The scalar leaves of a JSON value as texts; 150, 150.0 and "150" give the same text."""
    waiting = [value]
    while waiting:
        node = waiting.pop()
        if isinstance(node, str):
            yield composed(node.strip())
        elif isinstance(node, dict | list):
            waiting += reversed(list(node.values()) if isinstance(node, dict) else node)
        elif node is not None and not isinstance(node, bool):
            yield str(int(node) if node % 1 == 0 else node)


def composed(text: str) -> str:
    return text if text.isascii() else normalize("NFC", text)


def has_word(text: str, wanted: str) -> bool:
    """Whether a text contains a value as a separate word; a particle may follow: ``삼성전자의``."""
    at = text.find(wanted)
    while at >= 0:
        end = at + len(wanted)
        if not _are_same_word(text[at - 1 : at], wanted[0]) and not (
            _are_same_word(wanted[-1], text[end : end + 1]) and text[end] < _CJK
        ):
            return True
        at = text.find(wanted, at + 1)
    return False


def _are_same_word(left: str, right: str) -> bool:
    """Whether two adjacent characters belong to the same word; Latin and CJK letters do not."""
    return _is_word_char(left) and _is_word_char(right) and (left < _CJK) == (right < _CJK)


def _is_word_char(char: str) -> bool:
    return char.isalnum() or char == "_"
