"""How programs write a value differently, so that a plain pattern no longer fits.

Each disguise is undone by `score.readings`, so that a value which stays readable is noticed in any form.
"""

import re
import unicodedata
from base64 import b64encode
from collections.abc import Callable, Mapping
from random import Random
from typing import Final

Disguise = Callable[[str, Random], str]

DIGIT_ROWS: Final = ("０１２３４５６７８９", "٠١٢٣٤٥٦٧٨٩", "०१२३४५६७८९", "𝟎𝟏𝟐𝟑𝟒𝟓𝟔𝟕𝟖𝟗", "𝟘𝟙𝟚𝟛𝟜𝟝𝟞𝟟𝟠𝟡")
CIRCLED: Final = "⓪①②③④⑤⑥⑦⑧⑨"
INVISIBLE: Final = "\u200b\u200c\u200d\u2060\u00ad\ufeff\u180e\u2063"
SEPARATORS: Final = ("–", "－", "·", ".", " ", "_", "‑", "/", " - ", "—")
_AT: Final = ("(at)", " at ", "[at]", " (at) ", "골뱅이", " 골뱅이 ", "＠", "﹫")
_DOT: Final = ("(dot)", " dot ", "[dot]", ".", "닷", " 점 ", "。")


def other_digits(text: str, chance: Random) -> str:
    row = chance.choice((*DIGIT_ROWS, CIRCLED))
    return "".join(row[int(char)] if char.isascii() and char.isdigit() else char for char in text)


def full_width(text: str, _: Random) -> str:
    return "".join(chr(ord(char) + 0xFEE0) if "!" <= char <= "~" else char for char in text)


def decomposed(text: str, _: Random) -> str:
    return unicodedata.normalize("NFD", text)


def invisible(text: str, chance: Random) -> str:
    mark = chance.choice(INVISIBLE)
    if chance.random() < 0.3:
        return mark.join(text)
    chars = list(text)
    for at in sorted(chance.sample(range(1, len(chars)), min(3, len(chars) - 1)), reverse=True):
        chars.insert(at, mark)
    return "".join(chars)


def percent(text: str, chance: Random) -> str:
    everything = chance.random() < 0.4
    return "".join(
        char
        if char.isascii() and char.isalnum() and not everything
        else "".join(f"%{b:02X}" for b in char.encode())
        for char in text
    )


def entities(text: str, chance: Random) -> str:
    everything = chance.random() < 0.4
    form = chance.choice(("&#{};", "&#x{:x};", "&#{:05d};"))
    return "".join(
        char if char.isascii() and char.isalnum() and not everything else form.format(ord(char))
        for char in text
    )


def escapes(text: str, chance: Random) -> str:
    everything = chance.random() < 0.4
    return "".join(
        char
        if (char.isascii() and char.isalnum() and not everything) or ord(char) > 0xFFFF
        else f"\\u{ord(char):04x}"
        for char in text
    )


def other_separators(text: str, chance: Random) -> str:
    by = chance.choice([separator for separator in SEPARATORS if separator not in text])
    return re.sub(r"(?<=\w)[-.) ]{1,2}(?=\w)", by, text)


def lines(text: str, _: Random) -> str:
    if text.isalpha() and text.isascii():
        return text
    broken = re.sub(r"([-.@ /])(?=\w)", "\\1\n", text, count=2)
    return broken if broken != text else _split(text, "\n")


def _split(text: str, by: str) -> str:
    middle = len(text) // 2
    return text[:middle] + by + text[middle:]


def wrapped(text: str, _: Random) -> str:
    """Broken in two, as a terminal or a mail program wraps a long token."""
    return _split(text, "\n")


def base64(text: str, _: Random) -> str:
    return b64encode(text.encode()).decode()


def at_and_dot(text: str, chance: Random) -> str:
    at, dot = chance.choice(_AT), chance.choice(_DOT)
    local, _, host = text.partition("@")
    return f"{local}{at}{host.replace('.', dot)}"


ENCODINGS: Final[dict[str, Disguise]] = {
    "invisible characters": invisible,
    "%XX": percent,
    "HTML entities": entities,
    "\\uXXXX": escapes,
    "base64": base64,
}
GROUPS: Final[Mapping[str, Mapping[str, Disguise]]] = {
    "text": ENCODINGS | {"line breaks": lines},
    "digits": {"other digits": other_digits, "other separators": other_separators},
    "scripts": {"other digits": other_digits},
    "latin": {"full width": full_width},
    "hangul": {"decomposed": decomposed},
    "at": {"at and dot": at_and_dot},
    "token": ENCODINGS | {"line break": wrapped},
    "code": {name: ENCODINGS[name] for name in ("invisible characters", "%XX", "HTML entities", "\\uXXXX")},
    "secret": {name: ENCODINGS[name] for name in ("%XX", "HTML entities", "\\uXXXX", "base64")},
    "block": {"base64": base64, "\\uXXXX": escapes, "one line": lambda text, _: text.replace("\n", "\\n")},
}


AMBIGUOUS: Final = frozenset({"other separators", "line breaks"})
"""Without a word beside it, a number so disguised could be any other."""
SHORTEST_BASE64: Final = 9
"""Bytes; nobody encodes a shorter text, and almost any eight letters are base64 of some six."""


def disguises(groups: str) -> dict[str, Disguise]:
    """The disguises of a kind: ``"digits text"`` joins two groups."""
    return {name: disguise for group in groups.split() for name, disguise in GROUPS[group].items()}
