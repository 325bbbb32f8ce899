"""How many different questions a list of questions really holds."""

import re
from collections import Counter, defaultdict
from collections.abc import Sequence
from typing import Final

from coreloop.records import normalize_question

_NUMBER: Final = re.compile(r"[0-9a-z]*[0-9][0-9a-z]*")
"""An id, a number or a date in a normalised question: ``a1000`` of ``a1000은``, ``20260425``, ``3``."""


def distinct_questions(questions: Sequence[str]) -> list[int]:
    """Indices of the questions that are near no earlier kept one.

    Two questions are the same when the word sets of their normalised texts have a Jaccard similarity of 0.8
    or more. Ids, numbers and dates do not tell questions apart. A question without a word is the same as any
    other such question.

    Parameters
    ----------
    questions : sequence of str
        Raw texts; the order decides which of two near ones is kept.

    Returns
    -------
    list of int
        Ascending.

    Notes
    -----
    Prefix filtering: of two sets with a Jaccard similarity of at least t, the first
    ``len - ceil(t * len) + 1`` words of each, rarest first, share a word. So only few pairs are compared.

    References
    ----------
    Chaudhuri, Ganti, Kaushik (2006), A primitive operator for similarity joins in data cleaning, ICDE.
    """
    word_sets = [_words(question) for question in questions]
    frequency = Counter(word for words in word_sets for word in words)
    kept: list[int] = []
    kept_by_word: defaultdict[str, list[int]] = defaultdict(list)
    for index, words in enumerate(word_sets):
        ordered = sorted(words, key=lambda word: (frequency[word], word))
        prefix = ordered[: len(words) - -(-4 * len(words) // 5) + 1] or [""]
        near = {other for word in prefix for other in kept_by_word[word]}
        if any(_are_near(words, word_sets[other]) for other in near):
            continue
        kept.append(index)
        for word in prefix:
            kept_by_word[word].append(index)
    return kept


def _words(question: str) -> frozenset[str]:
    return frozenset(_NUMBER.sub("0", normalize_question(question)).split())


def _are_near(one: frozenset[str], other: frozenset[str]) -> bool:
    return 5 * len(one & other) >= 4 * len(one | other)
