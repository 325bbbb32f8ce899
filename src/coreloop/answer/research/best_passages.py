"""What sources say to a question, without a model: whole passages, and in each the best sentence."""

import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Final

from coreloop.answer.models.offline import best_quotes, ranked_quotes
from coreloop.answer.models.opposites import opposites_of
from coreloop.answer.models.question_parts import asks_how, asks_yes_or_no, question_parts
from coreloop.answer.models.question_subject import says_all
from coreloop.answer.models.ranking import ANSWER_AT, SAYS_AT, RankedSentence
from coreloop.answer.models.sentences import (
    Sentence,
    is_heading,
    read_sentences,
    split_sentences,
    without_footnotes,
)
from coreloop.answer.repair.tables import Rejected
from coreloop.answer.research.contradictions import contradictions_in
from coreloop.answer.research.findings import Contradiction, SourcedText
from coreloop.answer.research.passage_fit import DECLARED, WORDS_AT, Fit, find_fits, is_record
from coreloop.answer.research.research_state import MarkedPassage, Verdict
from coreloop.answer.search.source import Source

_ENTRY: Final = re.compile(r"[\w.]+ (?:parameter|field) ")  # refund_order parameter reason (str)
_ASKS_ALL: Final = re.compile(
    r"\b(?:arguments|parameters|fields|attributes)\b|인자|매개변수|파라미터|필드", re.IGNORECASE
)
SHOWN: Final = 3
_LEAST_WORDS: Final = 3
"""Of a rejected sentence that is looked for in a longer text, such as one with its heading."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Passages:
    """What sources say to a question.

    Attributes
    ----------
    verdict : str
        Whether the marked sentences say what is asked.
    shown : tuple of MarkedPassage
        At most `SHOWN`, best first; the closest ones if nothing says so.
    quoted : tuple of (str, int)
        The sentences that answer the parts of the question, and the numbers of their sources.
    differing : tuple of Contradiction
        Sentences with different values in the place that is asked for.
    """

    verdict: Verdict = "nothing said so"
    shown: tuple[MarkedPassage, ...] = ()
    quoted: tuple[tuple[str, int], ...] = ()
    differing: tuple[Contradiction, ...] = ()


def find_passages(
    question: str, sources: Sequence[Source], *, rejected: Rejected | None = None, most: int = SHOWN
) -> Passages:
    """Choose the passages that answer a question, and mark them.

    Parameters
    ----------
    question : str
        Text of a user.
    sources : sequence of Source
        Best first; their numbers begin at 1.
    rejected : Rejected or None
        What is never marked, nor shown first.
    most : int
        Passages to show.
    """
    rejected = rejected or Rejected()
    sentences = _sentences(sources)
    best: dict[int, RankedSentence] = {}
    quotes: list[RankedSentence] = []
    scores, differing, closest = [], list[Contradiction](), list[int]()
    # of what says nothing itself, a text shows more than a signature
    nearest = sorted(range(1, len(sources) + 1), key=lambda number: sources[number - 1].type in DECLARED)
    leads = [sentence for sentence in sentences if not is_heading(sentence)]
    for part in question_parts(question):
        ranked = [
            quote
            for quote in _ranked(part, sentences)
            if not is_heading(quote.sentence)
            and not is_rejected(quote.sentence.text, sources[quote.sentence.source - 1], rejected)
            and (not rejected or quote.score < ANSWER_AT or says_all(part, quote.sentence))
        ]
        fits = find_fits(part, ranked, leads, sources)
        if asks_how(part):
            ranked = _prose(ranked, sources)  # a line of a program says what it does itself
            closest += [fit.quote.sentence.source for fit in fits]
            answering, sure = _ways(fits)
        else:
            answering, sure = _sayings(part, ranked, sentences, sources)
            if not answering:
                answering, sure = _near(fits, nearest[:most])
        places = _once([quote.sentence.source for quote in answering], sources)
        answering = [quote for quote in answering if quote.sentence.source in places]
        for quote in (*answering, *ranked):
            if quote.score >= ANSWER_AT or quote in answering:
                best.setdefault(quote.sentence.source, quote)
        pairs = contradictions_in(part, [_sourced(quote.sentence, sources) for quote in best.values()])
        quotes += _current(answering, pairs, best)
        scores.append(sure)
        differing += pairs
    order = [quote.sentence.source for quote in quotes]
    order += [number for pair in differing for said in (pair.b, pair.a) for number in said.sources]
    order += closest
    order += nearest
    return Passages(
        verdict=_verdict(scores),
        shown=tuple(_passage(number, sources, best) for number in _once(order, sources)[:most]),
        quoted=tuple((without_footnotes(quote.sentence.text), quote.sentence.source) for quote in quotes),
        differing=tuple(differing),
    )


def _ways(fits: Sequence[Fit]) -> tuple[Sequence[RankedSentence], float]:
    """Return the sentence of the best passage that shows a way, and how sure it is."""
    best = next((fit for fit in fits if fit.says_how or fit.may_say_how), None)
    if best is None:
        return [], 0.0
    return [best.quote], SAYS_AT if best.says_how else ANSWER_AT


def _sayings(
    question: str, ranked: Sequence[RankedSentence], sentences: Sequence[Sentence], sources: Sequence[Source]
) -> tuple[Sequence[RankedSentence], float]:
    """Return the sentences that say what is asked, and how sure the first is."""
    prose = best_quotes(question, _prose(ranked, sources))
    answering = _listed(question, _surest(prose, best_quotes(question, ranked)), sentences)
    if not answering:
        return [], 0.0
    sure = _sure(question, answering[0])
    is_said = not is_record(sources[answering[0].sentence.source - 1])
    return answering, sure if is_said else min(sure, ANSWER_AT)


def _near(fits: Sequence[Fit], nearest: Collection[int]) -> tuple[Sequence[RankedSentence], float]:
    """Return the sentence of a passage that is shown and has nearly all words of the question."""
    fitting = (fit.quote for fit in fits if fit.words >= WORDS_AT)
    answering = [quote for quote in fitting if quote.sentence.source in nearest][:1]
    return answering, ANSWER_AT if answering else 0.0


def _prose(ranked: Sequence[RankedSentence], sources: Sequence[Source]) -> list[RankedSentence]:
    return [quote for quote in ranked if sources[quote.sentence.source - 1].type != "python"]


def _once(numbers: Iterable[int], sources: Sequence[Source]) -> list[int]:
    """Each place and each text once: a symbol is found by its docstring and by its body."""
    places, texts = set[tuple[str, int]](), set[str]()
    once = []
    for number in dict.fromkeys(numbers):
        source = sources[number - 1]
        place = (source.location, source.line if source.line is not None else -number)
        if place not in places and source.text not in texts:
            once.append(number)
        places.add(place)
        texts.add(source.text)
    return once


def _surest(prose: Sequence[RankedSentence], any_: Sequence[RankedSentence]) -> Sequence[RankedSentence]:
    """Prose before a line of a program, unless only the line is as sure as an answer must be."""
    is_of_code = not prose or (any_[0].score >= SAYS_AT > prose[0].score)
    return any_ if is_of_code else prose


def is_rejected(text: str, source: Source, rejected: Rejected) -> bool:
    """Whether a person rejected a text of a source: the source itself, or a sentence, also in parts."""
    is_old = (
        rejected.until is not None and source.published is not None and source.published <= rejected.until
    )
    if is_old or source.location in rejected.locations:
        return True
    wrong = [f" {_words_of(sentence)} " for sentence in rejected.sentences]
    parts = [f" {_words_of(part)} " for part in split_sentences(text)] if wrong else []
    return any(
        part in sentence or (sentence in part and sentence.count(" ") > _LEAST_WORDS)
        for part in parts
        for sentence in wrong
    )


def _words_of(text: str) -> str:
    return " ".join(re.findall(r"[\w.,%-]*\w", sentence_key(text)))


def sentence_key(text: str) -> str:
    """Return what identifies a sentence wherever it stands: its words on one line."""
    return without_footnotes(text).casefold()


def _ranked(question: str, sentences: Sequence[Sentence]) -> list[RankedSentence]:
    """Rank the sentences; one that says no in other words than ``not`` answers, too."""
    ranked = ranked_quotes(question, sentences)
    if asks_yes_or_no(question):
        for other in opposites_of(question):
            ranked = [
                max(pair, key=lambda quote: quote.score)
                for pair in _pairs(ranked, ranked_quotes(other, sentences))
            ]
    return sorted(ranked, key=lambda quote: (-quote.score, -quote.weighed))


def _listed(
    question: str, answering: Sequence[RankedSentence], sentences: Sequence[Sentence]
) -> tuple[RankedSentence, ...]:
    """Return every line of a docstring's list if a question asks for the list: ``Which arguments has …?``."""
    match = _ENTRY.match(answering[0].sentence.text) if answering else None
    if match is None or not _ASKS_ALL.search(question):
        return tuple(answering)
    best = answering[0]
    own = [
        sentence
        for sentence in sentences
        if sentence.source == best.sentence.source and sentence.text.startswith(match[0])
    ]
    return tuple(replace(best, sentence=sentence) for sentence in own)


def _pairs(
    ranked: Sequence[RankedSentence], others: Sequence[RankedSentence]
) -> Iterator[tuple[RankedSentence, RankedSentence]]:
    known = {quote.sentence: quote for quote in ranked}
    for other in others:
        yield known.pop(other.sentence, other), other
    yield from ((quote, quote) for quote in known.values())


def _sure(question: str, quote: RankedSentence) -> float:
    """The score of a quote; one that lacks a word of the question only may say so."""
    return quote.score if says_all(question, quote.sentence) else min(quote.score, ANSWER_AT)


def _verdict(scores: Sequence[float]) -> Verdict:
    """A question is answered if each of its parts is."""
    if not any(scores):
        return "nothing said so"
    return "says so" if min(scores) >= SAYS_AT else "may say so"


def _current(
    answering: Sequence[RankedSentence], pairs: Sequence[Contradiction], best: dict[int, RankedSentence]
) -> list[RankedSentence]:
    """Put what is newer before what differs from it; what a source calls superseded is quoted by no one."""
    quotes = list(answering)
    for pair in pairs:
        newer, older = (best[said.sources[0]] for said in (pair.b, pair.a))
        if older in quotes and (pair.is_superseded or pair.is_dated):
            quotes = [quote for quote in quotes if quote != newer]
            quotes.insert(quotes.index(older), newer)
            if pair.is_superseded:
                quotes.remove(older)
    return quotes


def _sentences(sources: Sequence[Source]) -> list[Sentence]:
    """Return the sentences of all sources; one that several of them have is the first one's."""
    found: dict[str, Sentence] = {}
    for number, source in enumerate(sources, 1):
        for sentence in read_sentences(number, source.title, source.text, is_code=source.type == "python"):
            found.setdefault(sentence.text, sentence)
    return list(found.values())


def _sourced(sentence: Sentence, sources: Sequence[Source]) -> SourcedText:
    source = sources[sentence.source - 1]
    text = without_footnotes(sentence.text)
    return SourcedText(text, (sentence.source,), source.published, source.title)


def _passage(number: int, sources: Sequence[Source], best: dict[int, RankedSentence]) -> MarkedPassage:
    if number not in best:
        return MarkedPassage(number=number)
    text = best[number].sentence.text
    start = sources[number - 1].text.find(text)
    return MarkedPassage(
        number=number, start=max(0, start), end=max(0, start) + len(text) if start >= 0 else 0
    )
