"""Words of a search query without Korean particles, endings and function words.

Tables instead of a morphological analyser: duplicates need little of what it knows.
"""

import re
import unicodedata
from dataclasses import dataclass
from functools import lru_cache
from hashlib import sha256
from typing import Final

MAX_QUERY_CHARS: Final = 500


def _table(words: str) -> frozenset[str]:
    return frozenset(words.split())


PARTICLES: Final = _table("""
    이 에 가 는 을 은 로 를 도 이랑 에서 랑 과 의 와 으로 이야 야 한테 까지 에는 들 만 보다 부터 이나 께
    로는 들이 들을 들의 께서 에게 로부터 이라고 에서는 에선 들은 으로는 으로부터 에도 에게서 처럼 마다
""")
ENDINGS: Final = _table("""
    기 게 지 고 니 어 마 해 나 한 아 인지 하는 나요 할 면 는지 요 까 인가요 하고 서 죠 다 을까 래 음 는게
    입니까 된 하 가요 는데 은데 자 할지 하려면 습니까 라 십니까 어요 까요 세요 하지 던 을까요 라고 냐 하나요
    되어 시는 시나요 해줘 일지 을지 네 하는지 하는게 는거야 려면 하기 일까 으면 거야 신가요 지요 인가 할까
    하니 하게 돼 해서 하면 은지 는거 하세요 해야 되 할까요 어서 는건 줘 하는데 일까요 었어 었나 해요 꺼야
    되는 려고 었지 이니 했 하려고 으려면 하시나요 이에요 건지 한다 습니다 었는지 해봐 이었 는가 였나 했던
    해줄래 였어 해도 합니다 했습니까 입니다
""")
NOUN_LIKE: Final = _table("할 자 기 지")
"""Endings that many nouns end in: 분할, 삼성전자, 경기, 토지."""
SPOKEN: Final = {"야", "이야"} | ENDINGS - _table("""
    할 자 기 지 해 한 서 나 마 고 어 아 게 니 다 음 라 네 하 된 되 돼 던 줘
""")
"""Tails of sentences, not of keywords."""
FUNCTION_WORDS: Final = _table("""
    중 있 더 수 되 좋 하 싶 해 시 때 것 너 지금 좀 아 한 알 거 했 예정 주 다 네 할 내 보 말 돼 나 가능 당신
    원 게 쪽 통 저 건 혹시 둘 걸 지 야 엄 같 아님 생각 될 그쪽 자 선생님 손님 너희 이 그 제 현재 사람 관련
    정보 대한 대해 대하 위한 a an the of for in on at by with to from and or is are was were be been do does
    did can could should would will i me my we our you your it its this that these those there please tell
    show find give get about using use used any some into as s t want need know looking have has had
    they them their theirs he him his she her hers himself herself themselves itself
""")
GLUE: Final = _table("""
    if but not no nor than then so because while after before during between more most other such only own
    same both each few all one two up down out over under again once too very just now also may might must
    shall having being doing yes per via onto upon within without through across against among around above
    below every either neither whether though although since until unless however never ever always still yet
    even well else etc vs off really true false thing
    또 및 등 모두 각각 가장 매우 여부 경우 때문 이런 그런 저런 다른 모든 정말 과연 역시 바 이미 아직 매 각 인
    그것 이것 하나 둘 사실 것 이유 그리고 그러나 하지만 만약 만일
""")
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
_IRREGULAR: Final = """
    fall fell fallen, rise rose risen, grow grew grown, make made, give gave given, take took taken,
    come came, become became, go went gone, hold held, say said, pay paid, sell sold, buy bought,
    build built, lead led, leave left, lose lost, win won, write wrote written, begin began begun,
    bring brought, think thought, find found, tell told, know known knew, show shown, sing sang sung,
    speak spoke spoken, stand stood, meet met, keep kept, send sent, spend spent, draw drew drawn,
    drive drove driven, choose chose chosen, break broke broken, run ran, see saw seen, fight fought,
    teach taught, catch caught, mean meant, bear born, child children, person people, man men, woman women,
    foot feet, tooth teeth, mouse mice
"""
IRREGULAR: Final = {form: word for word, *forms in map(str.split, _IRREGULAR.split(",")) for form in forms}
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
        query = "".join(char if _is_text(char) else " " for char in query)
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


def _final(syllable: str) -> int:
    """Return the number of a syllable's final consonant, 0 for none."""
    return (ord(syllable) - _FIRST_SYLLABLE) % _FINALS


def _stems(token: str, stem: str) -> list[str]:
    if is_hangul(token):
        is_present = token.endswith("다") and stem == token[:-1] and len(stem) > 1 and is_hangul(stem[-1])
        if is_present and _final(stem[-1]) == _NIEUN:  # 흐른다 is 흐르나요, and no noun ends in it
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


def _is_text(char: str) -> bool:
    return unicodedata.category(char)[0] not in "CZ"
