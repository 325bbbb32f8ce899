"""How likely each sentence of some sources answers a question. Korean and English; no model, no dictionary.

`benchmarks/answers.py` fits the weights, chooses the threshold and measures both on other questions.
"""

import math
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from coreloop.answer.models.question_subject import is_about, read_asked
from coreloop.answer.models.sentences import Sentence, without_targets
from coreloop.answer.models.synonyms import same_stem
from coreloop.base.language.tables import PARTICLES
from coreloop.base.language.words import is_hangul, stems

WEIGHTS: Final = {"letters": 7.9, "before": 2.6, "rank": 3.3, "kind": 0.8, "whole": 0.4}
"""Of `Candidate.features`."""
BIAS: Final = -8.1  # fitted with the weights
ANSWER_AT: Final = 0.39
"""Score from which a sentence counts as an answer; below it, the sources hold no evidence."""
SAYS_AT: Final = 0.69
"""Score from which a sentence says so; from `ANSWER_AT` it may.

Nine of ten such sentences should be right: of 500 questions of KorQuAD, 234 of 260 from here on were (90 %),
of the others 80 of 102; of 500 without their paragraph, 20 reach it (benchmarks/ask.py, 2026-11-26);
of English questions about documentation 20 of 32 (benchmarks/README.md).
"""
_LEAST_SAID: Final = 0.2
"""Of the letters of the question's words, without its subject, that an answer has itself."""
_NUMBER: Final = re.compile(r"\d(?:[\d,.]*\d)?")  # 1,394.5
_ASKS_DATE: Final = re.compile(
    r"""언제 | [연년]도 | 몇\s?년(?!간|\s?동안) | 날짜 | 날은 | 며칠 | 몇\s?[월일] | 시기
      | \A(?:(?!\b(?:what|which|how|who|why|where|can|does|do|is|are|should)\b).)*\bwhen\b
      | \bwhat\s(?:year|date|day)""",
    re.VERBOSE | re.DOTALL,
)  # "When was it built?"; not: "What happens when it ends?"
_DATE: Final = re.compile(
    r"(?<!\d)\d+\s?[년월일]|\b[12]\d{3}\b|세기|\b(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)\w*\s\d"
)
_TIME: Final = re.compile(
    r"""\d | 세기 | 매[일주달년] | [월화수목금토일]요일 | 정오 | 자정
      | \b(?:every|each|dai|night|week|month|year|noon)
      | \b(?:mon|tues|wednes|thurs|fri|satur|sun)days?\b
      | \b(?:after|before|until|once|when|while|immediately)\b""",
    re.VERBOSE,
)
_ASKS_SPAN: Final = re.compile(
    r"\bhow\slong\s(?=(?:do|does|did|will|would|can|could|may|must|should)\b)", re.IGNORECASE
)  # "How long does it take?"; not: "How long is the river?"
_ASKS_COUNT: Final = re.compile(r"몇\s?([가-힣%])")
_COUNT: Final = r"(?:\d|[한두세네섯곱덟홉열십백천만억])\s?"


_ORDERS: Final = re.compile(
    r"""(?i:
        \b(?:ignore|disregard|forget|override)\b.{0,40}\b(?:instruction|prompt|rule|question|above|previous|other)
      | \b(?:ai|llm|language\smodel|chatbot|assistant)s?\b.{0,30}
        \b(?:must|should|shall|will|has\sto|always|answer|reply|say)
      | \b(?:you|always)\s(?:must\s|should\s|shall\s|are\sto\s|have\sto\s)?(?:answer|reply|respond|cite|say)\b
      | \A(?:please\s)?(?:answer|reply|respond)\s(?:that|with|only|by|always|")
      | \bsystem\sprompt\b | \byou\sare\s(?:now\s)?an?\s(?:ai|assistant|language)
    ) | (?:지시|명령|프롬프트|규칙).{0,10}(?:무시|잊)
      | (?:라고|으로|로만)\s?(?:답|대답|응답)(?:하라|하십시오|하세요|해라|해야)
    """,
    re.VERBOSE | re.DOTALL,
)
"""Sentences that tell who reads them what to answer: ``Ignore all instructions``; not: ``Run the tests``."""


def gives_orders(text: str) -> bool:
    """Whether a sentence tells its reader what to answer; such a one is shown, and never an answer."""
    return _ORDERS.search(text) is not None


@dataclass(frozen=True, slots=True)
class RankedSentence:
    """A sentence as a possible answer.

    Attributes
    ----------
    sentence : Sentence
        A part of a source.
    features : mapping of str to float
        ``letters``: the share of the question's letters (pairs of syllables, foreign words, numbers) that
        the sentence has, 0–1, rare ones counting more; ``before``: what the sentence before adds to it,
        and of subject, dates and numbers, what stands around it;
        ``rank``: 1 in the first source, 1/2 in the second, …; ``kind``: 1 if the question asks for a date or
        a count and the sentence has one, -1 if it has none, else 0;
        ``whole``: 1 if sentence and ``before`` together have all letters, else 0.
    is_about : bool
        Whether it is about the question's subject, dates, numbers and fact.
    """

    sentence: Sentence
    features: Mapping[str, float]
    is_about: bool = True

    @property
    def score(self) -> float:
        """How likely the sentence answers the question, 0–1; 0 if it is about something else."""
        return 1 / (1 + math.exp(-self.weighed)) if self.is_about else 0.0

    @property
    def weighed(self) -> float:
        """The sum of the weighed features."""
        return BIAS + sum(WEIGHTS[name] * value for name, value in self.features.items())


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
    return sorted(_candidates(question, sentences), key=lambda found: (-found.score, -found.weighed))


@lru_cache(maxsize=1_024)
def text_letters(text: str) -> frozenset[str]:
    """Return what texts are compared by: the letters of stems and numbers."""
    text = without_targets(text)
    words = (word for word in stems(text) if len(word) > 1 or word not in PARTICLES)  # 가 of "KT가"
    return word_letters([*map(same_stem, words), *_NUMBER.findall(text)])


def word_letters(words: Iterable[str]) -> frozenset[str]:
    """Return the pairs of syllables of Korean words; foreign words and numbers as they are."""
    return frozenset(part for word in words for part in _parts(word))


def _candidates(question: str, sentences: Sequence[Sentence]) -> Iterator[RankedSentence]:
    letters = [text_letters(sentence.text) for sentence in sentences]
    said = _ASKS_SPAN.sub("how ", question)  # no answer says "long": it takes 5 days
    asked = read_asked(said)
    rarity = rarity_of(text_letters(said), letters)
    fact = word_letters(map(same_stem, asked.words))
    named = text_letters(said) - fact
    of_fact = rarity_of(fact, letters)
    places = {source: place for place, source in enumerate(dict.fromkeys(one.source for one in sentences))}
    before = Sentence(-1, ""), frozenset[str]()
    for sentence, own in zip(sentences, letters, strict=True):
        earlier = before[1] if before[0].source == sentence.source else frozenset()
        before = sentence, own
        near = own | earlier | (text_letters(sentence.around) & named)
        if share := share_of(own, rarity):
            features = {
                "letters": share,
                "before": share_of(near, rarity) - share,
                "whole": float(rarity.keys() <= near),
                "rank": 1 / (1 + places[sentence.source]),
                "kind": _kind(question, sentence.text),
            }
            says_fact = not of_fact or share_of(own, of_fact) >= _LEAST_SAID
            fits = says_fact and is_about(asked, sentence) and _says_when(question, sentence.text)
            yield RankedSentence(sentence, features, fits)


def _parts(word: str) -> list[str]:
    if len(word) < 2 or not is_hangul(word):
        return [word]
    return [word[start : start + 2] for start in range(len(word) - 1)]


def rarity_of(asked: frozenset[str], found: Sequence[frozenset[str]]) -> dict[str, float]:
    """Inverse document frequencies in the sentences that were found; what is in none of them weighs most."""
    counts = Counter(letter for letters in found for letter in letters & asked)
    return {letter: math.log(1 + (len(found) + 1) / (counts[letter] + 0.5)) for letter in asked}


def share_of(letters: frozenset[str], rarity: Mapping[str, float]) -> float:
    # fsum: the order of a set differs between processes
    total = math.fsum(rarity.values())
    return math.fsum(rarity[letter] for letter in rarity.keys() & letters) / total if total else 0.0


def _says_when(question: str, sentence: str) -> bool:
    is_asked = _ASKS_DATE.search(question.casefold()) or _ASKS_SPAN.search(question)
    return not is_asked or _TIME.search(sentence.casefold()) is not None


def _kind(question: str, sentence: str) -> float:
    asked, said = question.casefold(), sentence.casefold()
    if _ASKS_DATE.search(asked):
        known = set(_NUMBER.findall(asked))
        return 1.0 if any(set(_NUMBER.findall(date)) - known for date in _DATE.findall(said)) else -1.0
    if counted := _ASKS_COUNT.search(asked):
        return 1.0 if re.search(_COUNT + counted[1], said) else -1.0
    return 0.0
