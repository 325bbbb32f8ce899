"""The disguises that the page names, written from its table."""

import base64
import re
import unicodedata
from collections.abc import Callable
from itertools import pairwise
from random import Random

Disguise = Callable[[str, Random], str]
GROUPS = {
    "digits": ("other digits", "letters for digits", "other separators", "spelled out"),
    "scripts": ("other digits",),
    "latin": ("look-alike letters", "full width"),
    "hangul": ("decomposed",),
    "at": ("at and dot",),
    "text": ("invisible characters", "%XX", "HTML entities", "\\uXXXX", "base64", "spaces", "line breaks"),
    "token": ("invisible characters", "%XX", "HTML entities", "\\uXXXX", "base64", "line break"),
    "code": ("invisible characters", "%XX", "HTML entities", "\\uXXXX"),
    "secret": ("%XX", "HTML entities", "\\uXXXX", "base64"),
    "block": ("\\uXXXX", "base64", "one line"),
}
AMBIGUOUS = {"letters for digits", "other separators", "spelled out", "spaces", "line breaks"}
_TWINS = str.maketrans("aeopcxyABEHKMOPT", "аеорсхуАВЕНКМОРТ")
_SCRIPTS = ("０１２３４５６７８９", "٠١٢٣٤٥٦٧٨٩", "०१२३४५६७८९", "𝟎𝟏𝟐𝟑𝟒𝟓𝟔𝟕𝟖𝟗", "𝟘𝟙𝟚𝟛𝟜𝟝𝟞𝟟𝟠𝟡", "⓪①②③④⑤⑥⑦⑧⑨")
_SPELLED = ("공일이삼사오육칠팔구", "영일이삼사오육칠팔구")
_ENGLISH = ["zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine"]


def encode(text: str, chance: Random, write: Callable[[str], str]) -> str:
    """Write the signs, or every character, in another way."""
    signs_only = chance.random() < 0.5 and not text.isalnum()
    return "".join(char if signs_only and char.isalnum() else write(char) for char in text)


def _percent(char: str) -> str:
    return "".join(f"%{byte:02X}" for byte in char.encode())


def _invisible(text: str, chance: Random) -> str:
    sign = chance.choice("\u200b\u200c\u200d\u2060\u00ad\ufeff\u180e\u2063")
    if chance.random() < 0.5:
        return sign.join(text)
    for _ in range(3):
        at = chance.randrange(1, len(text))
        text = text[:at] + sign + text[at:]
    return text


def _spelled(text: str, chance: Random) -> str:
    if chance.random() < 0.3:
        return re.sub(r"\d", lambda found: _ENGLISH[int(found[0])] + " ", text).strip()
    return text.translate(str.maketrans("0123456789", chance.choice(_SPELLED)))


def _at(text: str, chance: Random) -> str:
    at = chance.choice(["(at)", " at ", "[at]", " 골뱅이 ", "＠"])
    return text.replace("@", at).replace(".", chance.choice(["(dot)", " dot ", "닷", " 점 ", "。"]))


def _spaced(text: str, chance: Random) -> str:
    if chance.random() < 0.5:
        return " ".join(text.replace(" ", ""))
    return f"{text[: len(text) // 2]} {text[len(text) // 2 :]}"


def _broken(text: str, _: Random) -> str:
    return f"{text[: len(text) // 2]}\n{text[len(text) // 2 :]}"


def _broken_outside_words(text: str, chance: Random) -> str:
    """A line break that splits no Latin word."""
    pairs = pairwise(text)
    places = [at for at, pair in enumerate(pairs, 1) if not re.fullmatch("[A-Za-z]{2}", "".join(pair))]
    if not places:
        return text
    at = chance.choice(places)
    return f"{text[:at]}\n{text[at:]}"


DISGUISES: dict[str, Disguise] = {
    "other digits": lambda text, chance: text.translate(str.maketrans("0123456789", chance.choice(_SCRIPTS))),
    "letters for digits": lambda text, chance: text.replace("0", chance.choice("Oo")).replace(
        "1", chance.choice("lI")
    ),
    "other separators": lambda text, chance: re.sub(r"[-.) ]+", chance.choice("–—－·_/"), text),
    "spelled out": _spelled,
    "look-alike letters": lambda text, _: text.translate(_TWINS),
    "full width": lambda text, _: "".join(chr(ord(c) + 0xFEE0) if "!" <= c <= "~" else c for c in text),
    "decomposed": lambda text, _: unicodedata.normalize("NFD", text),
    "at and dot": _at,
    "invisible characters": _invisible,
    "%XX": lambda text, chance: encode(text, chance, _percent),
    "HTML entities": lambda text, chance: encode(text, chance, lambda char: f"&#{ord(char)};"),
    "\\uXXXX": lambda text, chance: encode(text, chance, lambda char: f"\\u{ord(char):04x}"),
    "base64": lambda text, _: base64.b64encode(text.encode()).decode(),
    "spaces": _spaced,
    "line breaks": _broken_outside_words,
    "line break": _broken,
    "one line": lambda text, _: text.replace("\n", "\\n"),
}
