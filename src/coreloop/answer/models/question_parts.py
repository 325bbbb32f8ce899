"""What a question asks, without a model: its parts, how much work it needs, and whether it asks for yes."""

import re
from collections.abc import Iterable
from typing import Final

from coreloop.answer.models.contracts import Tier
from coreloop.answer.text.terms import search_words

MAX_PARTS: Final = 5
_PART: Final = re.compile(
    r"""(?<=[?？])\s+
      | (?:,|(?<![\s,]))\s++  # white space from its beginning: from each space of a run costs its square
        (?: 그리고\s+ | and\s+(?=(?:how|what|when|where|which|who|why)\b) )""",
    re.IGNORECASE | re.VERBOSE,
)  # "What is it, and why?" -> "What is it", "why?"
_MANY_WORDS: Final = 6  # chosen: one fact is asked with fewer


def question_parts(question: str) -> tuple[str, ...]:
    """Split a question into the questions that it consists of, at most `MAX_PARTS`."""
    parts = [part.strip() for part in _PART.split(question)]
    return tuple(dict.fromkeys(part for part in parts if part))[:MAX_PARTS]


def question_tier(question: str) -> Tier:
    """Say how much work a question needs, by its parts and words."""
    parts = len(question_parts(question))
    if parts > 2:
        return "deep"
    return "standard" if parts == 2 or len(search_words(question)) > _MANY_WORDS else "simple"


_ENGLISH: Final = (
    ("effect", "impact"), ("cause", "reason"), ("cost", "price"), ("increase", "growth"),
    ("decrease", "decline"), ("error", "failure"), ("remove", "delete"), ("create", "add"),
)  # fmt: skip
_KOREAN: Final = (
    ("영향", "효과"), ("원인", "이유"), ("가격", "비용"), ("증가", "상승"), ("감소", "하락"),
    ("오류", "실패"), ("삭제", "제거"), ("생성", "추가"), ("시작", "개시"),
)  # fmt: skip
_OTHER: Final = {word: other for pair in _ENGLISH + _KOREAN for word, other in (pair, pair[::-1])}


def with_synonyms(words: Iterable[str]) -> list[str]:
    """Replace each word by its synonym, if it has one."""
    return [_OTHER.get(word.casefold(), word) for word in words]
