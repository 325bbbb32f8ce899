"""Whether a planted value can still be read in what a tool wrote.

The text is read as a curious person would: as it is, and with each disguise undone. In each reading, only
letters and digits count, without case, so that punctuation, spaces and line breaks hide nothing. A secret has
leaked if a run of its characters stands in a reading: all of them if there are five or fewer, otherwise two
fifths, at least 5, and 12 at most. So the last four digits of a card may stay, but not the birth date of a
resident number (6 of 13), nor a dozen characters of a key.
"""

import html
import re
import unicodedata
from base64 import b64decode
from collections.abc import Iterator
from functools import lru_cache
from typing import Any, Final
from urllib.parse import unquote

from .kind import Value

_LABEL: Final = re.compile(r"\[[A-Za-z_ ]+-\d+\]|-[a-p]{32}|<[A-Z_]+>|\{\{[^{}]*\}\}")
"""What the tools write in a value's place: its random letters and numbers are not the value's."""
_ESCAPE: Final = re.compile(r"\\u([0-9a-fA-F]{4})")
_BASE64: Final = re.compile(r"[A-Za-z0-9+/_-]{8,}={0,2}")


def strings(part: Any) -> Iterator[str]:
    """All texts, keys and numbers of a JSON value."""
    if isinstance(part, dict):
        for key, entry in part.items():
            yield str(key)
            yield from strings(entry)
    elif isinstance(part, list):
        for entry in part:
            yield from strings(entry)
    elif part is not None and not isinstance(part, bool):
        yield str(part)


def fold(text: str) -> str:
    """Only letters and digits, without case, width and script of digits."""
    chars = []
    for char in unicodedata.normalize("NFKC", text).casefold():
        if char.isalnum():
            digit = unicodedata.digit(char, None)
            chars.append(char if digit is None else str(digit))
    return "".join(chars)


@lru_cache(maxsize=16_384)
def readings(text: str) -> frozenset[str]:
    """Return the folded text as it is, and with each encoding or disguise undone."""
    text = _LABEL.sub("\n", text)
    versions = {text}
    pending = [text]
    while (
        pending and len(versions) < 20
    ):  # encodings lie in each other: JSON in JSON, percent signs in base64
        fresh = set(_decoded(pending.pop())) - versions
        versions |= fresh
        pending += fresh
    return frozenset(fold(version) for version in versions)


def _decoded(text: str) -> Iterator[str]:
    yield html.unescape(text)
    yield unquote(text)
    yield _ESCAPE.sub(lambda code: chr(int(code[1], 16)), text)
    for token in _BASE64.findall(text):
        try:
            yield b64decode(token.translate(str.maketrans("-_", "+/")) + "==").decode("utf-8")
        except ValueError:
            continue


class Secrets:
    """The secret parts of a value as runs of characters to look for.

    Parameters
    ----------
    value : Value
        The value in plain form.
    written : str, optional
        Its disguised form: what stays of that in the output can be decoded by anyone.
    """

    def __init__(self, value: Value, written: str | None = None) -> None:
        cores = {fold(secret) for secret in value.guarded}
        if written is not None and written != value.text and len(fold(written)) >= 8:
            cores.add(fold(written))
        self._runs = tuple(runs(core) for core in cores if core)

    def are_in(self, text: str) -> bool:
        return any(run in reading for reading in readings(text) for group in self._runs for run in group)


@lru_cache(maxsize=4096)
def runs(core: str) -> tuple[str, ...]:
    """The runs of a secret of which each alone is a leak."""
    size = needed(len(core))
    found = {core[at : at + size] for at in range(len(core) - size + 1)}
    return tuple(sorted(found))


def needed(length: int) -> int:
    """How many characters in a row make a leak of a secret of ``length``."""
    return length if length <= 5 else max(5, min(12, -(-length * 2 // 5)))
