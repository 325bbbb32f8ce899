"""Other words for a query that found little: synonyms, fewer words, another angle."""

from collections.abc import Iterator
from typing import Final

from coreloop.answer.models.synonyms import with_synonyms
from coreloop.answer.research.next_queries import angled
from coreloop.answer.text.terms import search_words
from coreloop.base.language.words import read_query

FEW: Final = 3
"""Results; a query with fewer is reworded."""


def reword(query: str) -> Iterator[tuple[str, str]]:
    """Yield other forms of a query and how they were made: ``synonyms``, ``broader``, ``other angle``."""
    words = query.split()
    others = with_synonyms(words)
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
    yield " ".join(with_synonyms(words))
    for place in reversed(range(len(words)) if len(words) > 1 else range(0)):
        yield " ".join(words[:place] + words[place + 1 :])
