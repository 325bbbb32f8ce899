"""Words of a text as they are compared: Snowball's stems of Latin words, pairs of syllables of others.

Of Korean ones their morphemes, if `use_morphemes` chose them.
"""

import re
import unicodedata
from functools import cache, lru_cache
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Final

import Stemmer

from coreloop.base.extras import needs_extra

_RANGES: Final = (("가", "힣"), ("\u3040", "\u30ff"), ("\u3400", "\u4dbf"), ("\u4e00", "\u9fff"))
_CJK: Final = "".join(map("-".join, _RANGES))
_BEGINS_CJK: Final = re.compile(f"[{_CJK}]")
_WORD: Final = re.compile(
    rf"[{_CJK}]+|\d[\d,.]*(?:\d|(?<=\d))|[^\W_{_CJK}]+(?:[._'’-][^\W_{_CJK}]+)*[+#]*|\w+"
)
_CAMEL: Final = re.compile(r"(?<=[a-z])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])|[_.\-'’]+")
_STOP: Final = frozenset(Path(__file__).with_name("stop_words.txt").read_text("utf-8").split())
_MAX_CHARS: Final = 64  # of a word; what is longer is no word
_WRITTEN: Final = re.compile(r"[^\W_]+(?:[._'’,+#-]+[^\W_]+)*[+#]*")  # JSON으로, 2.5, C++, read_page
_TAIL: Final = re.compile(
    r"(?:(?<=[가-힣]{2})|(?<=[A-Za-z0-9]))"
    r"(?:(?:에서|에게|까지|부터|으로)[는의도]?|에는|보다|마다|이나|이야|인가요?|[은는이가을를의에로와과도만야])$|['’]s$"
)
# Nouns that end as if by a particle, below another noun: 목표주가, 대출한도, 시험결과; not: 주주가, 기한도
_NOUN: Final = re.compile(
    r"[가-힣](?:[가-힣](?:(?<!주)[주시추허대휴호고저]가|[속온밀농빈각습]도|(?<![기권])한도|[길깊높넓차]이|[결성경통]과)"
    r"|[원단물평국정증]가|[초효부]과|[경통]로)$"
)
_ASKING: Final = re.compile(
    r"(?:무엇|무슨|뭐|뭘|누구|누가|어디|어느|어떤|어떻|언제|몇|얼마|며칠|왜(?!곡)|인가요|있나|있는가|하나요|해요|되나요|돼요?$"
    r"|알려[줘주]|것[은을이]|때[는에]?$|수는?$)"
)


_CHOSEN: Final = {"morphemes": False}
_CONTENT: Final = ("N", "VV", "VA", "MAG", "XR", "SL", "SN")  # tags of what a text is about


def use_morphemes(*, wanted: bool) -> None:
    """Choose for this process how Korean words are compared: by their morphemes, or by pairs of syllables.

    Raises
    ------
    MissingExtraError
        The extra ``korean`` is not installed.
    """
    if wanted and find_spec("kiwipiepy") is None:
        raise needs_extra("korean", feature="search: {morphemes: true}")
    if wanted != _CHOSEN["morphemes"]:
        _terms.cache_clear()
    _CHOSEN["morphemes"] = wanted


_kiwi: Final = cache(lambda: import_module("kiwipiepy").Kiwi())  # takes a second


@lru_cache(maxsize=65_536)
def _morphemes(word: str) -> tuple[tuple[str, str, int], ...]:
    """Return the form, the tag and the place of each morpheme of a Korean word."""
    return tuple((part.form, part.tag, part.start) for part in _kiwi().tokenize(word))


def _analysed(word: str) -> tuple[tuple[str, str, int], ...]:
    return _morphemes(word) if _CHOSEN["morphemes"] and len(word) <= _MAX_CHARS and is_korean(word) else ()


def terms(text: str) -> list[str]:
    """Return the words of a text in order, without function and question words."""
    return [term for word in words_of(text) for term in _terms(word)]


def term_set(text: str) -> frozenset[str]:
    """Return the words of a text without repeats."""
    return frozenset(terms(text))


def keys(text: str) -> frozenset[str]:
    """Return a word for each word of a text: of Korean ones their beginning, which no particle changes."""
    return frozenset(key_list(text))


def key_list(text: str) -> list[str]:
    """Return the same in order, with repeats."""
    return [found[0] for word in words_of(text) if (found := _terms(word))]


def words_of(text: str) -> list[str]:
    """Return every word as it is written, composed and of plain width."""
    return _WORD.findall(unicodedata.normalize("NFKC", text))


def search_words(text: str) -> tuple[str, ...]:
    """Return the words to search for as they are written, without particles: those that have a term."""
    written = _WRITTEN.findall(unicodedata.normalize("NFKC", text))
    return tuple(dict.fromkeys(bare(word) for word in written if terms(word)))


def bare(word: str) -> str:
    """Return a word without its particle."""
    if found := _analysed(word):
        return word[: next((start for _, tag, start in found if tag[0] == "J"), len(word))]
    return word if _NOUN.search(word) else _TAIL.sub("", word)


def is_cjk(word: str) -> bool:
    """Whether a word is of Hangul, Han or kana."""
    return _BEGINS_CJK.match(word) is not None


def is_korean(text: str) -> bool:
    """Whether a text has Hangul, composed or not."""
    return re.search("[가-힣]", unicodedata.normalize("NFC", text)) is not None


@lru_cache(maxsize=65_536)
def _terms(word: str) -> tuple[str, ...]:
    if word[0].isdecimal():
        return (word.replace(",", "")[:_MAX_CHARS],)
    if word.isascii() or not is_cjk(word):
        return _stems(word[:_MAX_CHARS])
    if _ASKING.match(word):
        return ()
    parts = tuple(form for form, tag, _ in _analysed(word) if tag.startswith(_CONTENT))
    return parts or tuple(word[place : place + 2] for place in range(max(1, len(word) - 1)))


def _stems(word: str) -> tuple[str, ...]:
    """Return the stem of a Latin word; of an identifier also those of its parts."""
    low = word.casefold().replace("’", "'").removesuffix("'s")
    low = "find" if low == "found" else low  # not: founded
    if low in _STOP and word != "May" and (len(word) == 1 or not word.isupper()):  # IT and US are names
        return ()
    stem = Stemmer.Stemmer("english").stemWord  # a stemmer is not for several threads
    parts = [part.casefold() for part in _CAMEL.split(word) if part]
    words = (low, *(part for part in parts[1:] and parts if part not in _STOP))
    return tuple(dict.fromkeys(map(stem, words)))
