"""Korean particles, whose form depends on the last sound of the word before them."""

import re
from typing import Final

_FIRST, _LAST, _FINALS, _RIEUL = ord("가"), ord("힣"), 28, 8
"""Hangul syllables follow each other in Unicode by their finals, 0 for none (chapter 3.12)."""
_DIGITS: Final = {"0": 21, "1": _RIEUL, "3": 16, "6": 1, "7": _RIEUL, "8": _RIEUL}
"""Finals of 영, 일, 삼, 육, 칠 and 팔; 십, 백, 천 and 만 end in a consonant as 영 does."""
_CLOSED: Final = re.compile(r"(?:[lmn]|ng|(?<![aeiou])[aeiou][cpt]|[lmnr]e|^[lmnr])$", re.IGNORECASE)
"""Latin words that end in a consonant when they are read in Korean: plan, pattern, init, file."""
_LIQUID: Final = re.compile(r"(?:le?|re|^[lr])$", re.IGNORECASE)
_WORD: Final = re.compile(r"[^\W_]+(?=[\W_]*$)")


def with_particle(text: str, forms: str) -> str:
    """Append a particle.

    Parameters
    ----------
    text : str
        Its last letter or digit decides; quotes and brackets after it do not.
    forms : str
        The form after a consonant, then the one after a vowel, of one letter each (``을를``, ``은는``,
        ``이가``, ``과와``), or ``으로``.
    """
    final = _final(text)
    if forms == "으로":
        return text + ("로" if final in {0, _RIEUL} else "으로")
    return text + forms[0 if final else 1]


def _final(text: str) -> int:
    """The final consonant of a text as in a Hangul syllable: 0 for none."""
    word = _WORD.search(text)
    if word is None or text.endswith("%"):  # 퍼센트
        return 0
    last = word[0][-1]
    if _FIRST <= ord(last) <= _LAST:
        return (ord(last) - _FIRST) % _FINALS
    if last.isdecimal():
        return _DIGITS.get(last, 0)
    if not _CLOSED.search(word[0]):
        return 0
    return _RIEUL if _LIQUID.search(word[0]) else 1
