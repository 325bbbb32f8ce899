"""Whether cited texts say what a sentence says, without a model.

A sentence must find its dates, amounts, names and negation, and enough of its words together.
`benchmarks/citations.py` chooses the threshold and measures on claims that people judged.
"""

import re
from collections.abc import Sequence
from itertools import pairwise
from typing import Final

from coreloop.answer.models.dates import Date, holds_date
from coreloop.answer.models.ranking import word_letters
from coreloop.answer.models.sentences import split_sentences
from coreloop.answer.research.claim import ComparedText, plain_text, read_statement
from coreloop.answer.research.findings import Supported, Unsupported
from coreloop.answer.research.quantities import Quantity, is_rounded
from coreloop.base.language.words import is_hangul

SUPPORTED_AT: Final = 0.28
"""Overlap from which a sentence is supported: the best macro-F1 of the judged claims that choose it."""
_SAME_NAME: Final = 5
"""Letters from which two forms of a name are one: ``America``, ``American``; initials may be as long."""
_SAME_SUBJECT: Final = 0.6
"""Share of a claim's letters from which a sentence is about the same thing."""
_ONE_CLAUSE: Final = 6
"""Words up to which a denial is the claim; with 12, macro-F1 falls by 0.010."""
_AS_GOOD: Final = 0.9
"""Part of the best share from which another sentence says as much."""


def check_support(sentence: str, cited_texts: Sequence[str]) -> Supported | Unsupported:
    """Check whether the cited texts say what a sentence says.

    Parameters
    ----------
    sentence : str
        Of an answer; its citations are ignored.
    cited_texts : sequence of str
        The texts of all sources that the sentence cites.
    """
    evidence = CitedTexts(cited_texts)
    claim = read_statement(sentence)
    if lack := evidence.lack(claim):
        return lack
    if evidence.quotes(sentence):
        return Supported(1.0)
    score = evidence.overlap(claim)
    if score < SUPPORTED_AT:
        return Unsupported("words", "the cited text has too few of the sentence's words together")
    return Supported(score)


class CitedTexts:
    """Cited texts, read once for several sentences."""

    def __init__(self, texts: Sequence[str]) -> None:
        self._flat = " ".join(_flat(text) for text in texts)
        self._whole = read_statement("\n".join(texts))
        self._sentences = [read_statement(part) for text in texts for part in split_sentences(text)]
        self._pairs = {frozenset(pair) for pair in pairwise(self._whole.subject)}
        self._beginnings = {token[:_SAME_NAME] for token in self._whole.tokens}
        self._letters = word_letters(self._whole.tokens)
        self._joined = self._flat.replace(" ", "")
        self._initials = "".join(token[0] for token in self._whole.tokens)

    def quotes(self, sentence: str) -> bool:
        """Whether a sentence stands in the texts word for word."""
        quote = _flat(plain_text(sentence))
        return bool(quote) and f" {quote} " in f" {self._flat} "

    def lack(self, claim: ComparedText) -> Unsupported | None:
        """The first date, amount, name or negation that the texts do not have."""
        if dates := self._missing_dates(claim):
            return Unsupported("date", f"the cited text does not have the date {dates[0].shown}")
        if amounts := self._missing_amounts(claim):
            return Unsupported("number", f"the cited text does not have the number {amounts[0].text}")
        if names := [name for name in claim.names if not self._has_name(name)] or self._exchanged(claim):
            return Unsupported("name", f"the cited text does not mention {names[0]}")
        if self._is_denied(claim):
            return Unsupported("negation", "the sentence or the cited text denies what the other says")
        return None

    def overlap(self, claim: ComparedText) -> float:
        """Return how much of a claim the texts have, 0–1.

        A third is the largest share of its letters in one sentence, the rest the share of its neighbouring
        words that are neighbours in the texts.
        """
        best = self._coverage(claim)
        pairs = [frozenset(pair) for pair in pairwise(claim.subject)]
        together = sum(pair in self._pairs for pair in pairs) / len(pairs) if pairs else best
        return (best + 2 * together) / 3

    def _coverage(self, claim: ComparedText) -> float:
        return max((_share(claim, part) for part in self._sentences), default=0.0)

    def _near(self, claim: ComparedText) -> list[ComparedText]:
        """The sentences that say most of it, with the one before each; all if none says enough."""
        shares = [_share(claim, part) for part in self._sentences]
        best = max(shares, default=0.0)
        if best < _SAME_SUBJECT:
            return self._sentences
        places = [place for place, share in enumerate(shares) if share >= _AS_GOOD * best]
        return [self._sentences[near] for place in places for near in (place - 1, place) if near >= 0]

    def _missing_dates(self, claim: ComparedText) -> list[Date]:
        near = self._near(claim)
        found = tuple(date for part in near for date in part.dates)
        known = {date.year for date in self._whole.dates}
        years = {amount.value for part in near for amount in part.quantities}
        return [
            date
            for date in claim.dates
            if not holds_date(found, date, known) and not (date == Date(date.year) and date.year in years)
        ]

    def _missing_amounts(self, claim: ComparedText) -> list[Quantity]:
        found = [amount for part in self._near(claim) for amount in part.quantities]
        return [
            amount for amount in claim.quantities if not any(is_rounded(amount, other) for other in found)
        ]

    def _has_name(self, name: str) -> bool:
        is_long = len(name) >= _SAME_NAME or is_hangul(name) or any(map(str.isdigit, name))  # A380
        if name[:_SAME_NAME] in self._beginnings or (is_long and name in self._joined):
            return True
        return len(name) <= _SAME_NAME and name in self._initials

    def _exchanged(self, claim: ComparedText) -> list[str]:
        """Korean nouns that are new, in a claim that has most of a sentence: names, as far as words tell."""
        if self._coverage(claim) < _SAME_SUBJECT:
            return []
        return [noun for noun in claim.nouns if not self._has_most_of(noun)]

    def _has_most_of(self, noun: str) -> bool:
        letters = word_letters([noun])
        return len(letters & self._letters) * 2 > len(letters)

    def _is_denied(self, claim: ComparedText) -> bool:
        is_short = len(claim.subject) <= _ONE_CLAUSE
        if claim.is_denial and is_short and not self._whole.is_denial and not self._whole.denied:
            return True
        best = self._coverage(claim)
        near = [part for part in self._sentences if _share(claim, part) >= _AS_GOOD * best]
        return best >= _SAME_SUBJECT and all(denies(claim, part) or denies(part, claim) for part in near)


def denies(one: ComparedText, other: ComparedText) -> bool:
    """Return whether a statement denies a word that another one has without denying it."""
    return bool((one.denied & other.letters) - other.denied)


def _share(claim: ComparedText, part: ComparedText) -> float:
    return len(claim.letters & part.letters) / len(claim.letters) if claim.letters else 0.0


def _flat(text: str) -> str:
    return re.sub(r"\W+", " ", text.casefold()).strip()
