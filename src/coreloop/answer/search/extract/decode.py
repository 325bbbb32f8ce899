"""Bytes as text: encodings that Korean and English files have, without control and invisible characters."""

import codecs
import re
from typing import Final

from coreloop.answer.search.extract.document import Unreadable

BINARY: Final = Unreadable("binary")
UNKNOWN_ENCODING: Final = Unreadable("neither UTF-8 nor CP949")
_MARKS: Final = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
_NEWLINE: Final = re.compile("\r\n?|[\u2028\u2029]")
_INVISIBLE: Final = re.compile(
    "["
    "\x00-\x08\x0b-\x1f\x7f-\x9f\xad"  # control characters and the soft hyphen
    "\u034f\u115f\u1160\u3164\uffa0"  # the grapheme joiner and the Hangul fillers
    "\u0600-\u0605\u061c\u06dd\u070f\u0890\u0891\u08e2\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u206f"
    "\ud800-\udfff"  # lone surrogates
    "\ufe00-\ufe0f\ufeff\ufff9-\ufffb"  # variation selectors, byte order mark, annotations
    "\U000110bd\U000110cd\U00013430-\U0001343f\U0001bca0-\U0001bca3\U0001d173-\U0001d17a"
    "\U000e0000-\U000e0fff"  # tags, in which text for models can hide
    "]+"
)


def decode_text(data: bytes) -> str | Unreadable:
    """Decode a file: by its byte order mark, else as UTF-8, else as CP949 (which contains EUC-KR)."""
    for mark, codec in _MARKS:
        if data.startswith(mark):
            return _decoded(data[len(mark) :], codec) or (UNKNOWN_ENCODING if len(data) > len(mark) else "")
    if b"\0" in data:
        return BINARY
    for codec in ("utf-8", "cp949"):
        text = _decoded(data, codec)
        if text is not None:
            return text
    return UNKNOWN_ENCODING


def clean_text(text: str) -> str:
    r"""Remove control and invisible characters; every line break becomes ``\n``."""
    if "\r" in text or not text.isascii():
        text = _NEWLINE.sub("\n", text)
    return _INVISIBLE.sub("", text)


def _decoded(data: bytes, codec: str) -> str | None:
    try:
        return clean_text(data.decode(codec))
    except UnicodeDecodeError:
        return None
