"""Words of a search query without Korean particles, endings and function words.

Tables instead of a morphological analyser: duplicates need little of what it knows.
"""

import re
import unicodedata
from dataclasses import dataclass
from functools import lru_cache
from hashlib import sha256
from pathlib import Path
from typing import Final

MAX_QUERY_CHARS: Final = 500
_TEXT: Final = Path(__file__).with_name("words.tsv").read_text("utf-8")
_TABLES: Final = [line.split("\t") for line in _TEXT.splitlines()]


def _lines(name: str) -> list[list[str]]:
    """The words in each of a table's lines in words.tsv."""
    return [words.split() for table, words in _TABLES if table == name]


def _table(name: str) -> frozenset[str]:
    return frozenset().union(*_lines(name))


PARTICLES: Final = _table("particle")
ENDINGS: Final = _table("ending")
NOUN_LIKE: Final = _table("noun-like ending")
"""Endings that many nouns end in: 분할, 삼성전자, 경기, 토지."""
SPOKEN: Final = {"야", "이야"} | ENDINGS - _table("unspoken ending")
"""Tails of sentences, not of keywords."""
FUNCTION_WORDS: Final = _table("function word")
GLUE: Final = _table("glue")
"""Words that a text about anything may have; in queries they do count."""
REQUEST: Final = re.compile("^(?:알려|말해|말씀|찾아|골라|궁금|가르|알고싶|알수|여쭤|묻고|답해|보여줘|부탁)")
INTENTS: Final = {
    "how": re.compile(r"^(?:어떻|어떡|방법|how$)"),
    "where": re.compile(r"^(?:어디|어딘|어딜|어딨|곳|장소|where$)"),
    "when": re.compile(r"^(?:언제|며칠|몇일|날짜|요일|시기|시간|when$)"),
    "much": re.compile(r"^(?:얼마|몇|어느정도|much$|many$)"),
    "who": re.compile(r"^(?:누구|누가|누굴|who$|whom$|whose$)"),
    "why": re.compile(r"^(?:왜$|이유|why$)"),
    "": re.compile(r"^(?:뭐|뭘|뭔|무엇|무슨|어떤|어느|what$|which$)"),
}
"""Question words; those of the last row ask for anything."""
HOW_IS: Final = re.compile(r"어떻게\s?(?=[되돼됩된될])")
"""``어떻게 되나요`` asks what, not how."""
WHAT_TIME: Final = re.compile(r"몇\s?[시일월](?!간)")
IRREGULAR: Final = {form: word for word, *forms in _lines("irregular") for form in forms}
"""English forms that no ending tells: ``fell`` is ``fall``."""
_HANGUL: Final = re.compile("[가-힣]")
_CJK: Final = re.compile("[\u3040-\u30ff\u3400-\u9fff]")
_TOKEN: Final = re.compile(
    r"[가-힣]+|[\u3040-\u30ff\u3400-\u9fff]+|[^\W\d_가-힣\u3040-\u30ff\u3400-\u9fff]+[+#]*"  # C++, C#
)
_FIRST_SYLLABLE, _FINALS, _NIEUN = ord("가"), 28, 4
"""Hangul syllables follow each other in Unicode by their finals, 0 for none (chapter 3.12)."""
_TAILS: Final = PARTICLES | ENDINGS
_MAX_TAIL: Final = max(map(len, _TAILS))
# "JSON으로"
_FOREIGN_PARTICLE: Final = re.compile(rf"(?<=[a-z0-9+#%])(?:{'|'.join(sorted(PARTICLES))})(?![가-힣])")


@dataclass(frozen=True, slots=True)
class QueryWords:
    """What a query consists of.

    Attributes
    ----------
    text : str
        The query, cleaned and case-folded; equal texts are the same query.
    words, nouns : frozenset of str
        Stems without function words; those with a verb's ending are not among the nouns.
    letters, seen : frozenset of str
        Syllables, or pairs of Latin letters, of the words and of the whole query.
    trigrams : frozenset of str
        Three letters (Hangul: jamo) in a row of the joined words.
    joined : str
        The tokens without spaces.
    intents : frozenset of str
        ``how``, ``where``, ``when``, ``much``, ``who``, ``why``.
    is_keywords : bool
        The query is a list of words, without a question word, a function word or a verb's ending.
    """

    text: str
    words: frozenset[str]
    nouns: frozenset[str]
    letters: frozenset[str]
    seen: frozenset[str]
    trigrams: frozenset[str]
    joined: str
    intents: frozenset[str]
    is_keywords: bool


def shorten_query(query: str) -> str:
    """Return a query without control characters; a long one is cut and ends in a hash of the whole."""
    if len(query) > MAX_QUERY_CHARS:
        digest = sha256(query.encode("utf-8", "surrogatepass")).hexdigest()[:16]
        query = f"{query[: MAX_QUERY_CHARS - 18]} #{digest}"
    if not query.isprintable():
        query = "".join(" " if unicodedata.category(char)[0] in "CZ" else char for char in query)
    return " ".join(query.split())


@lru_cache(maxsize=1_024)
def read_query(query: str) -> QueryWords:
    """Split a query into what is compared."""
    text = " ".join(unicodedata.normalize("NFKC", shorten_query(query)).casefold().split())
    plain = _FOREIGN_PARTICLE.sub(" ", WHAT_TIME.sub("언제", HOW_IS.sub("뭐", text)))
    tokens = [_read_token(token) for token in _TOKEN.findall(plain)]
    joined = "".join(word for token in tokens for word in token.words)
    jamo = unicodedata.normalize("NFD", joined)
    words = frozenset(word for token in tokens for word in token.words)
    intents = frozenset(intent for token in tokens for intent in token.intents)
    return QueryWords(
        text=text,
        words=words,
        nouns=frozenset(word for token in tokens if token.is_noun for word in token.words),
        letters=frozenset(letter for word in words for letter in _word_letters(word)),
        seen=frozenset(letter for token in tokens for letter in _word_letters(token.text)),
        trigrams=frozenset(jamo[start : start + 3] for start in range(max(1, len(jamo) - 2)) if jamo),
        joined="".join(token.text for token in tokens),
        intents=intents - {""},
        is_keywords=not intents and not any(token.is_spoken for token in tokens),
    )


def content_words(text: str) -> frozenset[str]:
    """Return the stems that say what a text of any length is about; in Korean, those of its nouns."""
    folded = _FOREIGN_PARTICLE.sub(" ", unicodedata.normalize("NFKC", text).casefold())
    tokens = (_read_token(token) for token in _TOKEN.findall(folded))
    return frozenset(word for token in tokens if token.is_noun for word in token.words) - GLUE


def is_hangul(word: str) -> bool:
    """Whether a word starts in Hangul."""
    return _HANGUL.match(word) is not None


def is_korean(text: str) -> bool:
    """Whether a text has Hangul, composed or not."""
    return any(map(is_hangul, unicodedata.normalize("NFC", text)))


def _word_letters(word: str) -> list[str]:
    """Syllables of a Hangul or Han word; pairs of letters of another one."""
    if len(word) < 2 or is_hangul(word) or _CJK.match(word):
        return list(word)
    return [word[start : start + 2] for start in range(len(word) - 1)]


def _split_tail(token: str) -> tuple[str, str]:
    """Split a Hangul token into its stem and its last particle or ending; ``("메일", "이랑")``."""
    for length in range(min(_MAX_TAIL, len(token) - 1), 0, -1):
        if token[-length:] in _TAILS:
            return token[:-length], token[-length:]
    return token, ""


@dataclass(frozen=True, slots=True)
class _Token:
    """A token; ``words`` are its stems, empty for a function word."""

    text: str
    words: tuple[str, ...]
    intents: tuple[str, ...]
    is_noun: bool
    is_spoken: bool


@lru_cache(maxsize=8_192)
def _read_token(token: str) -> _Token:
    stem, tail = _split_tail(token) if is_hangul(token) else (token, "")
    intents = tuple(kind for kind, words in INTENTS.items() if words.match(token))
    is_function = token in FUNCTION_WORDS or REQUEST.match(token) is not None or bool(intents)
    words = () if is_function else tuple(word for word in _stems(token, stem) if word not in FUNCTION_WORDS)
    is_noun = not tail or tail in PARTICLES or tail in NOUN_LIKE
    return _Token(token, words, intents, is_noun, is_hangul(token) and (is_function or tail in SPOKEN))


def _stems(token: str, stem: str) -> list[str]:
    if is_hangul(token):
        is_present = token.endswith("다") and stem == token[:-1] and len(stem) > 1 and is_hangul(stem[-1])
        # 흐른다 is 흐르나요, and no noun ends in it.
        if is_present and (ord(stem[-1]) - _FIRST_SYLLABLE) % _FINALS == _NIEUN:
            stem = stem[:-1] + chr(ord(stem[-1]) - _NIEUN)
            return [stem]
        return [_split_tail(stem)[0]]
    if _CJK.match(token):
        return [token[start : start + 2] for start in range(max(1, len(token) - 1))]
    return [_english_stem(token)]


def _english_stem(word: str) -> str:
    word = IRREGULAR.get(word, word)
    if len(word) > 4 and word.endswith("ies"):
        return word[:-3] + "y"
    if len(word) > 3 and word.endswith("s") and not word.endswith(("ss", "us", "is")):
        word = word[:-1]
    for ending in ("ing", "ed"):
        if word.endswith(ending) and len(word) > len(ending) + 2:
            word = word[: -len(ending)]
            word = word[:-1] if word[-1] == word[-2] and word[-1] not in "ls" else word
            break
    return word[:-1] if len(word) > 3 and word.endswith("e") else word
