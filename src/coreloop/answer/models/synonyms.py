"""Words that mean the same: for another query, and for a sentence that answers in other words."""

from collections.abc import Iterable
from typing import Final

from coreloop.base.language.words import stems

_ENGLISH: Final = (
    ("effect", "impact"), ("cause", "reason"), ("cost", "price"), ("increase", "growth"),
    ("decrease", "decline"), ("error", "failure"), ("remove", "delete"), ("create", "add"),
)  # fmt: skip
_KOREAN: Final = (
    ("영향", "효과"), ("원인", "이유"), ("가격", "비용"), ("증가", "상승"), ("감소", "하락"),
    ("오류", "실패"), ("삭제", "제거"), ("생성", "추가"), ("시작", "개시"),
)  # fmt: skip
_CODE: Final = (
    ("parameter", "argument"), ("parameter", "매개변수"), ("parameter", "파라미터"), ("parameter", "인자"),
    ("returns", "반환"), ("returns", "반환값"), ("field", "필드"), ("column", "컬럼"),
)  # fmt: skip
"""Of docstrings, which are in English where questions about them are not."""
_OTHER: Final = {word: other for pair in _ENGLISH + _KOREAN for word, other in (pair, pair[::-1])}
_SAME_STEM: Final = {
    stem: first for one, other in _ENGLISH + _CODE for first in stems(one) for stem in stems(other)
}
"""Without the Korean ones: on KorQuAD they find no answer more, and invent one in 2,000."""


def with_synonyms(words: Iterable[str]) -> list[str]:
    """Replace each word by its synonym, if it has one."""
    return [_OTHER.get(word.casefold(), word) for word in words]


def same_stem(stem: str) -> str:
    """Return the stem that stands for an English stem and its synonym."""
    return _SAME_STEM.get(stem, stem)
