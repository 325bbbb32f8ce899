"""Shapes of long texts that slow down careless patterns, and a line that shows a sign of every rule."""

import base64
import json
import random
from collections.abc import Callable
from typing import Final

ALL_SIGNS: Final = (
    "a@b.kr 010-1234-5678 password=hunter2! http://a.kr/b?c=d [at] 김민서 대표 Mr. Kim /home/abc 1:2:3 "
    "10.20.30.40 sk-ant-abc eyJabc MII DE89370400440532013000 대 표 공일공 -----BEGIN PRIVATE KEY- cookie "
    "authorization bearer -u token 여권 은행 카드 면허 dot %41 \\u0041 \\n "
)
"""In front of a shape, it turns on the rules that a cheap check would skip."""


def repeated(*pieces: str) -> Callable[[int], str]:
    """Divide the length evenly among some pieces, each repeated."""

    def text(n_chars: int) -> str:
        share = n_chars // len(pieces)
        return "".join((piece * (share // len(piece) + 1))[:share] for piece in pieces)

    return text


def _base64_within(n_chars: int) -> str:
    text = "hong@example.com "
    while len(text) < n_chars:
        text = base64.b64encode(text.encode()).decode() if len(text) > 60 else text * 2
    return text[:n_chars]


def _json_within(n_chars: int) -> str:
    text = "a@b.kr"
    while len(text) < n_chars // 2:
        text = json.dumps({"a": text, "b": [text[:9]] * 4})
    return (text + '{"a":[' * n_chars)[:n_chars]


def _words(n_chars: int) -> str:
    rng = random.Random(n_chars)
    words = ("배당", "revenue", "1,234", "2024", "10.5%", "the", "주가", "(Q3)", "a-b", "x_y", "\n")
    return " ".join(rng.choice(words) for _ in range(n_chars // 3))[:n_chars]


SHAPES: Final[dict[str, Callable[[int], str]]] = {
    "ordinary words": _words,
    "backslashes": repeated("\\"),
    "links": repeated("http://", "file:///", "a://b:"),
    "at signs": repeated("@", "a@", "a@b."),
    "digits": repeated("1", "1234 ", "1."),
    "digits with spaces": repeated("1 ", "1 - ", "0  0"),
    "digits on lines": repeated("1\n", "12345\n67", "\n "),
    "full-width digits": repeated("１", "１ "),
    "nested percent signs": lambda n: f"%{'25' * (n // 2)}41"[:n],
    "nested entities": lambda n: f"&{'amp;' * (n // 4)}#64;"[:n],
    "nested escapes": repeated("\\u005c", "\\\\u005cu0040", "\\n"),
    "base64 within base64": _base64_within,
    "joiners and marks": repeated("\u200d", "a\u200d", "\u0301", "\ufdfa"),
    "syllables in parts": repeated("\u1100", "\u1100\u1161\u11a8", "가 "),
    "look-alike letters": repeated("aа", "Оο0", "\U000e0041"),
    "dots, dashes and slashes": repeated("a.", "a-", "/a", "\\/", "~a", "-dot-"),
    "beginnings of keys": repeated("-----BEGIN", "-----BEGIN PRIVATE KEY", "MIIa a", "eyJ_"),
    "quotes and brackets": repeated('"', "'", "[", "(", '"a",', "a.bc/,"),
    "passwords": repeated("password=", 'password"="', '"name": "token", ', "cookie:"),
    "a long value in quotes": lambda n: f'"value":"{chr(92) * n}'[:n],
    "a long name": lambda n: f"Kim A{'a' * n}"[:n],
    "commas and names": repeated(",", "Mr. A ", "김 민 서 ", "대 표 ", "골뱅이"),
    "JSON within JSON": _json_within,
}
