"""One plain letter or sign for each that looks like it.

`sanitize` finds disguised texts by the table; the guard folds names by it, as `plain_letters`.
"""

import re
import unicodedata
from typing import Final

LOOK_ALIKES: Final = {
    "a": "аɑα∝ᴀա",
    "b": "ЬƅᏏ",
    "c": "сϲᴄⅽ",
    "d": "ԁɗᏧ",
    "e": "еҽєε℮ᴇ",
    "f": "ϝғ",
    "g": "ɡɢցգ",
    "h": "һհн",
    "i": "іιıɩɪ",
    "j": "јϳ",
    "k": "κкᴋ",
    "l": "ӏǀاⅼ",
    "m": "мᴍ",
    "n": "ողпη",
    "o": "оοօσᴏ",
    "p": "рρ",
    "q": "ԛզ",
    "r": "гᴦ",
    "s": "ѕꜱ",
    "t": "тτᴛ",
    "u": "υսᴜц",
    "v": "ѵνᴠ",
    "w": "ѡԝωᴡ",
    "x": "хχ×",
    "y": "уγүყ",
    "z": "ᴢʐ",
    "A": "АΑᎪ",
    "B": "ВΒᏴ",
    "C": "СϹᏟ",
    "D": "Ꭰ",
    "E": "ЕΕᎬ",
    "F": "Ϝ",
    "G": "ԌᏀ",
    "H": "НΗᎻ",
    "I": "ІΙӀ",
    "J": "ЈᎫ",
    "K": "КΚᏦ",
    "L": "Ꮮ",
    "M": "МΜᎷ",
    "N": "Ν",
    "O": "ОΟՕ",
    "P": "РΡᏢ",
    "Q": "Ԛ",
    "R": "Ꭱ",
    "S": "ЅՏᏚ",
    "T": "ТΤᎢ",
    "U": "Ս",
    "V": "ѴᏙ",
    "W": "ԜᎳ",
    "X": "ХΧ",
    "Y": "ҮΥ",
    "Z": "ΖᏃ",
    "-": "‐‑‒–—―−⁃﹣－ーㅡ➖",
    ".": "。․·ㆍ・‧∙•｡",
    "@": "＠﹫",
    "/": "⁄∕⧸",
    ":": "꞉∶ː։",
    "_": "＿",
    "0": "〇",
    "'": "‘’ʼ′",
    '"': "“”″",
    " ": "\u1680",
}
# Capitals first: of ν, which is a small letter like v and of the capital Ν, v counts.
_FOLDED: Final = {
    ord(alike.casefold()): plain.lower()
    for plain, alikes in sorted(LOOK_ALIKES.items())
    if plain.isalpha()
    for alike in alikes
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
    return named[1].lower() if named else char.translate(_FOLDED)
