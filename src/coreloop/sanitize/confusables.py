"""Look-alike letters and their plain equivalents."""

import unicodedata
from functools import lru_cache
from typing import Final

_LOOK_ALIKES: Final = {
    "a": "аɑα∝ᴀ",
    "b": "ЬƅᏏ",
    "c": "сϲᴄⅽ",
    "d": "ԁɗᏧ",
    "e": "еҽєε℮ᴇ",
    "f": "ϝғ",
    "g": "ɡɢց",
    "h": "һհн",
    "i": "іιıɩɪ",
    "j": "јϳ",
    "k": "κкᴋ",
    "l": "ӏǀاⅼ",
    "m": "мᴍ",
    "n": "ողп",
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
_FOLDED: Final = {alike: plain for plain, alikes in _LOOK_ALIKES.items() for alike in alikes}


@lru_cache(maxsize=4096)
def fold(cluster: str) -> str:
    """Fold a character with its marks, or the letters of a syllable, into the plain text it reads as."""
    plain = "".join(_FOLDED.get(char, char) for char in cluster)
    plain = unicodedata.normalize("NFKC", plain)
    return "".join(map(_fold_char, plain))


def _fold_char(char: str) -> str:
    digit = unicodedata.decimal(char, None)
    if digit is not None:
        return str(digit)
    if char in _FOLDED:
        return _FOLDED[char]
    category = unicodedata.category(char)
    if category in {"Zl", "Zp"}:
        return "\n"
    if category[0] == "Z":
        return " "
    if category == "Mn" and char < "\u0370":
        return ""
    if "\u00c0" <= char <= "\u024f" or "\u1e00" <= char <= "\u1eff":
        base = unicodedata.normalize("NFD", char)[0]
        return base if base.isascii() else char
    return char
