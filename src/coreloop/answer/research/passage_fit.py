"""How well whole passages fit a question, and whether they show a way by code, steps or its name."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import PurePosixPath
from typing import Final

from coreloop.answer.models.offline import can_answer
from coreloop.answer.models.question_parts import asks_how
from coreloop.answer.models.question_subject import is_about, read_asked, says_all
from coreloop.answer.models.ranking import (
    ANSWER_AT,
    SAYS_AT,
    RankedSentence,
    rarity_of,
    share_of,
    text_letters,
)
from coreloop.answer.models.sentences import Sentence
from coreloop.answer.search.source import Source

FITS_AT: Final = 0.7
"""Fit from which a passage with code may say how; chosen on questions about click and httpx.

With `_NEAR`, 23 of 33 are answered, 22 of them by the right passage first, and 2 of 41 that the project does
not answer (2026-11-26).
"""
WORDS_AT: Final = 0.8
"""Share of the words from which a passage may say anything else.

Of 138 questions of KorQuAD that no sentence answers, 13 reach it with their paragraph; of 454 without, none.
"""
_OF_HEADING: Final = 0.3  # this and the next: see below
_OF_CODE: Final = 0.3  # see below
_OF_SENTENCE: Final = 0.3
"""Parts of the order of passages beside the share of the words; chosen on questions about click and httpx."""
_SURE_HEADING: Final = 0.5
"""Share of the words in a heading from which code below it, with all of them, says how."""
_NEAR: Final = 0.4
"""Share of the words that the heading or the sentence has itself; else they stand anywhere in the passage."""
_ALL: Final = 0.99  # all of them: shares are sums of floats
_OF_MEANS: Final = 1.0
"""What naming the means counts beside the weighed words of a sentence: about an eighth of these."""
_SAME_WORD: Final = 6
"""Letters from which two words are one: ``connect``, ``connections``; not ``content``, ``context``."""
_BELOW: Final = 80
"""Characters below a sentence in which code begins that belongs to it."""
_CODE: Final = re.compile(
    r"""^\ *(?:`{3} | ~{3} | >>>\ | \$\ | \.\.\ [\w:-]*(?:code|example|run|test|prompt)[\w-]*::)
      | ::\n\n\ +\S                                          # what reStructuredText announces
      | ^\ *2[.)]\ \S                                        # a second step""",
    re.VERBOSE | re.MULTILINE,
)
_MEANS: Final = re.compile(
    r"""`[^`\n]+` | \A:param\s
      | \b(?:by\s\w+ing | you\s(?:can|must|may|need|should|have\sto) | using)\b
      | \A[-*\d.)\s]*(?:to\s[^,.]+,\s)?(?:add|apply|call|choose|click|configure|create|define|enter
        | install|open|pass|pick|press|run|select|send|set|specify|start|type|use|write)\s
      | 하려면 | 으?면\s | 을\s통해 | 를\s통해 | 사용해 | 이용해 | (?:세요|십시오|시오)\b | 할\s수\s있""",
    re.VERBOSE | re.IGNORECASE,
)  # Pass `timeout`. You can run it. By setting it. Not: The default is fast.
_NO_MEANS: Final = re.compile(
    r"\A(?:if|when|while|since|because)\b|\bnot\b|n['’]t\b|\bno\slonger\b|지\s?(?:않|못)|없", re.IGNORECASE
)
_CHANGES: Final = re.compile(
    r"(?:change|release[-_ ]?note|history|news|what[-_]?s[-_]?new|변경)", re.IGNORECASE
)
DECLARED: Final = frozenset({"symbol", "schema"})
_CAMEL: Final = re.compile(r"(?<=[a-z])(?=[A-Z])")  # StaticFiles has static and files


@dataclass(frozen=True, slots=True)
class Fit:
    """How well a passage fits a question.

    Attributes
    ----------
    quote : RankedSentence
        The sentence of the passage to mark.
    words, heading : float
        Shares of the question's words that the passage and its heading have, 0–1; rare ones count more.
    has_code : bool
        Whether the passage has code or steps.
    is_means : bool
        Whether the sentence says by what something is done, or stands right above the code that does it.
    says_all : bool
        Whether the sentence is as sure as one that says so, and it or what is around it has every word.
    is_declared : bool
        Whether it is of a docstring or a schema, which shows less than a guide.
    """

    quote: RankedSentence
    words: float
    heading: float
    has_code: bool
    is_means: bool
    says_all: bool
    is_declared: bool

    @property
    def order(self) -> float:
        """What passages are ordered by, the best first."""
        return self._score + _OF_CODE * (self.has_code - self.is_declared) + _OF_SENTENCE * self.quote.score

    @property
    def may_say_how(self) -> bool:
        """Whether the passage shows a way and fits, or its sentence is as sure as an answer must be."""
        is_near = self.heading >= _NEAR or self.quote.features.get("letters", 0.0) >= _NEAR
        shows = is_near and (self.has_code or self.is_means)
        return (shows and self._score >= FITS_AT) or self.quote.score >= ANSWER_AT

    @property
    def says_how(self) -> bool:
        """Whether the sentence with all the words names the means, or code stands under such a heading."""
        shows = self.has_code and self.words >= _ALL and self.heading >= _SURE_HEADING
        return shows or (self.is_means and self.says_all)

    @property
    def _score(self) -> float:
        return self.words + _OF_HEADING * self.heading


def find_fits(
    question: str, ranked: Sequence[RankedSentence], sentences: Sequence[Sentence], sources: Sequence[Source]
) -> list[Fit]:
    """Return how well passages fit a question, the best first; those that have nothing to mark are left out.

    Lines of a program do not say how, and a list of changes says what was done, not how.

    Parameters
    ----------
    question : str
        Text of a user.
    ranked : sequence of RankedSentence
        Those with a word of the question, without headings.
    sentences : sequence of Sentence
        All of them, without headings.
    sources : sequence of Source
        Their numbers begin at 1.
    """
    is_way = asks_how(question)
    letters = [_beginnings(f"{source.title}\n{source.text}") for source in sources]
    rarity = rarity_of(_beginnings(question), letters)
    fits = [
        Fit(
            quote=quote,
            words=share_of(own, rarity),
            heading=share_of(_beginnings(source.title), rarity),
            has_code=_CODE.search(source.text) is not None,
            is_means=_names_means(quote.sentence.text, source),
            says_all=quote.score >= SAYS_AT and says_all(question, quote.sentence),
            is_declared=source.type in DECLARED,
        )
        for number, (source, own) in enumerate(zip(sources, letters, strict=True), 1)
        if not (is_way and is_record(source))
        and (quote := _marked(question, number, source, ranked, sentences))
    ]
    return sorted(fits, key=lambda fit: (fit.says_how and is_way, fit.order), reverse=True)


def is_record(source: Source) -> bool:
    """Whether a source has lines of a program or a list of changes, whose words say less than a sentence."""
    return source.type == "python" or _CHANGES.match(PurePosixPath(source.location).name) is not None


def _beginnings(text: str) -> frozenset[str]:
    """Words of a text and of the parts of its names, without what tells ``verify`` from ``verification``."""
    letters = text_letters(_CAMEL.sub(" ", text))
    return frozenset(letter.replace("y", "i")[:_SAME_WORD] for letter in letters)


def _marked(
    question: str,
    number: int,
    source: Source,
    ranked: Sequence[RankedSentence],
    sentences: Sequence[Sentence],
) -> RankedSentence | None:
    """The sentence of a source that says most; of one without a word of the question, what announces code."""
    own = [quote for quote in ranked if quote.sentence.source == number and quote.is_about]
    if asks_how(question) and not own:
        asked, around = read_asked(question), f"{source.title}\n{source.text}"
        near = (one for one in sentences if one.source == number)
        own = [RankedSentence(one, {}) for one in near if is_about(asked, replace(one, around=around))]
    own = [quote for quote in own if can_answer(question, quote.sentence)] or own
    return max(own, key=lambda quote: quote.weighed + _of_means(quote.sentence.text, source), default=None)


def _of_means(sentence: str, source: Source) -> float:
    """One that says how not to do it counts less."""
    is_above = _is_above_code(sentence, source)
    return _OF_MEANS * (_names_means(sentence, source) + is_above - bool(_NO_MEANS.search(sentence)))


def _names_means(sentence: str, source: Source) -> bool:
    is_named = _MEANS.search(sentence) is not None and not _NO_MEANS.search(sentence)
    return is_named or _is_above_code(sentence, source) or _is_command(sentence, source)


def _is_command(sentence: str, source: Source) -> bool:
    """Whether a text of reStructuredText is indented as code is, and no sentence."""
    place = source.text.find(f"\n    {sentence}")
    return source.type == "text" and place >= 0 and sentence[-1] not in ".:!?"


def _is_above_code(sentence: str, source: Source) -> bool:
    end = source.text.find(sentence) + len(sentence)
    return _CODE.match(source.text[end : end + _BELOW].lstrip(":* \n")) is not None
