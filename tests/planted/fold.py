"""A text as a patient reader gets it, and whether enough of a value is left in it."""

import html
import json
import re
import unicodedata
from collections.abc import Iterator, Mapping
from contextlib import suppress
from functools import lru_cache
from typing import Any, Final
from urllib.parse import unquote

from planted.disguise import TWINS
from planted.value import Core

_ESCAPE: Final = re.compile(r"\\+u([0-9a-fA-F]{4})")
_PSEUDONYM: Final = re.compile(r"(?<![0-9a-z])(?=[0-9]*[a-f])[0-9a-f]{16,}(?![0-9a-z])")
_KEYED: Final = re.compile(r"(?<![0-9A-Za-z])[a-z_]{2,20}-[a-p]{32}(?![0-9A-Za-z])")
_LABEL: Final = re.compile(r"\[[A-Z]{2,9}-[0-9]+\]")
_NO_TAGS: Final = dict.fromkeys(range(0xE0000, 0xE0080))
_TAGS_READ: Final = {0xE0000 + code: chr(code) for code in range(0x20, 0x7F)}
_TWINS: Final = str.maketrans(TWINS)


def resolved(text: str) -> str:
    """The text without escapes, entities and percent signs, up to three deep."""
    for _ in range(3):
        text = unquote(html.unescape(_ESCAPE.sub(lambda code: chr(int(code[1], 16)), text)))
    # two escapes of one character beyond U+FFFF have become its surrogates
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def folded(text: str) -> str:
    """Letters and digits of a text as a patient reader gets them, lower case."""
    text = unicodedata.normalize("NFKC", resolved(text).translate(_TWINS))
    # full-width signs have only now become those of an escape
    text = resolved(text).casefold()
    return "".join(_plain(char) for char in text if char.isalnum() and char not in "\u115f\u1160\u3164")


def _plain(char: str) -> str:
    return str(unicodedata.decimal(char)) if char.isdecimal() else char


def leaves(value: Any) -> Iterator[str]:
    """Every string, key and number of a record as text; of a string that is JSON, those in it too."""
    if isinstance(value, Mapping):
        for key, item in value.items():
            yield str(key)
            yield from leaves(item)
    elif isinstance(value, list):
        for item in value:
            yield from leaves(item)
    elif value is not None and not isinstance(value, bool):
        yield str(value)
        if str(value).startswith(("{", "[")):
            with suppress(ValueError):
                yield from leaves(json.loads(value))


def survives(core: Core, record: Mapping[str, Any]) -> bool:
    """Whether enough of a core is left in a record to know the value."""
    wanted = folded(core.text)
    size = min(core.window or len(wanted), len(wanted))
    pieces = [wanted[place : place + size] for place in range(len(wanted) - size + 1)]
    found = leaves(record)
    if len(wanted) < 3:  # the firm 3S is not in [COMPANY-3]([STOCK-8])
        found = (_LABEL.sub(" ", leaf) for leaf in found)
    texts = (text for leaf in found for text in _readings(leaf, digits=wanted.isdecimal()))
    return any(piece in text for text in texts for piece in pieces)


@lru_cache(maxsize=100_000)
def _readings(leaf: str, *, digits: bool) -> tuple[str, ...]:
    """What a reader makes of a text: with tag characters read as what they say, too."""
    # digits or a firm of three letters inside a pseudonym are chance, and there are many pseudonyms
    leaf = _KEYED.sub(" ", leaf)
    text = resolved(_PSEUDONYM.sub(" ", leaf) if digits else leaf)
    said = text.translate(_TAGS_READ)
    return (folded(text.translate(_NO_TAGS)), *([folded(said)] if said != text else []))
