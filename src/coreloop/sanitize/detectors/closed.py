"""The cheapest look at a text: which signs it, or any text made of it by taking white space out, can show.

Nearly every text can show none, and needs no other look.
"""

import re
from functools import lru_cache, reduce
from operator import or_
from typing import Final

from ahocorasick_rs import AhoCorasick

from coreloop.records import encodable
from coreloop.sanitize.detectors import RULES
from coreloop.sanitize.detectors.rule import Sign
from coreloop.sanitize.detectors.signs import TITLE_PAIRS, WORDS

# Signs of the rules that hold where white space was taken out.
JOINING: Final = int(reduce(or_, (rule.sign for rule in RULES if rule.joins)))
# `signs.WORDS`, and what the other signs look like in lower case where no white space is left: words that a
# text must hold, or patterns; each may say more than its sign does, never less.
_WORDS: Final[dict[str, int]] = {
    **{pair: int(Sign.TORN_TITLE) for pair in TITLE_PAIRS},
    **{word: bits | (int(Sign.TORN_TITLE) if word in TITLE_PAIRS else 0) for word, bits in WORDS.items()},
    "@": int(Sign.AT | Sign.SPOKEN_AT),
    **dict.fromkeys(["골뱅이", "닷컴"], int(Sign.SPOKEN_AT)),
    **dict.fromkeys([":/", ":\\/", "http:", "https:", "www."], int(Sign.LINK)),
    **dict.fromkeys(["공일", "영일"], int(Sign.SPOKEN_DIGITS)),
}
_PATTERNS: Final[tuple[tuple[Sign, str, str], ...]] = (
    # sign, what a text with it must hold, pattern
    (Sign.SPOKEN_AT, "", r"[\[({<|*_-](?:at|dot|[앳닷점.])[\])}>|*_-]"),
    (Sign.LINK, "?", r"\?[a-z0-9_.\[\]-]{1,40}="),
    (Sign.DOTTED, ".", r"[0-9]\.[0-9]{1,3}\.[0-9]{1,3}\.[0-9]"),
    (Sign.COLONS, ":", r":[0-9a-f]{0,4}:"),
    (Sign.DIGITS, "", r"[0-9](?:[^0-9a-z가-힣,]{0,4}[0-9]){6}"),
    (Sign.CODES, "", r"[a-z]-?[0-9]{2}-?[0-9a-z]{4}"),
    (Sign.HOME, "~", r"~[a-z]"),
    (Sign.HOME, "/", r"[\\/](?:home|users|documentsandsettings)[\\/]"),
    (Sign.HOME, "\\", r"[\\/](?:home|users|documentsandsettings)[\\/]"),
)
_AT_APART: Final = re.compile(r"\s(?:[aAdD]\s*[oOtT]\s*[tT]?|앳)\s")


@lru_cache(maxsize=1)
def _compiled() -> tuple[AhoCorasick, tuple[int, ...], tuple[tuple[int, str, re.Pattern[str]], ...]]:
    patterns = tuple((int(sign), held, re.compile(pattern)) for sign, held, pattern in _PATTERNS)
    return AhoCorasick(list(_WORDS)), tuple(_WORDS.values()), patterns


def closed_signs(text: str, compact: str) -> int:
    """The bits of `Sign` that a text may show with more or less of its white space; 0 for most texts.

    Parameters
    ----------
    text : str
        Any text.
    compact : str
        The same without any white space.
    """
    words, bits, patterns = _compiled()
    lowered = compact.lower() if compact.isascii() else encodable(compact.lower())
    found = int(Sign.SPOKEN_AT) if _AT_APART.search(text) else 0
    for index, _, _ in words.find_matches_as_indexes(lowered, overlapping=True):
        found |= bits[index]
    for bit, held, pattern in patterns:
        if held in lowered and pattern.search(lowered):
            found |= bit
    return found
