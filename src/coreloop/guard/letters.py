"""Names as a reader sees them: look-alikes of other scripts, styles and separators made plain."""

import re
import unicodedata
from typing import Final

# Cyrillic, Greek and Armenian letters that pass for Latin ones; in lower case, though some do so as capitals.
_LOOKALIKES: Final = {
    ord(other): latin
    for latin, others in {
        "a": "аαա",
        "b": "вβ",
        "c": "с",
        "d": "ԁ",
        "e": "еε",
        "f": "ғ",
        "g": "ցգ",
        "h": "нһհ",
        "i": "іι",
        "j": "ј",
        "k": "кκ",
        "l": "ӏ",
        "m": "мμ",
        "n": "пոη",
        "o": "оοσօ",
        "p": "рρ",
        "q": "ԛ",
        "r": "г",
        "s": "ѕ",
        "t": "тτ",
        "u": "սυ",
        "v": "ѵν",
        "w": "ԝωѡ",
        "x": "хχ",
        "y": "уγ",
        "z": "ζ",
    }.items()
    for other in others
}
# What Unicode itself calls a Latin letter: small capitals, strokes, hooks, letters in boxes.
_NAMED: Final = re.compile(
    r"(?:LATIN|REGIONAL INDICATOR)\b.*\bLETTER (?:SMALL CAPITAL |SCRIPT |DOTLESS |OPEN )?([A-Z])\b"
)
_DIGITS: Final = str.maketrans("013457", "oieast")


def plain_letters(name: str) -> str:
    """The letters and digits of a name, Latin ones in lower-case ASCII.

    ``Auto-Merge``, ``ａｕｔｏ＿ｍｅｒｇｅ`` and ``аutomerge`` with a Cyrillic ``а`` are all ``automerge``.
    """
    folded = unicodedata.normalize("NFKD", unicodedata.normalize("NFKC", name).casefold())
    return "".join(letter for letter in map(_plain, folded) if letter.isalnum())


def spellings(name: str) -> tuple[str, str]:
    """The `plain_letters` name, and the same with digits read as the letters they stand for (``m3rg3``)."""
    read = plain_letters(name)
    return read, read.translate(_DIGITS)


def _plain(char: str) -> str:
    if char.isascii():
        return char
    named = _NAMED.search(unicodedata.name(char, ""))
    return named[1].lower() if named else char.translate(_LOOKALIKES)
