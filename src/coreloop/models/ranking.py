"""How likely each sentence of some sources answers a question. Korean and English; no model, no dictionary.

`benchmarks/answers.py` fits the weights, chooses the threshold and measures both on other questions.
"""

import math
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from coreloop.models.sentences import Sentence
from coreloop.runs.queries.words import is_hangul, stems

WEIGHTS: Final = {"letters": 7.8, "before": 2.5, "rank": 3.4, "kind": 0.8}
"""Of `Candidate.features`."""
BIAS: Final = -8.0
ANSWER_AT: Final = 0.52
"""Score from which a sentence counts as an answer; below it, the sources hold no evidence."""
_NUMBER: Final = re.compile(r"\d(?:[\d,.]*\d)?")  # 1,394.5
_ASKS_DATE: Final = re.compile(
    r"""언제 | [연년]도 | 몇\s?년(?!간|\s?동안) | 날짜 | 날은 | 며칠 | 몇\s?[월일] | 시기
      | \bwhen\b | \bwhat\s(?:year|date|day)""",
    re.VERBOSE,
)
_DATE: Final = re.compile(
    r"\d+\s?[년월일]|\b[12]\d{3}\b|세기|\b(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)\w*\s\d"
)
_ASKS_COUNT: Final = re.compile(r"몇\s?([가-힣%])")
_COUNT: Final = r"(?:\d|[한두세네섯곱덟홉열십백천만억])\s?"


@dataclass(frozen=True, slots=True)
class RankedSentence:
    """A sentence as a possible answer.

    Attributes
    ----------
    sentence : Sentence
        A part of a source.
    features : mapping of str to float
        ``letters``: the share of the question's letters (pairs of syllables, foreign words, numbers) that
        the sentence has, 0–1, rare ones counting more; ``before``: what the sentence before adds to it;
        ``rank``: 1 in the first source, 1/2 in the second, …; ``kind``: 1 if the question asks for a date or
        a count and the sentence has one, -1 if it has none, else 0.
    """

    sentence: Sentence
    features: Mapping[str, float]

    @property
    def score(self) -> float:
        """How likely the sentence answers the question, 0–1."""
        weighed = BIAS + sum(WEIGHTS[name] * value for name, value in self.features.items())
        return 1 / (1 + math.exp(-weighed))


def rank_sentences(question: str, sentences: Sequence[Sentence]) -> list[RankedSentence]:
    """Rank sentences as answers, the best first; those without a word of the question are left out.

    Parameters
    ----------
    question : str
        In Korean or English.
    sentences : sequence of Sentence
        Of the best source first, in the order of the source's text.

    Returns
    -------
    list of RankedSentence
        Without a threshold: if even the first scores less than `ANSWER_AT`, the answer is that there is none.
    """
    return sorted(_candidates(question, sentences), key=lambda candidate: -candidate.score)


def text_letters(text: str) -> frozenset[str]:
    """Return what texts are compared by: the letters of stems and numbers."""
    return word_letters([*stems(text), *_NUMBER.findall(text)])


def word_letters(words: Iterable[str]) -> frozenset[str]:
    """Return the pairs of syllables of Korean words; foreign words and numbers as they are."""
    return frozenset(part for word in words for part in _parts(word))


def _candidates(question: str, sentences: Sequence[Sentence]) -> Iterator[RankedSentence]:
    letters = [text_letters(sentence.text) for sentence in sentences]
    rarity = _rarity(text_letters(question), letters)
    places = {source: place for place, source in enumerate(dict.fromkeys(one.source for one in sentences))}
    before = Sentence(-1, ""), frozenset[str]()
    for sentence, own in zip(sentences, letters, strict=True):
        earlier = before[1] if before[0].source == sentence.source else frozenset()
        before = sentence, own
        if share := _share(own, rarity):
            features = {
                "letters": share,
                "before": _share(own | earlier, rarity) - share,
                "rank": 1 / (1 + places[sentence.source]),
                "kind": _kind(question, sentence.text),
            }
            yield RankedSentence(sentence, features)


def _parts(word: str) -> list[str]:
    if len(word) < 2 or not is_hangul(word):
        return [word]
    return [word[start : start + 2] for start in range(len(word) - 1)]


def _rarity(asked: frozenset[str], found: Sequence[frozenset[str]]) -> dict[str, float]:
    """Inverse document frequencies in the sentences that were found; what is in none of them weighs most."""
    counts = Counter(letter for letters in found for letter in letters & asked)
    return {letter: math.log(1 + (len(found) + 1) / (counts[letter] + 0.5)) for letter in asked}


def _share(letters: frozenset[str], rarity: Mapping[str, float]) -> float:
    # fsum: the order of a set differs between processes
    total = math.fsum(rarity.values())
    return math.fsum(rarity[letter] for letter in rarity.keys() & letters) / total if total else 0.0


def _kind(question: str, sentence: str) -> float:
    asked, said = question.casefold(), sentence.casefold()
    if _ASKS_DATE.search(asked):
        known = set(_NUMBER.findall(asked))
        return 1.0 if any(set(_NUMBER.findall(date)) - known for date in _DATE.findall(said)) else -1.0
    if counted := _ASKS_COUNT.search(asked):
        return 1.0 if re.search(_COUNT + counted[1], said) else -1.0
    return 0.0
