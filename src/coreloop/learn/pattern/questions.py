"""Different questions in a list of questions, without near duplicates."""

import re
from collections import Counter, defaultdict
from collections.abc import Sequence
from typing import Final

from coreloop.base.records import normalize_question

_NUMBER: Final = re.compile(r"(?<![0-9a-z])[a-z]*[0-9][0-9a-z]*")  # from the start of a word: linear
"""An id, a number or a date in a normalised question: ``a1000`` of ``a1000은``, ``20260425``, ``3``."""


def distinct_questions(questions: Sequence[str]) -> list[int]:
    """Indices of the questions that are not near duplicates of an earlier question in the result.

    Two questions are near duplicates if the word sets of their normalised texts have a Jaccard similarity of
    at least 0.8. Ids, numbers and dates are ignored. All questions without a word are duplicates.

    Parameters
    ----------
    questions : sequence of str
        Raw texts; of two near duplicates, the first is distinct.

    Returns
    -------
    list of int
        Ascending.

    Notes
    -----
    Prefix filtering: of two sets with a Jaccard similarity of at least t, the first
    ``len - ceil(t * len) + 1`` words of each, rarest first, share a word. So few pairs are compared.

    References
    ----------
    Chaudhuri, Ganti, Kaushik (2006), A primitive operator for similarity joins in data cleaning, ICDE.
    """
    word_sets = [_words(question) for question in questions]
    frequency = Counter(word for words in word_sets for word in words)
    distinct: list[int] = []
    distinct_by_word: defaultdict[str, list[int]] = defaultdict(list)
    for index, words in enumerate(word_sets):
        ordered = sorted(words, key=lambda word: (frequency[word], word))
        prefix = ordered[: len(words) - -(-4 * len(words) // 5) + 1] or [""]
        similar = {other for word in prefix for other in distinct_by_word[word]}
        if any(_are_near(words, word_sets[other]) for other in similar):
            continue
        distinct.append(index)
        for word in prefix:
            distinct_by_word[word].append(index)
    return distinct


def _words(question: str) -> frozenset[str]:
    return frozenset(_NUMBER.sub("0", normalize_question(question)).split())


def _are_near(words: frozenset[str], others: frozenset[str]) -> bool:
    return 5 * len(words & others) >= 4 * len(words | others)
