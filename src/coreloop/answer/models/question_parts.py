"""What a question asks, without a model: its parts, and the words to search for."""

import re
import unicodedata
from typing import Final

from coreloop.answer.models.contracts import Tier
from coreloop.base.language.words import is_korean, read_query, split_tail

MAX_PARTS: Final = 5
_AUXILIARY: Final = re.compile(
    r"(?:is|are|was|were|am|do|does|did|can|could|will|would|should|shall|may|might|must|has|have|had)\b",
    re.IGNORECASE,
)
_KOREAN_YES_NO: Final = re.compile(r"(?:나요|가요|까요?|니까|[는은]지|[나냐니까]|어|아|죠|지)\s?[?？]?\Z")
_INTERROGATIVE: Final = re.compile(
    r"(?<![가-힣])(?:누구|누가|무엇|무슨|뭐|뭘|어디|언제|왜|어떤|어떻|어느|얼마|몇|며칠)"
)
_PART: Final = re.compile(
    r"""(?<=[?？])\s+
      | (?:,|(?<![\s,]))\s++  # white space from its beginning: from each space of a run costs its square
        (?: 그리고\s+ | and\s+(?=(?:how|what|when|where|which|who|why)\b) )""",
    re.IGNORECASE | re.VERBOSE,
)  # "What is it, and why?" -> "What is it", "why?"
_WORD: Final = re.compile(r"[^\W_]+(?:[.,+#-]+[^\W_]+)*[+#]*")  # 2.5, C++, e-mail
_FIRST_WORD: Final = re.compile(
    r"\b(?:(?P<way>how\s(?:to|do|can|could|should|would|must|may|might)\b)|how|what|when|where|which|who|why)\b",
    re.IGNORECASE,
)
_KOREAN_WAY: Final = re.compile(
    r"(?:어떻게|어떡)[^?？]{0,80}?(?:(?<![았었했였])(?:나요|까요?)|니까|[해하되]지|하죠|되죠|해|돼|하면|하려면)\b|방법(?:을|이)\b"
)  # 어떻게 설치하나요? not: 어떻게 되었는가?
_MANY_WORDS: Final = 6  # chosen: one fact is asked with fewer


def question_parts(question: str) -> tuple[str, ...]:
    """Split a question into the questions that it consists of, at most `MAX_PARTS`."""
    parts = [part.strip() for part in _PART.split(question)]
    return tuple(dict.fromkeys(part for part in parts if part))[:MAX_PARTS]


def search_words(text: str) -> tuple[str, ...]:
    """Return the words of a question without question words, function words and Korean particles."""
    words = (word for word in _WORD.findall(text) if word[0].isdecimal() or read_query(word).words)
    return tuple(dict.fromkeys(map(_without_particle, words)))


def question_tier(question: str) -> Tier:
    """Say how much work a question needs, by its parts and words."""
    parts = len(question_parts(question))
    if parts > 2:
        return "deep"
    return "standard" if parts == 2 or len(search_words(question)) > _MANY_WORDS else "simple"


def asks_yes_or_no(question: str) -> bool:
    """Whether a question can be answered by yes or no: ``Is it open?``, ``열려 있나요?``."""
    text = unicodedata.normalize("NFKC", question).strip()
    if _AUXILIARY.match(text):
        return True
    return is_korean(text) and not _INTERROGATIVE.search(text) and _KOREAN_YES_NO.search(text) is not None


def asks_how(question: str) -> bool:
    """Whether a question asks for a way to do something: ``How can I …``; not: ``How long is …``."""
    if is_korean(question):
        return _KOREAN_WAY.search(unicodedata.normalize("NFC", question)) is not None
    first = _FIRST_WORD.search(question)
    return first is not None and first["way"] is not None


def _without_particle(word: str) -> str:
    stem = split_tail(word)[0]
    return stem if len(stem) > 1 else word  # 회의 is a word, not 회 with a particle
