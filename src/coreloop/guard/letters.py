"""Names as a reader sees them, without look-alike letters, letter styles and separators."""

import re
import unicodedata
from typing import Final

# Cyrillic, Greek and Armenian look-alikes of Latin letters, in lower case; some look alike only as capitals.
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
# Letters that Unicode names Latin: small capitals, strokes, hooks, letters in boxes.
_NAMED: Final = re.compile(
    r"(?:LATIN|REGIONAL INDICATOR)\b.*\bLETTER (?:SMALL CAPITAL |SCRIPT |DOTLESS |OPEN )?([A-Z])\b"
)
_DIGITS: Final = str.maketrans("013457", "oieast")


def plain_letters(name: str) -> str:
    """The letters and digits of a name; Latin letters become lower-case ASCII.

    ``Auto-Merge``, ``ａｕｔｏ＿ｍｅｒｇｅ`` and ``аutomerge`` with a Cyrillic ``а`` are all ``automerge``.
    """
    folded = unicodedata.normalize("NFKD", unicodedata.normalize("NFKC", name).casefold())
    return "".join(letter for letter in map(_plain, folded) if letter.isalnum())


def spellings(name: str) -> tuple[str, str]:
    """The `plain_letters` name, without and with digits replaced by similar letters (``m3rg3``)."""
    plain = plain_letters(name)
    return plain, plain.translate(_DIGITS)


def _plain(char: str) -> str:
    if char.isascii():
        return char
    named = _NAMED.search(unicodedata.name(char, ""))
    return named[1].lower() if named else char.translate(_LOOKALIKES)
