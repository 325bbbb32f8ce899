"""Words that mean the same, for another query."""

from collections.abc import Iterable
from typing import Final

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
