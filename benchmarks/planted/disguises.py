"""How people and programs write a value differently, so that a plain pattern no longer fits.

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
LOOK_ALIKE_LETTERS: Final = dict(zip("aceiopsxyjABCEHIKMOPTX", "асеіорѕхујАВСЕНІКМОРТХ", strict=True)) | {
    "v": "ν",
    "u": "υ",
    "h": "һ",
    "d": "ԁ",
    "N": "Ν",
    "Z": "Ζ",
    "Y": "Υ",
}
LETTERS_AS_DIGITS: Final = {"0": "Oo", "1": "lI"}
INVISIBLE: Final = "\u200b\u200c\u200d\u2060\u00ad\ufeff\u180e\u2063"
SPELLED: Final = ("공일이삼사오육칠팔구", "영일이삼사오육칠팔구")
SPELLED_ENGLISH: Final = ["zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine"]
SEPARATORS: Final = ("–", "－", "·", ".", " ", "_", "‑", "/", " - ", "—")
_AT: Final = ("(at)", " at ", "[at]", " (at) ", "골뱅이", " 골뱅이 ", "＠", "﹫")
_DOT: Final = ("(dot)", " dot ", "[dot]", ".", "닷", " 점 ", "。")


def other_digits(text: str, chance: Random) -> str:
    row = chance.choice((*DIGIT_ROWS, CIRCLED))
    return "".join(row[int(char)] if char.isascii() and char.isdigit() else char for char in text)


def letters_as_digits(text: str, chance: Random) -> str:
    return "".join(chance.choice(LETTERS_AS_DIGITS.get(char, char)) for char in text)


def look_alike_letters(text: str, chance: Random) -> str:
    share = chance.choice((0.3, 0.7, 1.0))
    return "".join(
        LOOK_ALIKE_LETTERS[char] if char in LOOK_ALIKE_LETTERS and chance.random() < share else char
        for char in text
    )


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


def spaces(text: str, chance: Random) -> str:
    if text.isalpha() and not text.isascii() and len(text) == 3:
        return chance.choice((" ".join(text), f"{text[0]} {text[1:]}"))
    if text.isalpha() or chance.random() < 0.35:
        return " ".join(text.replace(" ", ""))
    spaced = re.sub(r"(?<=\w)([-.@:/])(?=\w)", r" \1 ", text)
    return spaced if spaced != text else _split(text, " ")


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


def spelled_out(text: str, chance: Random) -> str:
    if not re.fullmatch(r"[\d+().\- ]+", text):
        return text
    if chance.random() < 0.5:
        row = chance.choice(SPELLED)
        return "".join(row[int(char)] if char.isdigit() else " " for char in text).strip()
    return " ".join(SPELLED_ENGLISH[int(char)] for char in text if char.isdigit())


ENCODINGS: Final[dict[str, Disguise]] = {
    "invisible characters": invisible,
    "%XX": percent,
    "HTML entities": entities,
    "\\uXXXX": escapes,
    "base64": base64,
}
GROUPS: Final[Mapping[str, Mapping[str, Disguise]]] = {
    "text": ENCODINGS | {"spaces": spaces, "line breaks": lines},
    "digits": {
        "other digits": other_digits,
        "letters for digits": letters_as_digits,
        "other separators": other_separators,
        "spelled out": spelled_out,
    },
    "scripts": {"other digits": other_digits},
    "latin": {"look-alike letters": look_alike_letters, "full width": full_width},
    "hangul": {"decomposed": decomposed},
    "at": {"at and dot": at_and_dot},
    "token": ENCODINGS | {"line break": wrapped},
    "code": {name: ENCODINGS[name] for name in ("invisible characters", "%XX", "HTML entities", "\\uXXXX")},
    "secret": {name: ENCODINGS[name] for name in ("%XX", "HTML entities", "\\uXXXX", "base64")},
    "block": {"base64": base64, "\\uXXXX": escapes, "one line": lambda text, _: text.replace("\n", "\\n")},
}


MEANINGS: Final[Mapping[str, str]] = {
    "other digits": "full-width, Arabic, Devanagari, bold, double-struck or circled digits",
    "letters for digits": "O or o for 0, l or I for 1, at random places",
    "other separators": "en, em or non-breaking dash, full-width hyphen, `·`, dot, space, `_`, `/` or ` - ` "
    "for `-`, `.`, `)` and space",
    "spelled out": "공일이…, 영일이…, or zero one two…",
    "look-alike letters": "30 %, 70 % or all of the Latin letters that have a Cyrillic or Greek twin",
    "full width": "every ASCII sign as its full-width form",
    "decomposed": "Hangul as separate letters (NFD), the words beside it too",
    "at and dot": "`(at)`, ` at `, `[at]`, 골뱅이 or `＠`, with `(dot)`, ` dot `, 닷, ` 점 `, `。` or a dot",
    "invisible characters": "U+200B, 200C, 200D, 2060, 00AD, FEFF, 180E or 2063, three times or everywhere",
    "%XX": "of the signs, or of every character (UTF-8)",
    "HTML entities": "decimal or hexadecimal, of the signs or of every character",
    "\\uXXXX": "of the signs, or of every character",
    "base64": "of the value; of value and word if it needs the word; from 9 bytes on",
    "spaces": "around signs, between all characters, in the middle, after a Korean surname",
    "line breaks": "after one or two signs, or in the middle; not in Latin words",
    "line break": "in the middle of a token",
    "one line": "`\\n` for the line breaks of a key",
}
AMBIGUOUS: Final = frozenset(
    {"letters for digits", "other separators", "spelled out", "spaces", "line breaks"}
)
"""Without a word beside it, a number so disguised could be any other."""
SHORTEST_BASE64: Final = 9
"""Bytes; nobody encodes a shorter text, and almost any eight letters are base64 of some six."""


def disguises(groups: str) -> dict[str, Disguise]:
    """The disguises of a kind: ``"digits text"`` joins two groups."""
    return {name: disguise for group in groups.split() for name, disguise in GROUPS[group].items()}
