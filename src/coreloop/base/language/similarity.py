"""How alike the words of two queries are, as the logistic function of five measured features.

`benchmarks/duplicates.py` fits the weights and chooses the threshold.
"""

import math
from typing import Final

from coreloop.base.language.words import QueryWords, is_hangul

WEIGHTS: Final = {"words": 1.2, "letters": 5.1, "trigrams": 3.0, "swapped": -3.7, "intents": -0.5}
"""Dice coefficients of words, letters, trigrams; the smaller share of missing nouns; other question words."""
BIAS: Final = -3.6  # fitted with the weights
DUPLICATE_AT: Final = 0.86
"""Similarity from which a query is a duplicate."""
_JOINED_LETTERS: Final = 4
"""Letters from which a foreign word may be part of a longer one: ``scikit`` in ``scikitlearn``."""
_SHORT_WORDS: Final = 4
"""In a query of up to so many words, an exchanged noun is another subject."""


def features(first: QueryWords, other: QueryWords) -> dict[str, float]:
    """Return the values that `WEIGHTS` weighs; symmetric."""
    return {
        "words": _dice(first.words, other.words),
        "letters": _dice(first.letters, other.letters),
        "trigrams": _dice(first.trigrams, other.trigrams),
        "swapped": min(_missing_share(first, other), _missing_share(other, first)),
        "intents": len(first.intents ^ other.intents),
    }


def similarity(first: QueryWords, other: QueryWords) -> float:
    """Return 0–1; 1 for texts that differ in spaces alone, 0 for another subject; symmetric."""
    if first.text == other.text or (first.joined and first.joined == other.joined):
        return 1.0
    if not first.words or not other.words or is_other_subject(first, other):
        return 0.0
    weighed = BIAS + sum(WEIGHTS[name] * value for name, value in features(first, other).items())
    return 1 / (1 + math.exp(-weighed))


def word_similarity(first: QueryWords, other: QueryWords) -> float:
    """Return how much of their words two texts share, 0–1; whether they ask the same does not matter."""
    return (_dice(first.words, other.words) + _dice(first.trigrams, other.trigrams)) / 2


def is_other_subject(first: QueryWords, other: QueryWords) -> bool:
    """Return whether a question word, a foreign word, a keyword or a swapped noun shows another subject."""
    if first.intents and other.intents and not first.intents & other.intents:
        return True
    here, there = missing_words(first, other), missing_words(other, first)
    if any(not is_hangul(word) for word in here | there):
        return True
    here, there = here & first.nouns, there & other.nouns
    if first.is_keywords and other.is_keywords:
        return bool(here or there)
    return bool(here and there) and min(len(first.words), len(other.words)) <= _SHORT_WORDS


def missing_words(query: QueryWords, other: QueryWords) -> frozenset[str]:
    """Return the words of a query that the other lacks: of a Hangul word, at least half of the syllables."""
    return frozenset(word for word in query.words - other.words if not _is_in(word, other))


def _missing_share(query: QueryWords, other: QueryWords) -> float:
    missing = missing_words(query, other) & query.nouns
    return sum(map(len, missing)) / max(1, sum(map(len, query.words)))


def _is_in(word: str, other: QueryWords) -> bool:
    if is_hangul(word):
        return sum(letter in other.seen for letter in word) * 2 > len(word)
    return len(word) >= _JOINED_LETTERS and word in other.joined


def _dice(first: frozenset[str], other: frozenset[str]) -> float:
    total = len(first) + len(other)
    return 2 * len(first & other) / total if total else 0.0
