"""Other words for a query that found little: synonyms, fewer words, another angle."""

from collections.abc import Iterator
from typing import Final

from coreloop.models.questions import search_words
from coreloop.research.plan import angled
from coreloop.runs.queries.words import read_query

FEW: Final = 3
"""Results; a query with fewer is reworded."""
_SYNONYMS: Final = (
    ("effect", "impact"), ("cause", "reason"), ("cost", "price"), ("increase", "growth"),
    ("decrease", "decline"), ("error", "failure"), ("remove", "delete"), ("create", "add"),
    ("영향", "효과"), ("원인", "이유"), ("가격", "비용"), ("증가", "상승"), ("감소", "하락"),
    ("오류", "실패"), ("삭제", "제거"), ("생성", "추가"), ("시작", "개시"),
)  # fmt: skip
_OTHER: Final = {word: other for pair in _SYNONYMS for word, other in (pair, pair[::-1])}


def reword(query: str) -> Iterator[tuple[str, str]]:
    """Yield other forms of a query and how they were made: ``synonyms``, ``broader``, ``other angle``."""
    words = query.split()
    others = _synonyms(words)
    if others != words:
        yield " ".join(others), "synonyms"
    kept = [word for word in words if read_query(word).words]
    if len(kept) > 1:
        yield " ".join(kept[: (len(kept) + 1) // 2]), "broader"
    yield angled(query, ("first principles",)), "other angle"


def own_words(text: str) -> Iterator[str]:
    """Yield queries of a question's own words and their synonyms alone: all of them, then all but one."""
    words = list(search_words(text))
    if not words:
        return
    yield " ".join(words)
    yield " ".join(_synonyms(words))
    for place in reversed(range(len(words)) if len(words) > 1 else range(0)):
        yield " ".join(words[:place] + words[place + 1 :])


def _synonyms(words: list[str]) -> list[str]:
    return [_OTHER.get(word.casefold(), word) for word in words]
