"""Digits spelled out in English or Korean, as in dictation: ``zero one zero five``, ``공일공 오사이칠``.

Finds 140 more of 10,530 planted values (1.3 %, 2026-11-24).
"""

import re
from typing import Final

from coreloop.sanitize.views import View, rewritten

_ENGLISH: Final = {
    word: str(digit)
    for digit, word in enumerate("zero one two three four five six seven eight nine".split())  # noqa: SIM905
}
_KOREAN: Final = dict(zip("공영일이삼사오육륙칠팔구", "001234566789", strict=True))
_WORD: Final = "(?:zero|one|two|three|four|five|six|seven|eight|nine)"
_SYLLABLE: Final = "[공영일이삼사오육륙칠팔구]"
_WORDS: Final = rf"{_WORD}(?:[ -]{{1,2}}{_WORD}){{5,30}}(?![A-Za-z])"
# Six digits are the shortest date of birth. A particle may follow the last syllable.
_SYLLABLES: Final = (
    rf"{_SYLLABLE}(?<![가-힣].)(?:[ -]{{0,2}}{_SYLLABLE}){{5,30}}"
    r"(?:(?![가-힣])|(?=입니다|이에요|예요|은|는|로|으로|을|를|가|번))"
)
# Both begin with what they look for, which takes a third of the time of looking behind first.
_ENGLISH_SEARCH: Final = re.compile(_WORDS)
_KOREAN_SEARCH: Final = re.compile(_SYLLABLES)
_SPOKEN: Final = re.compile(rf"(?<![A-Za-z]){_WORDS}|{_SYLLABLES}")
_DIGIT: Final = re.compile(rf"{_WORD}|{_SYLLABLE}|[ -]+")


def spoken_digits(view: View | None, shown: str) -> View | None:
    """Replace spelled-out digits by digits; None if there are none.

    White space between English words goes; Korean groups of syllables keep it.
    """
    if not _KOREAN_SEARCH.search(shown) and not (" " in shown and _ENGLISH_SEARCH.search(shown)):
        return None
    return rewritten(view, shown, _SPOKEN, _digits)


def _digits(match: re.Match[str]) -> list[tuple[str, int, int]]:
    is_english = match[0].isascii()
    pieces = []
    for part in _DIGIT.finditer(match[0]):
        digit = _ENGLISH.get(part[0]) or _KOREAN.get(part[0])
        if digit is not None or not is_english:
            pieces.append((digit or part[0][0], part.start(), part.end()))
    return pieces
